"""Write choices.json and seeds.json in docs/book/data: the tables of docs/choices.md, for the chapter on variants.

python docs/book/building/record_choices.py
"""

import json
from collections.abc import Iterator

from chapters import BOOK

PAGE, DATA = BOOK.parent / "choices.md", BOOK / "data"


def rows() -> list[dict[str, object]]:
    """Return the rows of the first table: what is changed, BLEU, loss, parameters."""
    return [
        {"name": name, "bleu": float(bleu), "loss": float(loss), "n_parameters": int(n_parameters.replace(",", ""))}
        for name, bleu, loss, n_parameters, _ in _table(n_columns=5)
    ]


def seeds() -> list[dict[str, object]]:
    """Return the rows of the table of three seeds: what is changed, mean BLEU and its standard deviation."""
    found = []
    for name, bleu, _ in _table(n_columns=3):
        mean, _, deviation = bleu.partition(" ± ")
        found.append({"name": name, "bleu": float(mean), "deviation": float(deviation)})
    return found


def _table(n_columns: int) -> Iterator[list[str]]:
    """Yield the cells of each row that has a BLEU, of the tables with so many columns."""
    for line in PAGE.read_text(encoding="utf-8").split("\n"):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) == n_columns and cells[1][:1].isdigit():
            yield cells


if __name__ == "__main__":
    for name, records in (("choices", rows()), ("seeds", seeds())):
        text = json.dumps(records, indent=1, ensure_ascii=False) + "\n"
        (DATA / f"{name}.json").write_text(text, encoding="utf-8")
