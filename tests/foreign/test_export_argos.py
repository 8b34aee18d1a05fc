"""Packages for Argos Translate: their content, the rule for sentences, and the program itself without a network."""

import io
import json
import os
import subprocess
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from extras import import_extra
from shapes import settings_in_the_way, shaped_bundle
from tiny import many_tokenizers, tiny_bundle, tiny_tokenizers, write_tiny_bundle

from dragoman import Translator
from dragoman.bundle.bundle import write_bundle
from dragoman.cli import program
from dragoman.errors import ConfigError
from dragoman.exchange.obstacles import argos_obstacles, load_without
from dragoman.text.languages import Languages

import_extra("ctranslate2", "ctranslate2,onnx")
runtime = import_extra("onnxruntime", "ctranslate2,onnx")

from dragoman.exchange.argos_package import ArgosPackage, argos_package  # noqa: E402
from dragoman.exchange.sentence_graph import sentence_graph  # noqa: E402

#: A Python with Argos Translate, whose pins do not fit ours.
ARGOS = os.environ.get("DRAGOMAN_ARGOS", "")
SENTENCES = ["Where is the station?", "Dr. Smith has two dogs.", "I read a book about cats!", "Thank you."]
PROGRAM = """
import socket, sys

def refuse(*arguments, **options):
    raise OSError("the network is off")

socket.socket.connect = socket.create_connection = refuse
from argostranslate import package, translate
package.install_from_path(sys.argv[1])
for line in sys.argv[2:]:
    print(translate.translate(line, "en", "de"))
"""


@pytest.mark.parametrize(
    "sentences",
    [
        SENTENCES,
        ["Is it? Yes!"[:6], "Yes!"],
        ["The price is 3.5 euros."],
        ["J. Smith and Mrs. May met."],
        ["我有两只狗。", "她在看书！", "好"],
        ["Ärger."],
        ["and so on. and on"],
    ],
    ids=" ".join,
)
def test_sentences_end_where_they_should(sentences: list[str]) -> None:
    joined = ("" if sentences[0].endswith("。") else " ").join(sentences)
    model = runtime.InferenceSession(sentence_graph("en"))
    ids = json.loads(model.get_modelmeta().custom_metadata_map["vocab"])["_unit2id"]
    units = [[*(ids.get(character, 1) for character in joined), 0]]
    features = [[[float(character.isupper())] for character in joined] + [[0.0]]]
    (scores,) = model.run(None, {"units": np.array(units), "features": np.array(features, dtype=np.float32)})
    ends = [number for number, label in enumerate(scores.argmax(2)[0].tolist()) if label == 2]
    expected = np.cumsum([len(sentence) for sentence in sentences]) - 1
    gaps = np.arange(len(sentences)) * (0 if sentences[0].endswith("。") else 1)
    inner = (expected + gaps).tolist()
    assert [end for end in ends if end < len(joined) - 1] == inner[:-1]


def packed(model: Path, languages: Languages = (None, None)) -> ArgosPackage:
    return argos_package(model, languages, "float32", (), load_without(model, argos_obstacles, "Argos Translate"))


def test_a_package_has_what_argos_reads(tmp_path: Path) -> None:
    tokenizers = many_tokenizers(reserved=2)
    write_bundle(tmp_path / "many", tiny_bundle(tokenizers))
    package = packed(tmp_path / "many", ("en", "zh"))
    assert package.agreement.n_equal >= 198
    assert package.content == packed(tmp_path / "many", ("en", "zh")).content
    archive = zipfile.ZipFile(io.BytesIO(package.content))
    top = "translate-en_zh/"
    assert {*archive.namelist()} == {
        f"{top}{name}"
        for name in (
            "README.md",
            "metadata.json",
            "minisbd/sentences.onnx",
            "model/config.json",
            "model/model.bin",
            "model/shared_vocabulary.json",
            "sentencepiece.model",
        )
    }
    metadata = json.loads(archive.read(f"{top}metadata.json"))
    assert [metadata[key] for key in ("from_code", "from_name", "to_code", "to_name")] == [
        "en",
        "English",
        "zh",
        "Chinese",
    ]
    config = json.loads(archive.read(f"{top}model/config.json"))
    assert (config["add_source_bos"], config["bos_token"], config["decoder_start_token"]) == (True, ">>zh<<", "<s>")


def test_the_languages_of_a_model_that_does_not_know_them_are_given(tmp_path: Path) -> None:
    tokenizers = replace(tiny_tokenizers(), directions=(("und", "und"),))
    write_bundle(tmp_path / "model", tiny_bundle(tokenizers))
    with pytest.raises(ConfigError, match="give --source-lang and --target-lang"):
        packed(tmp_path / "model")
    package = packed(tmp_path / "model", ("en", "de"))
    assert "translate-en_de/metadata.json" in zipfile.ZipFile(io.BytesIO(package.content)).namelist()


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("characters", ["tokenizer.kind=characters"]),
        ("lowercase", ["tokenizer.lowercase_source=true"]),
        ("two", ["model.memory=layerwise", "tokenizer.joint=false"]),
    ],
)
def test_what_a_package_cannot_hold_is_refused(name: str, settings: list[str], tmp_path: Path) -> None:
    if name == "characters":
        write_tiny_bundle(tmp_path / name, kind="characters")
    elif name == "lowercase":
        write_bundle(tmp_path / name, tiny_bundle(tiny_tokenizers().lowercasing_source()))
    else:
        write_bundle(tmp_path / name, shaped_bundle("two vocabularies", memory="layerwise"))
    with pytest.raises(ConfigError, match="Argos Translate cannot hold this model") as caught:
        packed(tmp_path / name)
    assert settings_in_the_way(caught) == settings


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["-o", "x.zip"], "end its name in .argosmodel"),
        (["-o", "x.argosmodel"], "give --source-lang and --target-lang"),
        (["-o", "x.argosmodel", "--source-lang", "en", "--target-lang", "es"], "does not write 'es'"),
        (["-o", "old.argosmodel"], "the output exists"),
    ],
)
def test_wrong_arguments_are_one_line(
    arguments: list[str], problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("old.argosmodel").write_text("mine")
    assert program.run(["export", "argos", "-m", "everyday", *arguments]) in (1, 2)
    told = capsys.readouterr().err
    assert problem in told
    assert told.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["old.argosmodel"]


@pytest.mark.skipif(not ARGOS, reason="pip install argostranslate elsewhere, and set DRAGOMAN_ARGOS to that Python")
def test_argos_translates_without_a_network(tmp_path: Path) -> None:
    package = tmp_path / "en_de.argosmodel"
    command = ["export", "argos", "-m", "everyday", "--source-lang", "en", "--target-lang", "de", "-o", str(package)]
    assert program.run(command) == 0
    homes = {f"XDG_{kind}_HOME": str(tmp_path / "home") for kind in ("DATA", "CONFIG", "CACHE")}
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [ARGOS, "-c", PROGRAM, package, *SENTENCES, " ".join(SENTENCES)],
        env=kept | homes,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    ours = [each.text for each in Translator.load("everyday").translate(SENTENCES, source_lang="en", target_lang="de")]
    *lines, text = done.stdout.splitlines()
    assert lines == ours
    assert text == " ".join(ours)
