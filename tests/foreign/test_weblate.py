"""Weblate's own connectors to LibreTranslate, DeepL and Apertium, against our server."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from serving import require_server, served

from dragoman.translator import Translator

require_server()

#: A Python with weblate 5.14, whose pins do not fit ours.
WEBLATE = os.environ.get("DRAGOMAN_WEBLATE", "")
PROGRAM = Path(__file__).with_name("weblate_program.py")
FIELD = re.compile(r"%(?:\(\w+\))?[sd]")


@pytest.mark.skipif(not WEBLATE, reason="pip install weblate elsewhere, and set DRAGOMAN_WEBLATE to that Python")
def test_weblate_shows_our_translations_with_its_placeholders() -> None:
    with served("everyday", "--workers", "1") as (_, address):
        done = subprocess.run([WEBLATE, str(PROGRAM), address], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    answers = json.loads(done.stdout)
    german = Translator.load("everyday", device="cpu").translate(
        "Where is the station?", source_lang="en", target_lang="de"
    )
    fields = [["%s", "%d"], ["%(project)s", "%(user)s"], ["%s", "%s"], [], ["%d"]]
    for name in ("LibreTranslate", "DeepL", "Apertium APy"):
        single = answers[name]["single"]
        assert [text for (text,) in single["de"]] == [text for (text,) in single["de_AT"]] == answers[name]["batch"]
        assert single["it"] == []
        for code in ("de", "zh_Hans"):
            (first,), *others = single[code]
            assert code != "de" or first == german.text
            assert [sorted(FIELD.findall(text)) for (text,) in others] == [sorted(each) for each in fields], others
            assert not any(re.search(r"\[X|X\]|<x", text) for (text,) in others)
    assert "Haltestelle" in answers["glossary"]
    assert "Bahnsteig" in answers["other glossary"]
    assert answers["names"][0] != answers["names"][1]
