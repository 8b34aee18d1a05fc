"""A server with a translation memory: suggestions are used at once, and survive the end of the server by any means."""

from __future__ import annotations

import json
import signal
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from extras import import_extra
from serving import KEY, client_of, require_server, served, write_many
from tiny import PAIRS

from dragoman.errors import ConfigError
from dragoman.memories import Unit, append_units, export_units, open_units

require_server()

HORSE, REITER = PAIRS[0]
SUGGESTION = {"q": "She is reading.", "s": "Sie liest gerade.", "source": "en", "target": "de"}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_many(tmp_path_factory.mktemp("models") / "many")


def translated(client: Any, text: str, target: str = "de") -> str:
    answer = client.post("/translate", json={"q": text, "source": "en", "target": target})
    assert answer.status_code == 200, answer.text
    found: str = answer.json()["translatedText"]
    return found


def test_a_memory_wins_over_the_model_in_its_direction_only(model: Path, tmp_path: Path) -> None:
    memory = tmp_path / "m.tmx"
    export_units(memory, [Unit(*pair, "en", "de") for pair in PAIRS])
    with client_of(model, memory=(str(memory),)) as client, client_of(model) as plain:
        assert translated(client, f"{HORSE}\n\n  a horse\n{PAIRS[1][0]}").split("\n")[0] == REITER
        assert translated(client, f"{HORSE}\n\n  a horse\n{PAIRS[1][0]}").split("\n")[3] == PAIRS[1][1]
        assert translated(client, "a horse") == translated(plain, "a horse")
        assert translated(client, HORSE, "zh") == translated(plain, HORSE, "zh")
        partly = translated(client, f"a horse. {HORSE}")
        assert partly == f"{translated(plain, 'a horse.')} {REITER}"
        assert client.post("/suggest", json=SUGGESTION).status_code == 403
        body = {"texts": [HORSE, "A man is riding a bike."], "source": "en", "target": "de", "align": True}
        first, second = client.post("/v1/translate", json={**body, "matches": True}).json()["translations"]
        assert first["text"] == REITER
        assert first["lines"][0]["memory"] == [{"score": 1.0, "source": HORSE, "target": REITER, "is_adapted": False}]
        assert first["lines"][0]["alternatives"][0]["alignment"]
        body["texts"] = [f"a horse. {HORSE}"]
        (line,) = client.post("/v1/translate", json=body).json()["translations"][0]["lines"]
        assert [match["source"] for match in line["recalled"]] == [HORSE]
        assert line["alternatives"][0]["alignment"]
        import_extra("rapidfuzz", "memory")
        assert [match["source"] for match in second["lines"][0]["memory"]] == [HORSE]
        many = client.post("/v1/translate", json={**body, "texts": ["\n".join([HORSE] * 101)], "matches": True})
        assert many.status_code == 400
        page = client.post(
            "/translate", json={"q": f"<p><b>{HORSE}</b></p>", "source": "en", "target": "de", "format": "html"}
        )
        assert page.json()["translatedText"] == f"<p><b>{REITER}</b></p>"


def test_a_suggestion_is_used_at_once_and_kept(model: Path, tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    with client_of(model, suggestions=str(path)) as client:
        assert client.get("/frontend/settings").json()["suggestions"] is True
        before = translated(client, SUGGESTION["q"])
        assert before != SUGGESTION["s"]
        assert client.post("/suggest", data=SUGGESTION).json() == {"success": True}
        assert list(open_units(path)) == [Unit(*SUGGESTION.values())]
        assert translated(client, SUGGESTION["q"]) == SUGGESTION["s"]
        assert client.post("/suggest", json={**SUGGESTION, "s": "Sie liest."}).status_code == 200
        assert translated(client, SUGGESTION["q"]) == "Sie liest."
        two = {**SUGGESTION, "q": "one a\ntwo b", "s": "eins\nzwei"}
        assert client.post("/suggest", json=two).status_code == 200
        assert translated(client, "two b\none a") == "zwei\neins"
    with client_of(model, suggestions=str(path)) as client:
        assert translated(client, SUGGESTION["q"]) == "Sie liest."


def test_bad_suggestions_are_refused_and_change_nothing(model: Path, tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    with client_of(model, suggestions=str(path), api_keys=(KEY,), char_limit=50, req_limit=8) as client:
        keyed = {**SUGGESTION, "api_key": KEY}
        assert client.post("/suggest", json=SUGGESTION).status_code == 400
        assert client.post("/suggest", json={**SUGGESTION, "api_key": "another-key"}).status_code == 403
        for name in ("q", "s", "source", "target"):
            assert client.post("/suggest", json={**keyed, name: ""}).status_code == 400
        assert client.post("/suggest", json={**keyed, "target": "fr"}).status_code == 400
        assert client.post("/suggest", json={**keyed, "s": "x" * 51}).status_code == 400
        assert client.post("/suggest", json={**keyed, "s": "one\ntwo"}).status_code == 400
        assert list(open_units(path)) == []
        codes = [client.post("/suggest", json=keyed).status_code for _ in range(5)]
        assert codes[0] == 200
        assert codes[-1] == 429


def test_files_that_cannot_be_used_end_the_start(model: Path, tmp_path: Path) -> None:
    table, other = tmp_path / "m.tsv", tmp_path / "fr.tmx"
    table.write_text("A man is here\tEin Mann ist hier\nTwo men are here\tZwei sind hier\n")
    export_units(other, [Unit("a", "b", "fr", "es")])
    for settings, message in (
        ({"suggestions": str(tmp_path / "s.tmx")}, "cannot take suggestions"),
        ({"suggestions": str(tmp_path / "none" / "s.jsonl")}, "cannot take suggestions"),
        ({"memory": (str(table),)}, "does not say its languages"),
        ({"memory": (str(other),)}, "the units are in fr, es"),
    ):
        with pytest.raises(ConfigError, match=message), client_of(model, **settings):
            pass


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_suggestions_survive_kill_9(model: Path, tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"

    def post(address: str, endpoint: str, **body: str) -> Any:
        content = json.dumps(body).encode()
        request = urllib.request.Request(f"{address}/{endpoint}", content, {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    with served(model, "--workers", "1", "--suggestions", str(path)) as (process, address):
        for number in range(20):
            post(address, "suggest", q=f"text {number}", s=f"Satz {number}", source="en", target="de")
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert [unit.target for unit in open_units(path)] == [f"Satz {number}" for number in range(20)]
    with open(path, "ab") as file:
        file.write(b'{"source": "torn')  # as a crash in the middle of a write leaves it
    with served(model, "--workers", "1", "--suggestions", str(path)) as (_, address):
        assert post(address, "translate", q="text 7", source="en", target="de")["translatedText"] == "Satz 7"
        post(address, "suggest", q="new", s="neu", source="en", target="de")
    assert [unit.target for unit in open_units(path)][-1] == "neu"
    append_units(path, [])
    assert len(list(open_units(path))) == 21
