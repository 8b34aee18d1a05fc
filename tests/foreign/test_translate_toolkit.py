"""XLIFF and TMX that we write, read by another program: the Translate Toolkit."""

from __future__ import annotations

import random
from typing import Any

import pytest
from document_samples import BILINGUAL
from extras import import_foreign
from test_bilingual_documents import changed, opened

xliff = import_foreign("translate.storage.xliff", "translate-toolkit")
N_FILES = 30


def translated(content: bytes, format: str) -> bytes:
    document = opened(content, format)
    return document.rebuild([*map(changed, document.segments())], "de")


def units_of(content: bytes, kind: str) -> list[Any]:
    from translate.storage.xliff2 import Xliff2File

    parser = xliff.xlifffile if kind == "xliff 1.2" else Xliff2File
    return [unit for unit in parser.parsestring(content).units if not unit.isheader()]


@pytest.mark.parametrize("kind", ["xliff 1.2", "xliff 2"])
@pytest.mark.parametrize("number", range(N_FILES))
def test_units_targets_and_states_are_read(kind: str, number: int) -> None:
    format, make = BILINGUAL[kind]
    content = make(random.Random(number)).encode()
    before = units_of(content, kind)
    after = units_of(translated(content, format), kind)
    assert len(before) == len(after) > 0
    for old, new in zip(before, after, strict=True):
        assert str(new.source) == str(old.source)
        target = str(new.target or "")
        if "Zusatz" in target:
            is_first = kind == "xliff 1.2"  # where the Toolkit counts a unit as translated when a person approves it
            assert new.get_state_id() == new.S_TRANSLATED if is_first else new.istranslated()
        else:
            assert target == str(old.target or "") or not any(map(str.isalpha, str(new.source)))


@pytest.mark.parametrize("number", range(N_FILES))
def test_a_memory_has_its_units_and_their_translations(number: int) -> None:
    from translate.storage.tmx import tmxfile

    content = BILINGUAL["tmx"][1](random.Random(number)).encode()
    result = translated(content, "tmx")
    before, after = (tmxfile.parsestring(one).units for one in (content, result))
    assert len(before) == len(after) > 0
    for unit in after:
        codes = [node.get("{http://www.w3.org/XML/1998/namespace}lang") for node in unit.getlanguageNodes()]
        assert sum(code in ("de", "de-AT") for code in codes) == 1
