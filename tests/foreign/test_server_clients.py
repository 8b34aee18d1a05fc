"""Clients of the server that are not in Python: Node and curl, with requests as LibreTranslate documents them."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from extras import require_program
from serving import require_server, served

from dragoman.translator import Translator

require_server()

TEXT = "Where is the station?"
SCRIPT = """
const base = process.argv[2];
const headers = { "Content-Type": "application/json" };
const post = (path, body) => fetch(base + path, { method: "POST", body: JSON.stringify(body), headers });
const ask = async (path, body) => (await post(path, body)).json();
const q = { q: "Where is the station?", source: "auto", target: "de", format: "text", alternatives: 3, api_key: "" };
const parts = { text: "Where is the station? Thank you.", source: "en", target: "de" };
const stream = await post("/v1/translate/stream", parts);
let events = "";
for await (const chunk of stream.body) events += new TextDecoder().decode(chunk);
const form = new FormData();
form.append("file", new Blob(["Where is the station?\\n"]), "text.txt");
form.append("source", "en");
form.append("target", "de");
const { translatedFileUrl } = await (await fetch(base + "/translate_file", { method: "POST", body: form })).json();
console.log(JSON.stringify({
  translated: await ask("/translate", q),
  detected: await ask("/detect", { q: "Wo ist der Bahnhof, und wann fährt der Zug?" }),
  languages: await (await fetch(base + "/languages")).json(),
  events: events.split("\\n").filter((line) => line.startsWith("event: ")),
  file: await (await fetch(translatedFileUrl)).text(),
}));
"""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with served("everyday", "--workers", "1") as (_, address):
        yield address


@pytest.fixture(scope="module")
def german() -> str:
    translator = Translator.load("everyday", device="cpu")
    return str(translator.translate(TEXT, source_lang="en", target_lang="de").text)


def run(*command: str) -> Any:
    require_program(command[0], "nodejs" if command[0] == "node" else command[0])
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_node(address: str, german: str, tmp_path: Path) -> None:
    (script := tmp_path / "client.mjs").write_text(SCRIPT, encoding="utf-8")
    found = run("node", str(script), address)
    assert found["translated"]["translatedText"] == german
    assert found["translated"]["detectedLanguage"]["language"] == "en"
    assert 1 <= len(found["translated"]["alternatives"]) <= 3
    assert found["detected"][0]["language"] == "de"
    assert {each["code"] for each in found["languages"]} == {"en", "de", "fr", "zh"}
    assert found["events"] == ["event: part", "event: part", "event: done"]
    assert found["file"] == f"{german}\n"


def test_curl(address: str, german: str, tmp_path: Path) -> None:
    (file := tmp_path / "text.txt").write_text(f"{TEXT}\n", encoding="utf-8")
    fields = ["-d", f"q={TEXT}", "-d", "source=en", "-d", "target=de"]
    assert run("curl", "-s", *fields, f"{address}/translate") == {"translatedText": german}
    as_json = json.dumps({"q": TEXT, "source": "en", "target": "de"})
    told = ["-H", "Content-Type: application/json", "-d", as_json]
    assert run("curl", "-s", *told, f"{address}/translate") == {"translatedText": german}
    parts = ["-F", f"file=@{file}", "-F", "source=en", "-F", "target=de"]
    assert run("curl", "-s", *parts, f"{address}/translate_file")["translatedFileUrl"].startswith(address)
    query = f"{address}/translate?q=Thank%20you.&source=en&target=de"
    assert "translatedText" in run("curl", "-s", "-X", "POST", query)
