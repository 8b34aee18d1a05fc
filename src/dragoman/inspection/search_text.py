"""A search tree as plain text: a line for each token of the translation, then one for each hypothesis that ended."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from dragoman.errors import printable
from dragoman.inspection.search_tree import SearchTree
from dragoman.inspection.watching import Fate, Node
from dragoman.text.sentence_pieces import SPACE
from dragoman.text.subword import Subword

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
