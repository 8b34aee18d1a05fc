"""Models as web pages: the files, and what is refused. Their JavaScript is tested in tests/foreign."""

import json
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load
from tiny import many_tokenizers, tiny_bundle, write_tiny_bundle

from dragoman.bundle.bundle import load_bundle, write_bundle
from dragoman.bundle.finding import find_bundle
from dragoman.cli import program
from dragoman.errors import BundleError, ConfigError
from dragoman.exchange.model_file import model_file, read_model_file
from dragoman.exchange.regular_expressions import to_javascript
from dragoman.exchange.text_rules import rules
from dragoman.exchange.web_site import bundled, single_page, site_files
from dragoman.text.short_list import LikelyTokens, ShortList
from dragoman.text.subword import Subword

ROOT = Path(__file__).resolve().parent.parent
WEB = ROOT / "src" / "dragoman" / "web"


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_bundle(tmp_path_factory.mktemp("bundles") / "tiny")


def test_a_model_file_has_all_that_translates(bundle: Path) -> None:
    description, parts = read_model_file(model_file(bundle))
    loaded = load_bundle(bundle)
    assert isinstance(loaded.tokenizers.source, Subword)
    assert parts["pieces"] == loaded.tokenizers.source.segmenter.model
    assert description["config"]["d_model"] == loaded.config.d_model
    assert description["search"]["beamSize"] == loaded.search.beam_size
    tensors = load(parts["weights"])
    for name, weight in loaded.weights.items():
        scales = tensors.get(f"{name}.scales")
        if scales is None:
            assert np.array_equal(tensors[name], weight)
        else:
            assert np.all(np.abs(tensors[name] * scales[:, None] - weight) <= scales[:, None] * 0.5001)


def test_a_short_list_is_left_out_and_that_is_said(bundle: Path, tmp_path: Path, log_lines: list[str]) -> None:
    loaded = load_bundle(bundle)
    tokens = LikelyTokens(np.arange(9), np.zeros(loaded.config.source_vocab_size + 1, int), np.empty(0, int))
    write_bundle(tmp_path / "listed", replace(loaded, short_list=ShortList({"de": tokens})))
    assert read_model_file(model_file(tmp_path / "listed"))[1] == read_model_file(model_file(bundle))[1]
    (line,) = log_lines
    assert "its short-list is left out" in line


@pytest.mark.captions
def test_weights_that_are_in_8_bits_stay_as_they_are() -> None:
    _, parts = read_model_file(model_file("multi30k-en-de"))
    assert parts["weights"] == (find_bundle("multi30k-en-de") / "model.safetensors").read_bytes()


def test_a_site_has_every_file_that_it_names(bundle: Path) -> None:
    files = site_files([bundle])
    for path, content in files.items():
        if not path.endswith((".js", ".html")) or path.endswith("views.js"):
            continue
        text = content.decode()
        names = re.findall(r'^import [^;"]*"(\.[^"]+)";$', text, re.M) + re.findall(r'(?:src|href)="([\w/.]+)"', text)
        for name in names:
            target = (Path("/") / path).parent / name
            assert Path(*target.parts[1:]).as_posix().replace("page/../", "") in files, (path, name)
    assert {"dragoman/dragoman.wasm", "dragoman/rules.js", "models/tiny.dragoman", "index.html"} <= files.keys()


def test_no_page_names_another_site(bundle: Path) -> None:
    files = site_files([bundle])
    addresses = {
        address
        for path, content in files.items()
        if path.endswith((".js", ".css", ".html")) and not path.endswith("rules.js")
        for address in re.findall(r"https?://[\w./-]+", content.decode())
    }
    assert addresses <= {"http://www.w3.org/2000/svg"}


def test_a_single_page_holds_everything(bundle: Path) -> None:
    page = single_page([bundle]).decode()
    assert not re.search(r'(?:src|href)="(?!data:)', page)
    scripts = re.findall(r"<script[^>]*>(.*?)</script>", page, re.S)
    assert page.count("</script>") == len(scripts) == 5  # data, three parts, the script
    assert 'id="model-tiny"' in page
    assert 'id="wasm"' in page
    assert 'id="worker"' in page


def test_modules_are_joined_in_their_order() -> None:
    modules = {
        "a.js": 'import { b } from "../x/b.js";\nimport {\n  c,\n} from "./c.js";\nb(c);\n',
        "b.js": 'import { c } from "./c.js";\nexport const b = () => c;\n',
        "c.js": "export const c = 1;\n",
    }
    script = bundled(modules, "a.js")
    assert script.index("const c = 1") < script.index("const b =") < script.index("b(c)")
    assert "import" not in script
    assert "export" not in script
    with pytest.raises(ValueError, match="two modules have the names c"):
        bundled({**modules, "b.js": modules["b.js"] + "function c() {}\n"}, "a.js")
    with pytest.raises(ValueError, match="imports itself"):
        bundled({**modules, "c.js": 'import { b } from "./b.js";\n'}, "a.js")
    with pytest.raises(ValueError, match=r"d\.js is missing"):
        bundled({"a.js": 'import { d } from "./d.js";\n'}, "a.js")


