"""Models that are found by their names: what comes first, what hides them, and what is told of them."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest
from tiny import tiny_tokenizers, write_tiny_bundle

from dragoman.bundle.finding import find_bundle, model_path
from dragoman.bundle.model_list import list_models
from dragoman.bundle.model_terms import ModelTerms, read_terms
from dragoman.bundle.named_models import named_model, named_models
from dragoman.cli.hints import stray_hint
from dragoman.cli.program import run
from dragoman.errors import BundleError, DataError
from dragoman.machine.pointers import set_pointer

CARD = "---\nlicense: cc-by-4.0\ncommercial_use: true\nlanguage: [en, de]\n---\n# Tiny\n"


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_tiny_bundle(tmp_path_factory.mktemp("tiny") / "tiny")
    (folder / "README.md").write_text(CARD, encoding="utf-8")
    return folder


@pytest.fixture
def shipped(tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One model, `name`, comes with dragoman; no other is installed, and the work folder is empty."""
    shutil.copytree(tiny, tmp_path / "shipped" / "name")
    (tmp_path / "shipped" / "README.md").touch()
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setattr("dragoman.bundle.named_models.PRETRAINED", tmp_path / "shipped")
    monkeypatch.setattr("dragoman.bundle.named_models.GROUP", "dragoman.tests")
    return tmp_path / "shipped" / "name"


