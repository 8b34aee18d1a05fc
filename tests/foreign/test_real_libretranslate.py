"""The same questions to LibreTranslate, without a network, and to our server: equal answers, or a known reason."""

import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from extras import import_extra
from libretranslate_questions import ALTERNATIVES, BATCH, CHARACTERS, QUESTIONS
from serving import client_of, require_server

from dragoman.bundle.bundle import load_bundle, write_bundle

require_server()
import_extra("ctranslate2", "ctranslate2,onnx")
import_extra("onnx", "ctranslate2,onnx")

from dragoman.exchange.argos_package import argos_package  # noqa: E402

#: A Python with libretranslate 1.9, whose pins do not fit ours.
LIBRETRANSLATE = os.environ.get("DRAGOMAN_LIBRETRANSLATE", "")
INSTALL = "pip install libretranslate elsewhere, and set DRAGOMAN_LIBRETRANSLATE to that Python"
#: French is only a target, so that some ways do not exist.
DIRECTIONS = (("en", "de"), ("de", "en"), ("en", "fr"))
PROGRAM = """
import base64, json, socket, sys

def refuse(*arguments, **options):
    raise OSError("the network is off")

socket.socket.connect = socket.create_connection = refuse
from argostranslate import package
questions, options, *packages = sys.argv[1:]
for path in packages:
    package.install_from_path(path)
from libretranslate.app import create_app
from libretranslate.main import get_parser

client = create_app(get_parser().parse_args(json.loads(options))).test_client()
answers = []
for question in json.load(open(questions)):
    headers = {"Content-Type": question["content_type"]} if question["content_type"] else {}
    body = base64.b64decode(question["body"])
    try:
        answer = client.open(question["path"], method=question["method"], data=body, headers=headers)
    except Exception as error:  # a server sends a page that says no more
        answers.append([500, repr(error), None])
        continue
    cross_origin = answer.headers.get("Access-Control-Allow-Origin")
    answers.append([answer.status_code, answer.get_json(silent=True), cross_origin])
print(json.dumps(answers))
"""


#: The questions that we answer in another way, by the reason; docs/guide/serve.md has them too.
DIFFERENT = {
    "LibreTranslate fails": (
        "alternatives, words",
        "alternatives, empty",
        "alternatives, null",
        "alternatives, a list",
        "q a number",
        "q a list of numbers",
        "q an object",
        "q true",
        "download what is not there",
    ),
    "LibreTranslate tells a broken request in general terms": (
        "half a body",
        "no body",
        "bytes that are no text",
        "no file",
        "no file in a form",
    ),
    "LibreTranslate answers with a page for people": (
        "translate by GET",
        "translate by PUT",
        "detect by GET",
        "languages by POST",
        "no such path",
    ),
    "a region, and several texts in a form": ("a language with a region", "form, two texts"),
    "a number is no text": ("detect, a number",),
    "we name the kinds of files": ("file of another kind",),
}
#: Those of them whose status is another one, where LibreTranslate does not fail.
OTHER_STATUS = ("a language with a region", "detect, a number")


class Answer(NamedTuple):
    """What a client sees of an answer."""

    status: int
    value: Any
    cross_origin: str | None

    @property
    def shape(self) -> object:
        """Status, form of the JSON with errors word for word, and if pages of other sites may read it."""
        return self.status, shape_of(self.value), self.cross_origin


def shape_of(value: Any, name: str = "") -> object:
    """Names with the kinds of their values. Lists of texts may have other lengths, except one of translations."""
    if name == "error":
        return value
    if isinstance(value, dict):
        return {key: shape_of(value[key], key) for key in sorted(value)}
    if isinstance(value, list):
        kinds = [shape_of(item) for item in value]
        return kinds if name == "translatedText" or "str" not in kinds else ["str"]
    return "number" if type(value) in (int, float) else type(value).__name__


def ask_libretranslate(questions: Path, packages: Sequence[Path], folder: Path) -> list[Answer]:
    """Ask LibreTranslate, whose files go to a folder of the test."""
    homes = {f"XDG_{kind}_HOME": str(folder / "home") for kind in ("DATA", "CONFIG", "CACHE")}
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    options = [f"--char-limit={CHARACTERS}", f"--batch-limit={BATCH}", f"--alternatives-limit={ALTERNATIVES}"]
    done = subprocess.run(
        [LIBRETRANSLATE, "-c", PROGRAM, questions, json.dumps(options), *packages],
        cwd=folder,
        env=kept | homes,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return [Answer(*answer) for answer in json.loads(done.stdout.splitlines()[-1])]


def ask_us(model: Path) -> list[Answer]:
    answers = []
    limits = {"char_limit": CHARACTERS, "batch_limit": BATCH, "alternatives_limit": ALTERNATIVES}
    with client_of(model, **limits) as client:
        for question in QUESTIONS:
            headers = {"content-type": question.content_type} if question.content_type else {}
            answer = client.request(question.method, question.path, content=question.body, headers=headers)
            is_json = answer.headers.get("content-type", "").startswith("application/json")
            value = answer.json() if is_json else None
            answers.append(Answer(answer.status_code, value, answer.headers.get("access-control-allow-origin")))
    return answers


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Answer, Answer]]:
    """The answer of LibreTranslate and ours to each question."""
    folder = tmp_path_factory.mktemp("servers")
    everyday = load_bundle("everyday")
    write_bundle(folder / "model", replace(everyday, tokenizers=replace(everyday.tokenizers, directions=DIRECTIONS)))
    packages = []
    for direction in DIRECTIONS:
        packages.append(folder / f"{'-'.join(direction)}.argosmodel")
        packages[-1].write_bytes(argos_package("everyday", direction, "float32", ["Thank you."], everyday).content)
    questions = folder / "questions.json"
    questions.write_text(json.dumps([question.to_json() for question in QUESTIONS]))
    theirs = ask_libretranslate(questions, packages, folder)
    names = [question.name for question in QUESTIONS]
    return dict(zip(names, zip(theirs, ask_us(folder / "model"), strict=True), strict=True))


def test_there_are_a_hundred_questions() -> None:
    assert len({question.name for question in QUESTIONS}) == len(QUESTIONS) >= 100


@pytest.mark.skipif(not LIBRETRANSLATE, reason=INSTALL)
def test_answers_are_equal_except_those_that_the_guide_lists(answers: dict[str, tuple[Answer, Answer]]) -> None:
    others = {name for name, (theirs, ours) in answers.items() if theirs.shape != ours.shape}
    assert others == {name for names in DIFFERENT.values() for name in names}
    for name in others:
        theirs, ours = answers[name]
        assert ours.status < 500
        assert theirs.status in (ours.status, 500) or name in OTHER_STATUS
