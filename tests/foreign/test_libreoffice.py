"""LibreOffice reads files by code of its own: it shows the translation of each text, in its direction."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from string import ascii_lowercase
from xml.etree import ElementTree

import pytest
from extras import require_program
from office_files import changed, letter, open_text, slides, workbook

#: The format of OpenDocument in one file that LibreOffice writes for each format.
FILES = {"docx": (letter, "fodt"), "pptx": (slides, "fodp"), "odt": (open_text, "fodt"), "xlsx": (workbook, "fods")}
#: Texts that stay in the workbook.
KEPT = {"PRODUCT", "TEXT", "COUNT", "yes", "A-300"}
ARABIC = str.maketrans(dict(zip(ascii_lowercase, "ابجدهوزحطيكلمنسعفصقرشتثخذض", strict=True)))
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"


def read(contents: Sequence[bytes], format: str, folder: Path) -> list[str]:
    """Files as LibreOffice reads them."""
    program = require_program("soffice", "libreoffice-writer libreoffice-impress libreoffice-calc")
    _, kind = FILES[format]
    for number, content in enumerate(contents):
        (folder / f"{number}.{format}").write_bytes(content)
    names = [f"{number}.{format}" for number in range(len(contents))]
    command = [program, f"-env:UserInstallation=file://{folder}/profile", "--headless", "--convert-to", kind, *names]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=120)
    return [(folder / name).with_suffix(f".{kind}").read_text() for name in names]


def texts(flat: str) -> list[str]:
    """Its paragraphs with text, without white space, in order."""
    body = ElementTree.fromstring(flat).find(f"{_OFFICE}body")
    assert body is not None
    found = (one for one in body.iter() if one.tag in (f"{_TEXT}p", f"{_TEXT}h"))
    return [text for one in found if (text := "".join("".join(one.itertext()).split()))]


def in_arabic_letters(text: str) -> str:
    """A text with Arabic letters in place of others, except in tags and in what stays in the workbook."""
    parts = re.split(r"(<[^<>]*>)", text)
    return "".join(
        part if number % 2 or part in KEPT else part.lower().translate(ARABIC) for number, part in enumerate(parts)
    )


@pytest.mark.parametrize("format", FILES)
def test_libreoffice_reads_each_text_in_another_script(format: str, tmp_path: Path) -> None:
    make, _ = FILES[format]
    content = make()
    before, after = read([content, changed(content, format, "ar", in_arabic_letters)], format, tmp_path)
    assert texts(after) == [in_arabic_letters(text) for text in texts(before)]
    assert ['style:writing-mode="rl-tb"' in one for one in (before, after)] == [False, True]
