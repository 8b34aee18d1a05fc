"""Write docs/book/data/choices.json: the table of docs/choices.md, for the chapter on variants to draw.

python docs/book/building/record_choices.py
"""

import json

from chapters import BOOK

TABLE, DATA = BOOK.parent / "choices.md", BOOK / "data" / "choices.json"


def rows() -> list[dict[str, object]]:
    """The rows of the table: what is changed, BLEU, loss, parameters."""
    found = []
    for line in TABLE.read_text(encoding="utf-8").split("\n"):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) >= 4 and cells[1].replace(".", "").isdigit():
            name, bleu, loss, n_parameters = cells[:4]
            record = {"name": name, "bleu": float(bleu), "loss": float(loss)}
            found.append({**record, "n_parameters": int(n_parameters.replace(",", ""))})
    return found


if __name__ == "__main__":
    DATA.write_text(json.dumps(rows(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
