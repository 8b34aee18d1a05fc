"""The tree of a search: all hypotheses with their fates, and the rivals of each token."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dragoman.decoding.search import search
from dragoman.errors import printable
from dragoman.inspection.inputs import source_ids
from dragoman.inspection.watching import Node, WatchedScorer
from dragoman.settings.search_config import SearchConfig
from dragoman.settings.sections import parse_section
from dragoman.text.cleaning import sanitize
from dragoman.text.tokenizer import Tokenizer
from dragoman.translator import Translator
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


def inspect_search(translator: Translator, source: str, beam_size: int | None = None) -> SearchTree:
    """Search for the translation of a sentence with the search of `translator`, and return the tree of the search.

    Args:
        beam_size: in place of the translator's; 1 is greedy search.

    Raises:
        ConfigError: the beam size is out of range.
        DataError: the text is empty or longer than the model reads.
    """
    changes = {"n_best": 1, "sample": False} | ({} if beam_size is None else {"beam_size": beam_size})
    config = parse_section(SearchConfig, {**translator.search.model_dump(), **changes})
    watched = WatchedScorer(translator.scorer, config, N_NEAREST)
    sources = pad_sources([source_ids(translator, source)], watched.special_ids.source)
    ((hypothesis,),) = search(watched, sources, config)
    ids = [*hypothesis.ids, watched.special_ids.target.end] if hypothesis.finished else list(hypothesis.ids)
    node = watched.root
    for id in ids:
        node = next(child for child in node.children if child.id == id)
    return SearchTree(
        source_text=sanitize(source),
        target_text=decoded_text(translator.tokenizers.target, hypothesis.ids),
        root=watched.root,
        best=node,
        beam_size=config.beam_size,
        length_penalty=config.length_penalty,
        tokenizer=translator.tokenizers.target,
    )
