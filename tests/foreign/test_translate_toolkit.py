"""XLIFF and TMX that we write, read by another program, the Translate Toolkit; and its TBX, read by us."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from document_samples import BILINGUAL
from extras import import_foreign
from test_bilingual_documents import changed, opened

from dragoman.data.term_files import read_terms

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


@pytest.mark.parametrize("number", range(N_FILES))
def test_a_term_base_of_the_toolkit_is_read(number: int, tmp_path: Path) -> None:
    from translate.storage.tbx import tbxfile

    draw = random.Random(number)
    words = [f"{name}{index}" for index, name in enumerate(["flu", "a & b", "<x>", "vaccin d'été", "抗体"] * 3)]
    pairs = dict(zip(draw.sample(words, 9), draw.sample(words, 9), strict=True))
    base = tbxfile()
    base.setsourcelanguage("en")
    base.settargetlanguage("fr")
    for source, target in pairs.items():
        base.addsourceunit(source).target = target
    (tmp_path / "terms.tbx").write_bytes(bytes(base))
    read = {unit.source: unit.target for unit in tbxfile.parsestring(bytes(base)).units}
    assert read == pairs
    assert {term.source: term.targets[0] for term in read_terms(tmp_path / "terms.tbx")} == pairs
