"""The tree of a search: all hypotheses with their fates, and the rivals of each token; and it as plain text."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

from dragoman.decoding.search import search
from dragoman.errors import printable
from dragoman.inspection.inputs import read_source
from dragoman.inspection.watching import Fate, Node, WatchedScorer
from dragoman.settings.search_config import SearchConfig
from dragoman.settings.sections import parse_section
from dragoman.text.sentence_pieces import SPACE
from dragoman.text.subword import Subword
from dragoman.text.tokenizer import Tokenizer
from dragoman.translator import Translator
from dragoman.translator.options import LanguageOptions
from dragoman.translator.padding import pad_sources
from dragoman.translator.searching import decoded_text

#: Tokens recorded at each position: the one written and its nearest rivals.
N_NEAREST = 9


@dataclass(frozen=True)
class SearchTree:
    """All hypotheses of a search for one translation."""

    source_text: str
    target_text: str
    root: Node
    #: The end of the translation that was chosen.
    best: Node
    beam_size: int
    #: The exponent of the length penalty, by which the sum of log-probabilities is divided.
    length_penalty: float
    tokenizer: Tokenizer

    def nodes(self) -> Iterator[Node]:
        """Yield every hypothesis, the shorter first; of equally long ones the more probable first."""
        level = self.root.children
        while level:
            level = sorted(level, key=lambda node: -node.total)
            yield from level
            level = [child for node in level for child in node.children]

    def token(self, id: int) -> str:
        """Return a token as the tokenizer writes it."""
        return printable(self.tokenizer.pieces([id])[0])

    def score(self, node: Node) -> float | None:
        """Return the score of an ended hypothesis."""
        return node.score(self.length_penalty) if node.fate in ("finished", "cut") else None

    def to_dict(self) -> dict[str, Any]:
        """Return everything for JSON: a list of nodes, each with the index of its parent (-1 for the first tokens)."""
        nodes = list(self.nodes())
        numbers = {id(node): number for number, node in enumerate(nodes)}
        on_best_path = {id(node) for node in self.best.path}
        return {
            "source_text": self.source_text,
            "target_text": self.target_text,
            "beam_size": self.beam_size,
            "length_penalty": self.length_penalty,
            "nodes": [
                {
                    "parent": numbers.get(id(node.parent), -1),
                    "token": self.token(node.id),
                    "length": node.length,
                    "log_prob": node.log_prob,
                    "total": node.total,
                    "score": self.score(node),
                    "fate": node.fate,
                    "best": id(node) in on_best_path,
                    "rivals": [
                        {"token": self.token(id_), "probability": probability} for id_, probability in node.rivals
                    ],
                }
                for node in nodes
            ],
        }


def inspect_search(
    translator: Translator, source: str, beam_size: int | None = None, **languages: Unpack[LanguageOptions]
) -> SearchTree:
    """Search for the translation of a sentence with the search of `translator`, and return the tree of the search.

    Args:
        beam_size: in place of the translator's; 1 is greedy search.
        languages: see `Request`.

    Raises:
        ConfigError: the beam size is out of range.
        DataError: the text is empty or longer than the model reads.
    """
    changes = {"n_best": 1, "sample": False} | ({} if beam_size is None else {"beam_size": beam_size})
    config = parse_section(SearchConfig, {**translator.search.model_dump(), **changes})
    read = read_source(translator, source, languages)
    prefixes = [read.start_ids] if read.start_ids else None
    watched = WatchedScorer(translator.scorer, config, N_NEAREST, prefixes)
    sources = pad_sources([read.ids], watched.special_ids.source)
    ((hypothesis,),) = search(watched, sources, config, prefixes=prefixes)
    ids = [*hypothesis.ids, watched.special_ids.target.end] if hypothesis.finished else list(hypothesis.ids)
    node = watched.root
    for id in ids:
        node = next(child for child in node.children if child.id == id)
    return SearchTree(
        source_text=read.text,
        target_text=decoded_text(translator.tokenizers.target, hypothesis.ids),
        root=watched.root,
        best=node,
        beam_size=config.beam_size,
        length_penalty=config.length_penalty,
        tokenizer=translator.tokenizers.target,
    )


#: Rivals shown of each token, and tokens shown before a fork.
N_RIVALS, N_BEFORE = 4, 3
MEANING: dict[Fate, str] = {
    "finished": "wrote the end mark",
    "cut": "had no room for more, or no token was allowed to follow",
    "overtaken": "had no continuation among the best",
    "hopeless": "could not have become the best any more",
}


def search_text(tree: SearchTree) -> str:
    """Return the tree for a terminal, a file or a pipe."""
    result = f"score {tree.best.score(tree.length_penalty):.3f}, log-probability {tree.best.total:.3f}"
    head = [tree.source_text, f"{tree.target_text}  ({result}, beam {tree.beam_size})"]
    lines = [*head, "", *_tokens(tree), "", *_hypotheses(tree), "", *_legend(tree)]
    return "\n".join(printable(line).rstrip() for line in lines)


def _tokens(tree: SearchTree) -> Iterator[str]:
    path = tree.best.path
    width = max((len(tree.token(node.id)) for node in path), default=0)
    yield f"{'probability':>11}  {'token':{width}}  nearest rivals"
    for node in path:
        rivals = "  ".join(f"{tree.token(id)} {probability:.3f}" for id, probability in node.rivals[:N_RIVALS])
        yield f"{math.exp(node.log_prob):>11.3f}  {tree.token(node.id):{width}}  {rivals}"


def _hypotheses(tree: SearchTree) -> Iterator[str]:
    yield f"{'sum':>8}  {'score':>8}  {'fate':9}  hypothesis; after > it leaves the one above it"
    ranks = _ranks(tree)

    def branch(start: Node, origin: str, lead: str, below: str) -> Iterator[str]:
        """Yield the best hypothesis from `start` on, and below it the others, at the token where they leave it."""
        line = [start]
        while line[-1].children:
            line.append(max(line[-1].children, key=ranks.__getitem__))
        end = line[-1]
        score, fate = tree.score(end), "best" if tree.best in line else end.fate
        numbers = f"{end.total:>8.3f}  {'' if score is None else f'{score:.3f}':>8}  {fate:9}"
        yield f"{numbers}  {lead}{origin}{_text(tree, line)}"
        forks = [(node, child) for node in line for child in node.children if child not in line]
        for number, (node, child) in enumerate(forks, 1):
            guide, space = ("└─ ", "   ") if number == len(forks) else ("├─ ", "│  ")
            before = node.path
            dots = "... " if len(before) > N_BEFORE else ""
            shared = f"{dots}{_text(tree, before[-N_BEFORE:])}" if before else "(start)"
            yield from branch(child, f"{shared} > ", below + guide, below + space)

    yield from branch(tree.root, "", "", "")


def _ranks(tree: SearchTree) -> dict[Node, tuple[bool, bool, float, float]]:
    """Rank each node by the best ending below it: the chosen one, else the best score, else the longest."""
    ranks: dict[Node, tuple[bool, bool, float, float]] = {}
    for node in [*reversed(list(tree.nodes())), tree.root]:
        score = tree.score(node)
        own = (node is tree.best, score is not None, score or node.length, node.total)
        endings = [own] if node is tree.best or not node.children else []  # a max_length may end the best before others
        ranks[node] = max([*endings, *(ranks[child] for child in node.children)])
    return ranks


def _text(tree: SearchTree, nodes: Sequence[Node]) -> str:
    """Return tokens as running text, special ones by name."""
    tokens = [tree.token(node.id) for node in nodes if node.parent is not None]
    if not isinstance(tree.tokenizer, Subword):
        return " ".join(tokens)
    special = tree.tokenizer.special_ids.names.values()
    return "".join(f" {token}" if token in special else token for token in tokens).replace(SPACE, " ").strip()


def _legend(tree: SearchTree) -> Iterator[str]:
    """Yield the number of hypotheses of each fate, and its meaning."""
    counts = Counter(node.fate for node in tree.nodes())
    for fate, meaning in MEANING.items():
        if counts[fate]:
            yield f"{counts[fate]:>4} {fate:9}  {meaning}"
