"""The models that come with the package: small, described, sound, and in the wheel."""

from __future__ import annotations

import runpy
import tomllib
from pathlib import Path

import pytest

from dragoman import Translator
from dragoman.bundle.bundle import load_bundle
from dragoman.bundle.finding import PRETRAINED, shipped_models

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "dragoman"
#: The size of a model of captions, and of the one with eight directions.
MOST_BYTES, MOST_BYTES_EVERYDAY = 8_000_000, 25_000_000
EVERYDAY = {
    ("en", "de"),
    ("de", "en"),
    ("en", "fr"),
    ("fr", "en"),
    ("en", "zh"),
    ("zh", "en"),
    ("fr", "de"),
    ("de", "fr"),
}


@pytest.mark.torch
def test_every_shipped_model_is_small_described_and_sound() -> None:
    from dragoman.doctor import check

    for name in shipped_models():
        folder = PRETRAINED / name
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        assert size <= (MOST_BYTES_EVERYDAY if name == "everyday" else MOST_BYTES)
        card = (folder / "README.md").read_text(encoding="utf-8")
        for section in ("Data", "Recipe", "Scores", "Limits"):
            assert f"\n## {section}\n" in card, name
        examination = check(load_bundle(name).model, trained=True)
        assert examination.passed, examination
        directions = EVERYDAY if name == "everyday" else {tuple(name.split("-")[-2:])}
        assert set(Translator.load(name, device="cpu").directions) == directions


def test_the_main_model_translates_in_each_direction() -> None:
    questions = {
        "en": "Where is the station?",
        "de": "Wo ist der Bahnhof?",
        "fr": "Où est la gare ?",
        "zh": "车站在哪里？",
    }
    stations = {"en": "station", "de": "Bahnhof", "fr": "gare", "zh": "车站"}
    translator = Translator.load("everyday", device="cpu")
    for source, target in EVERYDAY:
        translation = translator.translate(questions[source], source_lang=source, target_lang=target)
        assert stations[target] in translation.text
        assert translation.flags == ()


def test_every_file_of_the_package_is_in_the_wheel() -> None:
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    patterns = tools["setuptools"]["package-data"]["dragoman"]
    packed = {path for pattern in patterns for path in PACKAGE.glob(pattern) if path.is_file()}
    found = {path for path in PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    modules = runpy.run_path(str(ROOT / "setup.py"))["EXTENSIONS"]
    compiled = {ROOT / source for each in modules for source in (*each.sources, *each.depends)}
    names = tuple(each.name.split(".")[-1] for each in modules)
    libraries = {path for path in found if path.name.startswith(names)}
    assert {path for path in found if path.suffix != ".py"} - libraries == packed | compiled
