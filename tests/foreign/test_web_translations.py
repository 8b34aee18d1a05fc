"""Translations in JavaScript and WebAssembly, in Node: they are Python's, with their alternatives and alignments."""

import gzip
import importlib
import os
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ctranslate2_folders import folder_files, small_bundle, write_folder
from extras import require_program
from hypothesis import assume, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from node import Node, unpacked
from tiny import LEARNED, many_tokenizers, tiny_bundle
from typescript import type_errors

from dragoman.bundle.bundle import Bundle, write_bundle
from dragoman.bundle.named_models import named_models
from dragoman.imports.ctranslate2 import import_ctranslate2
from dragoman.settings.search_config import SearchConfig
from dragoman.translator import Request, Translation, Translator

ROOT = Path(__file__).resolve().parent.parent.parent
#: Sentences of each direction; docs/guide/web.md has the figures for 1,000.
LINES = int(os.environ.get("DRAGOMAN_WEB_LINES", "40"))
#: Model, text, source and target language.
DIRECTIONS = [
    pytest.param("multi30k-en-de", "multi30k/test_2016_flickr.en.gz", "en", "de", marks=pytest.mark.captions),
    pytest.param("multi30k-en-fr", "multi30k/test_2016_flickr.en.gz", "en", "fr", marks=pytest.mark.captions),
    ("everyday", "tatoeba-en-de/val.en.gz", "en", "de"),
    ("everyday", "tatoeba-en-fr/val.fr.gz", "fr", "en"),
    ("everyday", "tatoeba-zh-en/val.zh.gz", "zh", "en"),
]
TEXTS = [
    "You have {n, plural, one {a cat}  other {# cats}}.",
    "",
    " \n ",
    "!!! 😀",
    "A man is riding a horse. She is reading a book! Two dogs run.",
    "A MAN IS RIDING A HORSE!",
    "Write to anna@example.org, or call {name} at 5:30 pm on 11/25/2026.\n\nI have 1,250 cats.",
    ">>zh<< The cat sits on the mat.",
    "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824 is a hash, " + "and this goes on, " * 60,
    "一个男人在骑马。她在看书。",
    "“A man is riding.” « She is reading a book! » (‘Two dogs run.’) „No.“",
]
SHORT_TEXTS = [text for text in TEXTS if len(text) < 200]


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of random weights with several languages, reserved pieces, and statistics of its text."""
    folder = tmp_path_factory.mktemp("bundles") / "many"
    tokenizers = many_tokenizers(reserved=3)
    facts = {"learned_text": LEARNED.model_dump(mode="json"), "alignment": {"heads": [[0, 1]], "shifted": True}}
    search = SearchConfig(beam_size=4, length_penalty=1.0)
    write_bundle(folder, replace(tiny_bundle(tokenizers, max_length=60), search=search, facts=facts), "int8")
    return folder


@pytest.fixture(scope="module")
def site(many: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpacked([many, *map(Path, named_models())], tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def translator(many: Path) -> Translator:
    return Translator.load(many, device="cpu", short_list=False)


@pytest.fixture(scope="module")
def everyday() -> Translator:
    """Scores of trained models hardly ever tie but for rounding."""
    return Translator.load("everyday", device="cpu", short_list=False)


#: Flags of what an exported page does not judge.
UNKNOWN_TO_PAGES = ("low_confidence", "script")


def same(ours: Translation, theirs: dict[str, Any], tolerance: float = 1e-3) -> bool:
    """Return True if texts, flags and alignments are equal, and scores are but for rounding."""
    links = None if ours.alignment is None else [list(link) for link in ours.alignment]
    texts = [each.text for each in ours.alternatives] == [each["text"] for each in theirs["candidates"]]
    for each, other in zip(ours.alternatives, theirs["candidates"], strict=False):
        parts = [part.text for part in each.parts or [each]]
        texts = texts and parts == [part["text"] for part in other["parts"]]
    is_near = abs(ours.score - theirs["score"]) <= tolerance * max(1, abs(ours.score))
    flags = [flag for flag in ours.flags if flag not in UNKNOWN_TO_PAGES]
    is_same = ours.text == theirs["text"] and flags == theirs["flags"]
    return texts and is_near and is_same and (links is None or links == theirs["alignment"])


@pytest.mark.parametrize(("name", "file", "source", "target"), DIRECTIONS)
def test_shipped_models_translate_as_in_python(
    name: str, file: str, source: str, target: str, data_folder: Path, site: Path, node: Node
) -> None:
    with gzip.open(data_folder / file, "rt", encoding="utf-8") as text:
        lines = [line.rstrip("\n") for line, _ in zip(text, range(LINES), strict=False)]
    found = Translator.load(name, device="cpu", short_list=False).translate(
        lines, align=True, source_lang=source, target_lang=target
    )
    options = {"align": True, "sourceLang": source, "targetLang": target}
    answers = [node("translate", str(site / f"{name}.dragoman"), line, options) for line in lines]
    n_equal = sum(map(same, found, answers))
    print(f"{name}, {source} to {target}: {n_equal} of {len(lines)} equal")
    assert n_equal >= 0.97 * len(lines)  # scores may tie but for rounding


@given(
    text=st.sampled_from(SHORT_TEXTS),
    beam=st.integers(1, 5),
    n_best=st.integers(1, 3),
    penalty=st.sampled_from([0.0, 1.0]),
    ngram=st.sampled_from([0, 2]),
    target=st.sampled_from(["de", "zh", "fr-CH"]),
    prefix=st.sampled_from(["", "Ein Mann", "A"]),
    by_sentence=st.sampled_from([None, True, False]),
    most=st.sampled_from([None, 7]),
)
@hypothesis_settings(max_examples=40)
def test_every_option_does_what_it_does_in_python(
    text: str,
    beam: int,
    n_best: int,
    penalty: float,
    ngram: int,
    target: str,
    prefix: str,
    by_sentence: bool | None,
    most: int | None,
    site: Path,
    node: Node,
    everyday: Translator,
) -> None:
    n_best = min(n_best, beam)
    search = {"beam_size": beam, "n_best": n_best, "length_penalty": penalty, "no_repeat_ngram": ngram}
    request = Request(text, prefix, align=True, target_lang=target, sentences=by_sentence, off=["numbers"])
    plan = everyday.pipeline.plan([request], everyday.search_config(**search, max_length=most))
    (ours,) = everyday.pipeline.finish(plan, everyday.pipeline.search(plan.jobs))
    assume("span" not in ours.flags)  # else the page searches again in a way of its own
    options = {"beamSize": beam, "nBest": n_best, "lengthPenalty": penalty, "noRepeatNgram": ngram, "align": True}
    more = {"targetLang": target, "prefix": prefix, "sentences": by_sentence, "maxLength": most or 0}
    assert same(ours, node("translate", str(site / "everyday.dragoman"), text, options | more))


def test_plans_are_equal(site: Path, node: Node, translator: Translator) -> None:
    for text in TEXTS:
        for by_sentence in (None, True, False):
            plan = translator.pipeline.plan([Request(text, sentences=by_sentence, target_lang="de")]).texts[0]
            ours = [[one.text, one.ids, one.flag, [], sorted(one.forbidden_ids)] for one in plan.segments]
            theirs = node("plan", str(site / "many.dragoman"), text, {"sentences": by_sentence, "targetLang": "de"})
            assert theirs["segments"] == ours


def test_a_recurrent_decoder_translates_as_in_python(tmp_path: Path, node: Node) -> None:
    bundle = tiny_bundle(many_tokenizers(), max_length=60, n_decoder_layers=2, decoder_layer="ssru")
    require_same(bundle, tmp_path, node)


def test_a_source_without_an_end_mark_translates_as_in_python(tmp_path: Path, node: Node) -> None:
    folder = write_folder(tmp_path / "ct2", folder_files(small_bundle(), add_source_eos=False))
    require_same(import_ctranslate2(folder, ("en", "de")), tmp_path, node)


def require_same(bundle: Bundle, folder: Path, node: Node) -> None:
    """Compare translations of texts without spans, for which a page searches in a way of its own."""
    write_bundle(folder / "bundle", bundle, "int8")
    model = str(unpacked([folder / "bundle"], folder) / "bundle.dragoman")
    ours = Translator.load(folder / "bundle", device="cpu", short_list=False)
    for text in [*TEXTS[:5], TEXTS[9]]:
        for beam in (1, 4):
            found = ours.translate([text], beam_size=beam, n_best=1, max_length=50, target_lang="de")[0]
            options = {"beamSize": beam, "nBest": 1, "maxLength": 50, "targetLang": "de"}
            assert same(found, node("translate", model, text, options))


def test_attention_and_trace_belong_to_the_translation(site: Path, node: Node, many: Path) -> None:
    options = {"targetLang": "de", "attention": True, "trace": True, "nBest": 3}
    found = node("translate", str(site / "many.dragoman"), "A man is riding a horse.", options)
    (map_,), (trace,) = found["attention"], found["trace"]
    assert map_["written"][:-1] == found["tokens"] == map_["read"][1:]
    assert [len(layer) for layer in map_["weights"]] == [2]
    for head in map_["weights"][0]:
        assert len(head) == len(map_["read"])
        assert all(abs(sum(row) - 1) < 1e-4 and len(row) == len(map_["source"]) for row in head)
    nodes = trace["nodes"]
    assert nodes[0]["parent"] == -1
    assert all(0 <= node["parent"] < i for i, node in enumerate(nodes[1:], 1))
    assert all(abs(one["total"] - nodes[one["parent"]]["total"] - one["logProb"]) < 1e-3 for one in nodes[1:])
    paths = [[nodes[i]["id"] for i in path(nodes, i)] for i in range(len(nodes))]
    finished = [each["ids"] for each in trace["candidates"] if each["finished"]]
    assert all(ids in paths for ids in finished)


def path(nodes: list[dict[str, Any]], end: int) -> list[int]:
    found: list[int] = []
    while nodes[end]["parent"] >= 0:
        found.insert(0, end)
        end = nodes[end]["parent"]
    return found


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"beam": 3}, "no option beam"),
        ({"beamSize": 0}, "beamSize is 0"),
        ({"beamSize": 1.5}, "whole number"),
        ({"beamSize": 1, "nBest": 2}, "more than beamSize"),
        ({"lengthPenalty": "1"}, "lengthPenalty is 1"),
        ({"minLength": 9, "maxLength": 5}, "more than maxLength"),
        ({"sentences": 1}, "sentences is 1; give true, false or null"),
        ({"prefix": 3}, "prefix is 3; give a string"),
        ({"targetLang": "fr"}, 'does not write "fr"'),
        ({"targetLang": None}, "several languages"),
        ({"targetLang": "de", "prefix": "Ein Mann " * 20}, "the prefix has"),
        ({"targetLang": "de", "seconds": 1e-9}, "not enough time"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], problem: str, site: Path, node: Node) -> None:
    with pytest.raises(RuntimeError, match=re.escape(problem)):
        node("translate", str(site / "many.dragoman"), "A man.", options)


@pytest.mark.captions
def test_a_freed_model_translates_nothing(site: Path, node: Node) -> None:
    with pytest.raises(RuntimeError, match="the model was freed"):
        node("translateFreed", str(site / "multi30k-en-de.dragoman"), "A man.")


def test_damaged_models_are_refused(site: Path, tmp_path: Path) -> None:
    content = (site / "many.dragoman").read_bytes()
    start = 12 + int.from_bytes(content[8:12], "little")
    damaged = {
        "not a model": b"<!doctype html>",
        "damaged": content[:8] + (5).to_bytes(4, "little") + content[12:],
        "format 9": content.replace(b'"format_version":1', b'"format_version":9', 1),
        "cut off": content[:-40],
        "weights:": content[: start + 30] + b"x" * 40 + content[start + 70 :],
    }
    node = Node(site)
    for problem, each in damaged.items():
        (tmp_path / "damaged.dragoman").write_bytes(each)
        with pytest.raises(RuntimeError, match=problem):
            node("translate", str(tmp_path / "damaged.dragoman"), "A man.", {})
    node.close()


def test_the_engine_is_rebuilt_to_the_same_translations(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_program("clang-19", "clang-19 lld-19 wasi-libc libclang-rt-19-dev-wasm32")
    monkeypatch.syspath_prepend(str(ROOT))
    monkeypatch.chdir(ROOT)
    shutil.copytree(site, tmp_path / "site")
    importlib.import_module("wasm").compile_engine(tmp_path / "site" / "dragoman.wasm")
    nodes = Node(site), Node(tmp_path / "site")
    for text in TEXTS:
        options = {"targetLang": "de", "nBest": 3, "align": True}
        one, other = (node("translate", str(site / "many.dragoman"), text, options) for node in nodes)
        assert one == other
    for node in nodes:
        node.close()


def test_the_types_are_right(many: Path, tmp_path: Path) -> None:
    from dragoman.exchange.web_site import site_files

    for name, content in site_files([many]).items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    assert type_errors(tmp_path) == ""


@pytest.mark.captions
def test_the_example_of_the_guide_runs(site: Path, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "guide" / "web.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```js\n(.*?)```", page, re.S)
    shutil.copytree(site, tmp_path / "dragoman")
    (tmp_path / "models").mkdir()
    shutil.copy(site / "multi30k-en-de.dragoman", tmp_path / "models")
    (tmp_path / "example.mjs").write_text(example)
    before = 'const read = globalThis.fetch;\nimport { readFile } from "node:fs/promises";\n'
    before += "globalThis.fetch = async (url) => new Response(await readFile(new URL(url, import.meta.url)));\n"
    (tmp_path / "first.mjs").write_text(before)
    command = ["node", "--import", "./first.mjs", "example.mjs"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Ein Mann" in done.stdout
