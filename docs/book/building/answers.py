"""Answers under the exercises: each item of a chapter's last list gets its answer from the page of solutions, folded.

So an answer is written, and its cells are run, in one place: `solutions.md`.
"""

import re
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

SUMMARY = {"en": "Answer", "zh_CN": "答案"}
SOLUTIONS = "solutions"
CHAPTER = re.compile(r"(\d\d)-[\w-]+")
NUMBER = re.compile(r"\d+\.")


class FoldedAnswers(SphinxPostTransform):
    """Adds the answers to the exercises of a chapter."""

    default_priority = 1  # before the outputs of cells are chosen, and before references are resolved

    def run(self, **kwargs: Any) -> None:
        """Add them, if the page is a chapter."""
        name = self.env.docname
        chapter = CHAPTER.fullmatch(name)
        if not chapter or SOLUTIONS not in self.env.all_docs:
            return
        number = f"{int(chapter[1])}. "
        sections = self.env.get_doctree(SOLUTIONS).findall(nodes.section)
        solutions = next(each for each in sections if each[0].astext().startswith(number))
        opening = f'<details class="answer"><summary>{SUMMARY[self.config.language]}</summary>\n'
        for item, answer in zip(exercises(self.document), answers(solutions), strict=True):
            for node in answer:
                settle(node, name)
            item += [nodes.raw("", opening, format="html"), *answer, nodes.raw("", "</details>\n", format="html")]


def exercises(document: nodes.document) -> list[nodes.list_item]:
    """Return the items of the numbered lists in the last section of a chapter."""
    last = list(document.findall(nodes.section))[-1]
    lists = [child for child in last.children if isinstance(child, nodes.enumerated_list)]
    return [item for each in lists for item in each.children if isinstance(item, nodes.list_item)]


def answers(section: nodes.section) -> list[list[nodes.Node]]:
    """Return the answers of one chapter's solutions, without their numbers.

    An answer begins with a paragraph that begins with a bold number. What stands before the first belongs to it.
    """
    found: list[list[nodes.Node]] = []
    before: list[nodes.Node] = []
    for child in section.children[1:]:  # after the title
        rest = without_number(child)
        if rest is None:
            (found[-1] if found else before).append(child)
        else:
            found.append([*before, *([rest] if rest.astext() else [])])
            before = []
    return found


def without_number(node: nodes.Node) -> nodes.paragraph | None:
    """Return the rest of a paragraph that begins with a bold number, as in **1.**; None for anything else."""
    if not isinstance(node, nodes.paragraph):
        return None
    parts = [child for child in node.children if child.astext()]
    if not parts or not isinstance(parts[0], nodes.strong) or not NUMBER.fullmatch(parts[0].astext()):
        return None
    rest = nodes.paragraph()
    for child in parts[1:]:
        rest += child.deepcopy()
    if rest.children and isinstance(rest[0], nodes.Text):
        rest[0] = nodes.Text(rest[0].lstrip())
    return rest


def settle(node: nodes.Node, name: str) -> None:
    """Make a part of the solutions one of the page `name`: without anchors, and with links that begin there."""
    for each in node.findall(nodes.Element):
        each["ids"], each["names"] = [], []
        if isinstance(each, addnodes.pending_xref):
            each["refdoc"] = name


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_post_transform(FoldedAnswers)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
