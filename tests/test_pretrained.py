"""The models that come with the package or its second distribution: small, described, sound, and in the wheel."""

from __future__ import annotations

import runpy
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.licenses import canonicalize_license_expression

from dragoman import Translator
from dragoman.bundle.bundle import load_bundle
from dragoman.bundle.model_terms import card_head
from dragoman.bundle.named_models import CAPTION_MODELS, named_models

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "dragoman"
#: The size of a model of captions, and of the one with eight directions.
MOST_BYTES, MOST_BYTES_EVERYDAY = 8_000_000, 25_000_000
CAPTIONS = ROOT / "packages" / "captions"
DISTRIBUTIONS = [ROOT, CAPTIONS]
NAMES = ["everyday", *(pytest.param(name, marks=pytest.mark.captions) for name in CAPTION_MODELS)]
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


def project_of(distribution: Path) -> dict[str, Any]:
    project: dict[str, Any] = tomllib.loads((distribution / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return project


def cards_of(distribution: Path) -> list[str]:
    """The cards of all bundles in a distribution; a bundle without one fails."""
    folders = {path.parent for path in distribution.glob("src/*/**/config.json")}
    return [(folder / "README.md").read_text(encoding="utf-8") for folder in sorted(folders)]


def spdx(card: str) -> str:
    """The licence of a card as SPDX spells it, in small letters."""
    head = card_head(card)
    return f"licenseref-{head['license_name']}" if head["license"] == "other" else str(head["license"])


@pytest.mark.torch
@pytest.mark.parametrize("name", NAMES)
def test_every_model_is_small_described_and_sound(name: str) -> None:
    from dragoman.doctor import check

    folder = named_models()[name]
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    assert size <= (MOST_BYTES_EVERYDAY if name == "everyday" else MOST_BYTES)
    card = (folder / "README.md").read_text(encoding="utf-8")
    for section in ("Data", "Recipe", "Scores", "Limits"):
        assert f"\n## {section}\n" in card, name
    examination = check(load_bundle(name).model, trained=True)
    assert examination.passed, examination
    directions = EVERYDAY if name == "everyday" else {tuple(name.split("-")[-2:])}
    assert set(Translator.load(name, device="cpu").directions) == directions
    assert set(card_head(card)["language"]) == {language for direction in directions for language in direction}


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_the_licence_of_a_wheel_is_that_of_its_cards(distribution: Path) -> None:
    project = project_of(distribution)
    cards = cards_of(distribution)
    assert cards
    licences = [spdx(card) for card in cards]
    parts = project["license"].split(" AND ")
    data = {"unicode-3.0" for _ in distribution.glob("src/dragoman/content/cldr/*.json")}
    assert sorted(map(str.lower, parts)) == sorted({"mit", *licences, *data})
    files = {path for pattern in project["license-files"] for path in distribution.glob(pattern)}
    names = {path.stem.lower(): path for path in files}
    assert {"license", *(part.lower() for part in parts if part != "MIT")} == names.keys()
    for card, licence in zip(cards, licences, strict=True):
        text, link = names[licence].read_text(encoding="utf-8"), card_head(card)["license_link"]
        assert link in text
    assert distribution.joinpath("LICENSE").read_bytes() == ROOT.joinpath("LICENSE").read_bytes()


def test_every_licence_is_an_expression_of_spdx() -> None:
    for distribution in DISTRIBUTIONS:
        expression = project_of(distribution)["license"]
        assert canonicalize_license_expression(expression) == expression


def test_the_wheel_forbids_no_commercial_use_and_that_of_captions_does() -> None:
    for distribution, is_allowed in zip(DISTRIBUTIONS, (True, False), strict=True):
        for card in cards_of(distribution):
            assert card_head(card)["commercial_use"] is is_allowed


def test_each_caption_model_is_offered_and_packed() -> None:
    offered = project_of(CAPTIONS)["entry-points"]["dragoman.models"]
    package = CAPTIONS / "src" / "dragoman_captions"
    assert offered == dict.fromkeys(CAPTION_MODELS, package.name)
    assert sorted(path.name for path in package.iterdir() if (path / "config.json").is_file()) == sorted(offered)
    tools = tomllib.loads((CAPTIONS / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    patterns = tools["setuptools"]["package-data"][package.name]
    packed = {path for pattern in patterns for path in package.glob(pattern) if path.is_file()}
    found = {path for path in package.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    assert {path for path in found if path.suffix != ".py"} == packed


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
