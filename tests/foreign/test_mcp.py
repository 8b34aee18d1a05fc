"""`dragoman mcp` with the client of the protocol's own Python package, and the shipped model."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from extras import import_extra
from serving import SOURCE_FOLDER, require_server

from dragoman import Translator

require_server()
mcp = import_extra("mcp", "mcp")
stdio = import_extra("mcp.client.stdio", "mcp")

ENVIRONMENT = {**os.environ, "PYTHONPATH": f"{SOURCE_FOLDER}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
PROGRAM = [sys.executable, "-c", "from dragoman.cli import main; main()"]
#: As the settings of an assistant have it, in the guide.
SETTINGS = re.search(r"^\{.*mcpServers.*\}$", (SOURCE_FOLDER.parent / "docs/guide/serve.md").read_text("utf-8"), re.M)
SENTENCES = ["Where is the station?", "The meeting is at 10:30."]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_that_has_the_settings_of_the_guide_calls_the_tools(mode: str, tmp_path: Path) -> None:
    assert SETTINGS is not None
    settings = json.loads(SETTINGS[0])["mcpServers"]["dragoman"]
    assert settings["command"] == "dragoman"
    command, *arguments = [*PROGRAM, *settings["args"]]
    environment = ENVIRONMENT | {"DRAGOMAN_MODELS": str(tmp_path)}  # none that were fetched

    async def talk() -> tuple[list[Any], list[Any]]:
        server = stdio.StdioServerParameters(command=command, args=arguments, env=environment)
        with open(tmp_path / "log", "w") as log:
            async with mcp.Client(stdio.stdio_client(server, log), mode=mode) as client:
                assert client.server_info.name == "dragoman"
                tools = (await client.list_tools()).tools
                calls = [
                    ("translate", {"text": SENTENCES, "source": "en", "target": "de"}),
                    ("translate", {"text": SENTENCES[0], "target": "zh", "source": None}),
                    (
                        "translate",
                        {"text": "Your ticket is not valid.", "target": "de", "terms": {"ticket": "Billett"}},
                    ),
                    ("detect", {"text": "Wo ist der nächste Bahnhof?"}),
                    ("languages", {}),
                    ("translate", {"text": "Hello", "target": "xx"}),
                ]
                return tools, [await client.call_tool(*call) for call in calls]

    tools, answers = asyncio.run(talk())
    assert [tool.name for tool in tools] == ["translate", "detect", "languages"]
    assert all(tool.description and tool.input_schema["type"] == "object" for tool in tools)
    for answer in answers[:-1]:
        assert not answer.is_error
        assert json.loads(answer.content[0].text) == answer.structured_content
    many, one, with_term, detected, languages = (answer.structured_content for answer in answers[:-1])
    translator = Translator.load("everyday")
    german = [each.text for each in translator.translate(SENTENCES, source_lang="en", target_lang="de")]
    assert [each["translation"] for each in many["translations"]] == german
    chinese = translator.translate(SENTENCES[0], source_lang="en", target_lang="zh").text
    assert (one["translations"][0]["source"], one["translations"][0]["translation"]) == ("en", chinese)
    assert "Billett" in with_term["translations"][0]["translation"]
    assert detected["languages"][0]["language"] == "de"
    assert languages["languages"]["zh"] == "Chinese"
    assert answers[-1].is_error
    assert answers[-1].content[0].text == "no model has the language 'xx'; use en, de, fr, zh"
    assert (tmp_path / "log").read_text() == ""


def messages_of(texts: str | list[str]) -> list[dict[str, Any]]:
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    translate = {"name": "translate", "arguments": {"text": texts, "target": "de"}}
    return [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": translate},
    ]


@pytest.mark.parametrize("cancelled", [None, 2, [2]])
def test_who_closes_standard_input_at_once_gets_all_answers(cancelled: Any) -> None:
    is_cancelled = cancelled == 2
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": cancelled}}
    sent = "\n".join(map(json.dumps, messages_of(SENTENCES) + [cancel] * (cancelled is not None)))
    command = [*PROGRAM, "mcp", "-m", "everyday"]
    done = subprocess.run(command, env=ENVIRONMENT, input=sent, capture_output=True, text=True, timeout=60)
    results = {answer["id"]: "result" in answer for answer in map(json.loads, done.stdout.splitlines())}
    malformed = "dropped 'notifications/cancelled': malformed params\n"  # the package's own line
    assert (done.stderr, done.returncode) == (malformed if cancelled == [2] else "", 0)
    assert results == {1: True, 2: True} or (is_cancelled and results == {1: True})


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_an_error_of_one_line() -> None:
    command = [*PROGRAM, "mcp", "-m", "everyday"]
    sent = "\n".join(map(json.dumps, messages_of("Hello.")))
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, env=ENVIRONMENT, input=sent, stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (5, "error: No space left on device: standard output; free some space\n")


@pytest.mark.parametrize(
    "ending", ["end of input", pytest.param("SIGTERM", marks=pytest.mark.skipif(os.name == "nt", reason="signals"))]
)
def test_standard_output_has_the_protocol_alone_and_the_server_ends(ending: str) -> None:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    command = [*PROGRAM, "mcp", "-m", "everyday"]
    with subprocess.Popen(command, env=ENVIRONMENT, text=True, encoding="utf-8", **pipes) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        for message in messages_of(SENTENCES[0]):
            print(json.dumps(message), file=server.stdin, flush=True)
        answers = [json.loads(server.stdout.readline()) for _ in (1, 2)]
        if ending == "SIGTERM":
            server.send_signal(signal.SIGTERM)
        rest, told = server.communicate(timeout=60)
    assert [(answer["id"], "error" in answer) for answer in answers] == [(1, False), (2, False)]
    assert (rest, told, server.returncode) == ("", "", -signal.SIGTERM if ending == "SIGTERM" else 0)