def offer(tiny: Path, site: Path, package: str, *names: str, group: str = "dragoman.tests") -> None:
    """Install a distribution into `site`, with a package whose import would end the tests."""
    (site / package).mkdir(parents=True)
    (site / package / "__init__.py").write_text("raise SystemExit('code of a stranger ran')", encoding="utf-8")
    metadata = site / f"{package}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n", encoding="utf-8")
    lines = [f"[{group}]", *(f"{name} = {package}" for name in names)]
    (metadata / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
    for name in names:
        shutil.copytree(tiny, site / package / name)


def text_file(path: Path, text: str = "") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_a_shipped_model_goes_by_its_name(shipped: Path) -> None:
    assert find_bundle("name") == shipped
    assert model_path("name") is None
    with pytest.raises(BundleError, match=r"no such model: nmae; .* or an installed model: name$"):
        find_bundle("nmae")


@pytest.mark.parametrize("name", ["", ".", "..", "README.md", "../name", "name/", "a\0b", "x" * 5000])
def test_nothing_else_is_a_name(name: str, shipped: Path) -> None:
    assert named_model(name) is None
    with pytest.raises(BundleError):
        find_bundle(name)


OTHERS = {
    "an empty folder": [],
    "texts": ["names.tsv", "notes/a.txt"],
    "a program's settings": ["config.json", "src/a.js"],
    "an extension of a browser": ["MANIFEST.json", "icon.png"],
    "another program's settings": ["config.yaml", "data/a.csv"],
    "a folder called best": ["best/a.jpg", "worst/a.jpg"],
    "a tokenizer alone": ["tokenizer/a.model"],
    "a prepared corpus": ["tokenizer/a.model", "data/MANIFEST.json"],
}


@pytest.mark.parametrize("files", OTHERS.values(), ids=OTHERS)
def test_a_folder_that_is_no_model_hides_no_name(files: list[str], shipped: Path) -> None:
    Path("name").mkdir()
    for file in files:
        text_file(Path("name", file))
    assert find_bundle("name") == shipped
    assert model_path("name") is None


def test_a_folder_that_is_no_model_hides_no_name_from_bulk_translation(shipped: Path) -> None:
    Path("name").mkdir()
    for name in ("a.txt", "b.txt"):
        text_file(Path(name), "A man.\n")
    assert run(["translate", "-m", "name", "--input", "a.txt", "--input", "b.txt", "--output", "out"]) == 0
    assert sorted(path.name for path in Path("out").glob("*.txt")) == ["a.txt", "b.txt"]


@pytest.mark.parametrize("text", ["", "Anna\n", "no-such-folder", "/", "..", "x" * 10_000, "a\0b"])
def test_a_file_hides_no_name(text: str, shipped: Path) -> None:
    text_file(Path("name"), text)
    assert find_bundle("name") == shipped
    Path("name").write_bytes(b"\xff\xfe")
    assert find_bundle("name") == shipped


def test_links_that_lead_nowhere_hide_no_name(shipped: Path) -> None:
    for target in ("nowhere", "name"):
        Path("name").symlink_to(target)
        assert find_bundle("name") == shipped
        Path("name").unlink()


def test_a_bundle_a_run_and_a_pointer_come_first(tiny: Path, shipped: Path) -> None:
    name = Path("name")
    shutil.copytree(tiny, name)
    assert find_bundle("name") == name.resolve()
    assert model_path("name") == name
    name.rename("other")
    text_file(name, "other")
    assert find_bundle("name") == Path("other").resolve()
    name.unlink()
    shutil.copytree(tiny, name / "bundles" / "step-1")
    set_pointer(name / "best", name / "bundles" / "step-1")
    assert find_bundle("name") == (name / "bundles" / "step-1").resolve()
    text_file(name / "config.yaml")
    (name / "best").unlink()
    with pytest.raises(BundleError, match="no best model yet: name"):
        find_bundle("name")


@pytest.mark.parametrize("missing", ["config.json", "model.safetensors", "MANIFEST.json", "tokenizer"])
def test_a_damaged_bundle_is_not_passed_over(missing: str, tiny: Path, shipped: Path) -> None:
    from dragoman.bundle.bundle import load_bundle

    shutil.copytree(tiny, "name", ignore=shutil.ignore_patterns(missing))
    with pytest.raises(BundleError):
        load_bundle("name")


def test_a_run_prepared_under_a_models_name_is_not_its_training_text(
    shipped: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text_file(Path("pairs.en-de.tsv"), "".join(f"A man {n}.\tEin Mann {n}.\n" for n in range(40)))
    assert run(["prepare", "--pairs", "pairs.en-de.tsv", "--set", "data.validation_size=4", "-o", "name"]) == 0
    capfd.readouterr()
    assert run(["package", "-m", "name", "-o", "packed", "--precision", "float32"]) == 0
    capfd.readouterr()
    assert run(["evaluate", "-m", "name", "--split", "validation"]) == 2


def test_distributions_offer_models_and_none_of_their_code_runs(
    tiny: Path, shipped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    offer(tiny, tmp_path / "site", "stranger_models", "other", "name")
    monkeypatch.syspath_prepend(tmp_path / "site")
    place = tmp_path / "site" / "stranger_models"
    assert find_bundle("other") == place / "other"
    assert find_bundle("name") == shipped, "no distribution replaces a model that comes with dragoman"
    assert list(named_models()) == ["name", "other"]
    assert stray_hint("dragoman translate", ["other"], {"--model"}) == "a model follows -m: dragoman translate -m other"
    assert run(["models"]) == 0
    assert "other" in capfd.readouterr().out
    assert "stranger_models" not in sys.modules
    shutil.rmtree(place / "other")
    assert named_model("other") is None


def test_an_offer_of_nothing_is_passed_over(
    tiny: Path, shipped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(tiny, tmp_path / "site", "gone", "one")
    offer(tiny, tmp_path / "site", "outer.inner", "two")
    shutil.rmtree(tmp_path / "site" / "gone")
    monkeypatch.syspath_prepend(tmp_path / "site")
    assert list(named_models()) == ["name"]


@pytest.mark.parametrize("command", [["translate"], ["package", "-o", "x"], ["export", "web", "-o", "x"]])
def test_a_caption_model_that_is_not_installed_says_what_to_install(
    command: list[str], shipped: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):
        assert run([*command, "-m", "multi30k-en-de"]) == 3
        error = capfd.readouterr().err.splitlines()[-1]
        assert error.startswith(
            "error: multi30k-en-de is a model for non-commercial use that is not installed; install "
        )
        assert error.endswith("dragoman-captions in dragoman's repository: pip install ./packages/captions")
        Path("multi30k-en-de").mkdir(exist_ok=True)  # which is no model


def test_the_list_says_what_each_model_is(shipped: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["models", "--json"]) == 0
    (model,) = json.loads(capfd.readouterr().out)
    tokenizers = tiny_tokenizers()
    assert model == {
        "name": "name",
        "directions": [list(direction) for direction in tokenizers.directions],
        "bytes": sum(path.stat().st_size for path in shipped.rglob("*") if path.is_file()),
        "parameters": parameters(shipped),
        "license": "cc-by-4.0",
        "license_link": None,
        "commercial_use": True,
        "folder": str(shipped),
        "problem": None,
    }
    assert run(["models"]) == 0
    out, err = capfd.readouterr()
    for part in ("name", "en to de", "cc-by-4.0:", "commercial use allowed"):
        assert part in out
    assert max(map(len, out.splitlines())) <= 80
    assert "not installed, for non-commercial use: multi30k-en-de, multi30k-en-fr; install dragoman-captions" in err


def parameters(folder: Path) -> int:
    from dragoman.bundle.bundle import load_bundle

    return sum(weight.size for weight in load_bundle(folder).weights.values())


def test_the_list_tells_what_hides_a_model(tiny: Path, shipped: Path, capfd: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(tiny, "name")
    assert run(["models"]) == 0
    assert f"{Path('name').absolute()} comes before the installed model of that name" in capfd.readouterr().err


@pytest.mark.parametrize("damage", ["{", "[]", '{"format_version": 99}', '{"format_version": 1}'])
def test_a_damaged_model_does_not_hide_the_others(
    damage: str, tiny: Path, shipped: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(tiny, shipped.parent / "broken")
    (shipped.parent / "broken" / "config.json").write_text(damage, encoding="utf-8")
    assert run(["models"]) == 1
    out, err = capfd.readouterr()
    assert "damaged" in out
    assert "en to de" in out
    assert "broken cannot be used: " in err
    assert [model.problem is None for model in list_models()] == [False, True]


def test_the_head_of_a_card_has_its_terms() -> None:
    assert read_terms(CARD) == ModelTerms("cc-by-4.0", None, True)
    other = "---\r\nlicense: other\r\nlicense_name: mine\r\nlicense_link: https://example.org\r\n---\r\n"
    assert read_terms(other) == ModelTerms("mine", "https://example.org", None)


@pytest.mark.parametrize(
    "card",
    [
        None,
        "",
        "# Tiny\n\n---\nlicense: mit\n---\n",
        "---\nlicense: mit\n",
        "---\n- mit\n---\n",
        "---\nlicense: [mit]\ncommercial_use: perhaps\n---\n",
        "---\nlicense: *mit\n---\n",
        "---\n{\n---\n",
        "---\n" + "[" * 5_000 + "\n---\n",
        "---\nlicense: mit\n" + "a: b\n" * 5_000 + "---\n",
    ],
)
def test_a_head_that_cannot_be_read_says_nothing(card: str | None) -> None:
    assert read_terms(card) == ModelTerms()


def test_a_packaged_model_keeps_its_terms_and_a_new_card_has_a_head(shipped: Path, tiny: Path) -> None:
    assert run(["package", "-m", "name", "-o", "packed"]) == 0
    assert read_terms(Path("packed/README.md").read_text(encoding="utf-8")) == ModelTerms("cc-by-4.0", None, True)
    shutil.copytree(tiny, "bare", ignore=shutil.ignore_patterns("README.md"))
    assert run(["package", "-m", "bare", "-o", "new"]) == 0
    assert Path("new/README.md").read_text(encoding="utf-8").startswith("---\nlicense: unknown\nlanguage: [en, de]\n")


def test_a_folder_that_hides_a_corpus_of_the_hub_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dragoman.data.corpus import read_pairs
    from dragoman.settings.data_config import DataConfig

    monkeypatch.setitem(sys.modules, "datasets", type(sys)("datasets"))
    monkeypatch.chdir(tmp_path)
    Path("corpus").mkdir()
    with pytest.raises(DataError, match="hides the data set of that name: corpus"):
        read_pairs(DataConfig(corpus="hub:corpus", source_lang="en", target_lang="de"), "train")