@pytest.mark.parametrize(
    ("pattern", "javascript"),
    [
        (r"(?P<a>x)(?P=a)\Z", r"(?<a>x)\k<a>$"),
        (r"[^\W\d_]", r"(?:(?![\p{Nd}_])[\p{L}\p{N}_])"),
        (r"(?i:ab)c", "(?:[aA][bB])c"),
        ("(?x: a )", None),
        (r"[\S ]", None),
        (r"\A", None),
        ("(?P>a)", None),
    ],
)
def test_patterns_are_translated_or_refused(pattern: str, javascript: str | None) -> None:
    try:
        compiled = re.compile(pattern)
    except re.error:
        return
    if javascript is None:
        with pytest.raises(ValueError, match=r"^an? "):
            to_javascript(compiled)
    else:
        assert to_javascript(compiled) == (javascript, "u")


def test_the_rules_are_valid_json_tables() -> None:
    for table in re.findall(r"^export const \w+ = (.*);$", rules(), re.M):
        assert json.loads(table)


def test_javascript_has_the_interface_of_the_header(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    monkeypatch.chdir(ROOT)
    import wasm

    assert (WEB / "dragoman" / "interface.js").read_text(encoding="utf-8") == wasm.interface(), "run `make wasm`"
    sys.modules.pop("wasm")


# -- What is refused, and what is kept ---------------------------------------------------------------------------------


def test_words_by_rules_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="spaCy's rules"):
        model_file(Path(__file__).parent / "releases" / "0.1.0" / "words")


def test_models_that_cannot_be_told_apart_are_refused(bundle: Path) -> None:
    with pytest.raises(ConfigError, match="two models are named tiny"):
        site_files([bundle, bundle])
    with pytest.raises(ConfigError, match="no model"):
        site_files([])
    with pytest.raises(BundleError, match="no such model"):
        site_files(["nowhere"])


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["-m", "nowhere", "-o", "site"], "no such model"),
        (["-m", "{bundle}", "-o", "full"], "the output exists"),
        (["-m", "{bundle}", "--single-file", "-o", "site"], "ends in .html"),
        (["-m", "{bundle}", "--single-file", "-o", "old.html"], "the output exists"),
        (["-m", "{bundle}", "--single-file", "-o", "no/page.html"], "no such folder"),
        (["-m", "{bundle}", "--overwrite", "-o", "full"], "--overwrite is for --single-file"),
        (["-o", "site"], "no model given"),
    ],
)
def test_wrong_arguments_are_one_clear_line(
    arguments: list[str], problem: str, bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    (tmp_path / "old.html").write_text("mine")
    before = sorted(tmp_path.rglob("*"))
    assert program.run(["export", "web", *(argument.format(bundle=bundle) for argument in arguments)]) in (1, 2, 3)
    told = capsys.readouterr().err
    assert problem in told
    assert told.count("\n") == 1
    assert sorted(tmp_path.rglob("*")) == before
    assert (tmp_path / "old.html").read_text() == "mine"


def test_the_command_writes_a_folder_and_a_page(
    bundle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert program.run(["export", "web", "-m", str(bundle), "-o", str(tmp_path / "site")]) == 0
    assert (tmp_path / "site" / "models" / "tiny.dragoman").read_bytes() == model_file(bundle)
    page = tmp_path / "page.html"
    for more in ([], ["--overwrite"]):
        assert program.run(["export", "web", "-m", str(bundle), "--single-file", "-o", str(page), *more]) == 0
    assert page.read_bytes() == single_page([bundle])
    assert capsys.readouterr().err.endswith(f"{len(page.read_bytes()) / 1e6:.1f} MB; open it in a browser\n")


@given(st.text(st.characters(codec="utf-8"), max_size=20))
def test_no_name_of_a_model_leaves_its_folder(name: str) -> None:
    from dragoman.exchange.web_site import short_name

    assert re.fullmatch(r"[\w-][\w.-]*", short_name(name), re.A)


def test_a_model_of_many_directions_says_its_tags(tmp_path: Path) -> None:
    tokenizers = many_tokenizers(reserved=3)
    write_bundle(tmp_path / "many", tiny_bundle(tokenizers))
    description, _ = read_model_file(model_file(tmp_path / "many"))
    assert description["targets"] == ["de", "en", "zh"]
    assert description["tokenizers"]["source"]["tags"] == [">>de<<", ">>en<<", ">>zh<<"]
    assert description["tokenizers"]["target"]["tags"] == []
    assert description["reserved"] == ["⟨1⟩", "⟨2⟩", "⟨3⟩"]
