"""Strings of apps that we write, read by another program, the Translate Toolkit: the same keys, the new texts."""

from __future__ import annotations

import importlib
from codecs import BOM_UTF8

import pytest
from app_samples import FILES, app_file
from extras import import_foreign

from dragoman.documents import parse_document
from dragoman.translator import Translation

import_foreign("translate.storage.base", "translate-toolkit")
READERS = {
    "xml": "aresource:AndroidResourceFile",
    "resx": "resx:RESXFile",
    "properties": "properties:javafile",
    "strings": "properties:stringsfile",
    "arb": "jsonl10n:ARBJsonFile",
    "json": "jsonl10n:I18NextV4File",
    "ftl": "fluent:FluentFile",
    "ts": "ts2:tsfile",
}


@pytest.mark.parametrize("format", FILES)
@pytest.mark.parametrize("number", range(6))
def test_the_same_keys_have_new_texts(format: str, number: int) -> None:
    if format == "ftl":
        import_foreign("fluent.syntax", "fluent.syntax")
    module, _, kind = READERS[format].partition(":")
    kind = "stringsutf8file" if format == "strings" and number % 2 == 0 else kind
    reader = getattr(importlib.import_module(f"translate.storage.{module}"), kind)
    content = app_file(format, number)
    if format == "strings":
        content = FILES[format].encode("utf-16" if number % 2 else "utf-8")
    elif format == "ftl":
        content = content.removeprefix(BOM_UTF8)  # the reader of Fluent knows none
    document = parse_document(content, format)
    written = document.rebuild([Translation(f"Zusatz {one.text}", 0.0, ()) for one in document.segments()], "de")
    before, after = (
        [unit for unit in reader.parsestring(one).units if not unit.isheader()] for one in (content, written)
    )
    assert [unit.getid() for unit in before] == [unit.getid() for unit in after]
    assert "Zusatz" in "".join(str(unit.target or unit.source) for unit in after)
