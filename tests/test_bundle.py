"""A bundle comes back as it was saved, or not at all."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file
from tiny import tiny_model, tiny_tokenizers, write_tiny_bundle

from dragoman.bundle import bundle as module
from dragoman.bundle import format as bundle_format
from dragoman.bundle.bundle import load_bundle, save_bundle, write_bundle
from dragoman.bundle.finding import card_of, find_bundle
from dragoman.bundle.format import FORMAT_VERSION
from dragoman.bundle.search_ram import disproportion
from dragoman.bundle.weights import weights_of
from dragoman.errors import BundleError, ConfigError, DivergedError, RunFolderError
from dragoman.machine import folders
from dragoman.machine.folders import MANIFEST, save_folder, self_hash
from dragoman.machine.json_files import to_json
from dragoman.machine.pointers import set_pointer
from dragoman.settings.model_config import ModelConfig
from dragoman.settings.search_config import SearchConfig
from dragoman.text.special_ids import SpecialIdPair, SpecialIds

pytestmark = pytest.mark.torch


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_bundle(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture
def copy(bundle: Path, tmp_path: Path) -> Path:
    shutil.copytree(bundle, tmp_path / "copy")
    return tmp_path / "copy"


def remake_manifest(folder: Path) -> None:
    """Write a manifest that fits the changed files, as an attacker does."""
    (folder / MANIFEST).unlink(missing_ok=True)
    inside = folder.with_name("inside")
    shutil.move(folder, inside)

    def write(temporary: Path) -> None:
        shutil.copytree(inside, temporary, dirs_exist_ok=True)

    save_folder(folder, write)
    shutil.rmtree(inside)


def change_config(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    settings = json.loads((folder / "config.json").read_text())
    change(settings)
    (folder / "config.json").write_text(json.dumps(settings))
    remake_manifest(folder)


@pytest.mark.parametrize("tie", ["none", "decoder", "all"])
@pytest.mark.parametrize("kind", ["bpe", "characters"])
def test_round_trip(tmp_path: Path, tie: str, kind: str) -> None:
    tokenizers = tiny_tokenizers(kind)
    model = tiny_model(tokenizers, tie=tie)
    search = SearchConfig(beam_size=3, length_penalty=1.5)
    save_bundle(tmp_path / "a", model, tokenizers, search, facts={"step": 7, "bleu": 1.5})
    before = torch.get_rng_state()
    loaded = load_bundle(tmp_path / "a")
    assert torch.equal(before, torch.get_rng_state())
    assert loaded.search == search
    assert loaded.facts == {"step": 7, "bleu": 1.5}
    assert loaded.model.config == model.config
    assert not loaded.model.training
    for name, weight in model.state_dict().items():
        assert torch.equal(loaded.model.state_dict()[name], weight), name
    text = "The man reads: a horse!"
    assert loaded.tokenizers.source.encode(text) == tokenizers.source.encode(text)
    n_tied = {"none": 0, "decoder": 1, "all": 2}[tie]
    assert len(load_file(tmp_path / "a" / "model.safetensors")) == len(model.state_dict()) - n_tied
    embedding = loaded.model.target_embedding.tokens.weight
    assert (loaded.model.output_projection.weight is embedding) == (tie != "none")


def test_weights_of_half_the_size_are_those_nearest_in_float16(bundle: Path, tmp_path: Path) -> None:
    whole = load_bundle(bundle)
    write_bundle(tmp_path / "half", whole, "float16", "# Tiny\n")
    half = load_bundle(tmp_path / "half")
    sizes = [(folder / "model.safetensors").stat().st_size for folder in (tmp_path / "half", bundle)]
    n_weights = sum(weight.size for weight in whole.weights.values())
    assert sizes[1] - sizes[0] == pytest.approx(2 * n_weights, abs=200)  # the heads differ by little
    for name, weight in half.weights.items():
        assert weight.dtype == np.float32
        np.testing.assert_array_equal(weight, whole.weights[name].astype(np.float16))
    assert (half.facts, half.search) == (whole.facts, whole.search)
    assert (tmp_path / "half" / "README.md").read_text() == "# Tiny\n"
    # Nothing is lost by storing it so again.
    write_bundle(tmp_path / "again", half, "float16", "# Tiny\n")
    assert (tmp_path / "again" / MANIFEST).read_bytes() == (tmp_path / "half" / MANIFEST).read_bytes()


def test_weights_of_a_quarter_of_the_size_are_the_nearest_multiples_of_a_scale_for_each_row(
    bundle: Path, tmp_path: Path
) -> None:
    whole = load_bundle(bundle)
    with torch.no_grad():
        whole.model.target_embedding.tokens.weight[5] = 0  # has no scale
    whole = replace(whole, weights=weights_of(whole.model))
    write_bundle(tmp_path / "quarter", whole, "int8")
    quarter = load_bundle(tmp_path / "quarter")
    assert quarter.weights.keys() == whole.weights.keys()
    for name, weight in quarter.weights.items():
        assert weight.dtype == np.float32
        if weight.ndim == 1:
            np.testing.assert_array_equal(weight, whole.weights[name])
            continue
        step = np.abs(whole.weights[name]).max(axis=1, keepdims=True).astype(np.float64) / 127
        assert (np.abs(weight - whole.weights[name]) <= step / 2 * 1.0001).all()
        assert np.abs(weight / np.where(step > 0, step, 1)).max() == pytest.approx(127)
    n_bytes = sum(tensor.nbytes for tensor in load_file(tmp_path / "quarter" / "model.safetensors").values())
    others = (weight.size if weight.ndim == 1 else len(weight) for weight in whole.weights.values())  # or scales
    assert n_bytes == 4 * sum(others) + sum(weight.size for weight in whole.weights.values() if weight.ndim == 2)
    # Nothing is lost by storing it so again.
    write_bundle(tmp_path / "again", quarter, "int8")
    for name, weight in load_bundle(tmp_path / "again").weights.items():
        np.testing.assert_allclose(weight, quarter.weights[name], rtol=1e-6)
    assert json.loads((tmp_path / "quarter" / "config.json").read_text())["precision"] == "int8"


def test_an_int8_bundle_with_other_scales_is_refused(bundle: Path, tmp_path: Path) -> None:
    write_bundle(tmp_path / "quarter", load_bundle(bundle), "int8")
    path = tmp_path / "quarter" / "model.safetensors"
    good = load_file(path)
    name = next(each for each in good if each.endswith(".scales"))
    for scales, message in (
        (good[name][1:], r"\.scales: shape \(\d+,\) instead of"),
        (good[name].half(), r"\.scales: type F16 instead of F32"),
        (good[name] * float("inf"), "not finite"),
        (good[name] * float("nan"), "not finite"),
        (None, r"missing: .*\.scales"),
    ):
        changed = {**good, name: scales} if scales is not None else {key: good[key] for key in good if key != name}
        save_file({key: value.contiguous() for key, value in changed.items()}, path)
        with pytest.raises(BundleError, match=message):
            load_bundle(tmp_path / "quarter", verify=False)


def test_weights_too_large_for_float16_are_told(bundle: Path, tmp_path: Path) -> None:
    whole = load_bundle(bundle)
    with torch.no_grad():
        whole.model.output_projection.bias[0] = 1e5
    with pytest.raises(ConfigError, match=r"too large for float16(.|\n)*output_projection\.bias"):
        write_bundle(tmp_path / "half", replace(whole, weights=weights_of(whole.model)), "float16")
    assert not (tmp_path / "half").exists()


def test_a_card_may_be_edited_and_removed(bundle: Path, tmp_path: Path) -> None:
    whole = load_bundle(bundle)
    write_bundle(tmp_path / "a", whole, card="# Tiny\n")
    (tmp_path / "a" / "README.md").write_text("# Huge\n")
    assert load_bundle(tmp_path / "a").config == whole.config
    (tmp_path / "a" / "README.md").unlink()
    assert load_bundle(tmp_path / "a").config == whole.config


def test_equal_models_are_equal_bytes(bundle: Path, tmp_path: Path) -> None:
    again = write_tiny_bundle(tmp_path / "again")
    assert [path.read_bytes() for path in sorted(again.rglob("*")) if path.is_file()] == [
        path.read_bytes() for path in sorted(bundle.rglob("*")) if path.is_file()
    ]


def test_a_bundle_can_be_moved_and_be_read_only(copy: Path, tmp_path: Path) -> None:
    moved = tmp_path / "with spaces and ümlauts 漢字"
    copy.rename(moved)
    for path in [*moved.rglob("*"), moved]:
        path.chmod(0o555)
    load_bundle(moved)
    for path in [moved, *moved.rglob("*")]:
        path.chmod(0o755)


def test_bundle_is_never_overwritten(copy: Path) -> None:
    bundle = load_bundle(copy)
    with pytest.raises(RunFolderError):
        save_bundle(copy, bundle.model, bundle.tokenizers, bundle.search, facts={})


def test_weights_that_are_not_finite_are_neither_saved_nor_loaded(copy: Path, tmp_path: Path) -> None:
    bundle = load_bundle(copy)
    with torch.no_grad():
        bundle.model.output_projection.bias[0] = float("nan")
    with pytest.raises(DivergedError, match=r"output_projection\.bias"):
        save_bundle(tmp_path / "nan", bundle.model, bundle.tokenizers, bundle.search, facts={})
    assert not (tmp_path / "nan").exists()
    weights = load_file(copy / "model.safetensors")
    weights["output_projection.bias"][0] = float("inf")
    save_file(weights, copy / "model.safetensors")
    remake_manifest(copy)
    with pytest.raises(BundleError, match=r"output_projection\.bias: not finite"):
        load_bundle(copy)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(data=st.data())
def test_every_flipped_bit_is_noticed(bundle: Path, tmp_path: Path, data: st.DataObject) -> None:
    names = sorted(path.relative_to(bundle) for path in bundle.rglob("*") if path.is_file())
    name = data.draw(st.sampled_from(names))
    content = bytearray((bundle / name).read_bytes())
    content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    shutil.rmtree(tmp_path / "flipped", ignore_errors=True)
    shutil.copytree(bundle, tmp_path / "flipped")
    (tmp_path / "flipped" / name).write_bytes(content)
    with pytest.raises(BundleError) as failure:
        load_bundle(tmp_path / "flipped")
    assert "flipped" in str(failure.value)


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "MANIFEST.json", "tokenizer/tokenizer.json"])
def test_every_missing_or_truncated_file_is_noticed(copy: Path, name: str) -> None:
    content = (copy / name).read_bytes()
    for broken in (b"", content[: len(content) // 2], content[:-1]):
        (copy / name).write_bytes(broken)
        with pytest.raises(BundleError):
            load_bundle(copy)
    (copy / name).unlink()
    with pytest.raises(BundleError):
        load_bundle(copy)


def test_manifest_may_be_missing_only_when_nobody_verifies(copy: Path) -> None:
    (copy / MANIFEST).unlink()
    with pytest.raises(BundleError, match="MANIFEST"):
        load_bundle(copy)
    load_bundle(copy, verify=False)


def test_a_file_outside_the_manifest_is_refused(copy: Path) -> None:
    (copy / "tokenizer" / "source.model").write_bytes(b"")
    with pytest.raises(BundleError, match=r"not listed.*source\.model"):
        load_bundle(copy)


def test_links_are_refused(copy: Path, tmp_path: Path) -> None:
    shutil.move(copy / "tokenizer", tmp_path / "elsewhere")
    (copy / "tokenizer").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BundleError):
        load_bundle(copy)


def test_a_folder_replaced_while_it_is_read_is_never_mixed(
    bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A copy of another model arrives between any two files; a run's best is found anew."""
    other = load_bundle(bundle)
    with torch.no_grad():
        other.model.output_projection.bias += 1
    save_bundle(tmp_path / "other", other.model, other.tokenizers, SearchConfig(beam_size=3), facts={})
    for number, (place, name) in enumerate(
        ((bundle_format, "read_json"), (module, "verify_folder"), (module, "load_tokenizers"), (module, "read_weights"))
    ):
        model = shutil.copytree(bundle, tmp_path / f"model-{number}")
        real = getattr(place, name)

        def replacing(*arguments: Any, real: Any = real, model: Path = model, **options: Any) -> Any:
            found = real(*arguments, **options)
            shutil.rmtree(model)
            shutil.copytree(tmp_path / "other", model)
            return found

        with monkeypatch.context() as patch:
            patch.setattr(place, name, replacing)
            with pytest.raises(BundleError, match=r"replaced while it was read|differs from its SHA-256"):
                load_bundle(model)
        assert load_bundle(model).search.beam_size == 3


def test_a_best_that_is_removed_for_a_better_one_is_followed(
    bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for step in (1, 2):
        shutil.copytree(bundle, tmp_path / "bundles" / f"step-{step}")
    set_pointer(tmp_path / "best", tmp_path / "bundles" / "step-1")
    real = module.verify_folder

    def late(folder: Path, **options: Any) -> dict[str, Any]:
        if folder.name == "step-1":
            set_pointer(tmp_path / "best", tmp_path / "bundles" / "step-2")
            shutil.rmtree(folder)
        return real(folder, **options)

    monkeypatch.setattr(module, "verify_folder", late)
    assert load_bundle(tmp_path).search == load_bundle(bundle).search


def test_a_run_folder_cannot_point_elsewhere(bundle: Path, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    set_pointer(tmp_path / "run" / "best", bundle)
    with pytest.raises(BundleError, match="points out of its folder"):
        find_bundle(tmp_path / "run")


def test_a_file_that_is_no_pointer_is_not_repeated(tmp_path: Path) -> None:
    for content in ("password", "a b\nc\n", "x" * 4_000):
        (tmp_path / "secret").write_text(content, encoding="utf-8")
        with pytest.raises(BundleError, match="a file that names no folder beside it") as caught:
            find_bundle(tmp_path / "secret")
        assert content[:8] not in str(caught.value).replace(str(tmp_path), "")


def test_newer_format_asks_for_a_newer_version(copy: Path) -> None:
    change_config(copy, lambda settings: settings.update(format_version=FORMAT_VERSION + 1))
    with pytest.raises(BundleError, match=f"needs a version .* >= {FORMAT_VERSION + 1}"):
        load_bundle(copy)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda settings: settings.update(format_version=True), "unknown format version True"),
        (lambda settings: settings.pop("precision"), "precision is missing"),
        (lambda settings: settings.update(precision="float8"), "unknown precision 'float8'"),
        (lambda settings: settings.update(precision="float16"), "type F32 instead of F16"),
        (lambda settings: settings.update(precision="int8"), "type F32 instead of I8"),
        (lambda settings: settings.update(path="/etc/passwd"), "unknown key 'path'"),
        (lambda settings: settings.pop("search"), "search is missing"),
        (lambda settings: settings["model"].update(d_modle=1), "did you mean 'd_model'"),
        (lambda settings: settings["model"].update(d_model="16"), "d_model"),
        (lambda settings: settings["model"].update(d_ff=64), r"shape \(32, 16\) instead of \(64, 16\)"),
        (lambda settings: settings["model"].update(n_encoder_layers=2), r"missing: encoder_layers\.1"),
        (lambda settings: settings["model"].update(tie="none"), "missing: output_projection"),
        (lambda settings: settings["model"].update(max_length=10**6, d_model=65536), r"shape .* instead of"),
        (lambda settings: settings["model"].update(source_vocab_size=10**12), "source_vocab_size"),
        (lambda settings: settings["model"].update(target_vocab_size=10**7, tie="none"), r"shape \(320,\) instead of"),
        (lambda settings: settings["search"].update(beam_size=0), "beam_size"),
    ],
)
def test_configurations_that_do_not_fit_are_refused(
    copy: Path, change: Callable[[dict[str, Any]], object], message: str
) -> None:
    change_config(copy, change)
    with pytest.raises(BundleError, match=message):
        load_bundle(copy)


def test_a_model_with_other_special_ids_than_its_tokenizers_is_not_saved(tmp_path: Path) -> None:
    tokenizers = tiny_tokenizers()
    other = SpecialIdPair(target=SpecialIds(pad=4))
    with pytest.raises(ConfigError, match="the special ids of the model are not those of the tokenizers; give the tok"):
        save_bundle(tmp_path / "bundle", tiny_model(tokenizers, 1, other), tokenizers, SearchConfig(), facts={})
    assert not (tmp_path / "bundle").exists()


@pytest.mark.parametrize(
    ("shape", "search"),
    [
        ({"d_model": 2, "d_ff": 200_000, "n_heads": 1}, {}),
        ({"positions": "rotary", "d_k": 65_536}, {}),
        ({"n_encoder_layers": 400}, {}),
        ({}, {"beam_size": 1000}),
        ({}, {"sample": True, "n_best": 1000}),
        ({"max_length": 10**6}, {"max_length": 10**6}),
        ({}, {"min_length": 24}),
    ],
    ids=str,
)
def test_what_would_take_memory_out_of_proportion_is_not_saved(
    tmp_path: Path, shape: dict[str, object], search: dict[str, object]
) -> None:
    tokenizers = tiny_tokenizers()
    model = tiny_model(tokenizers, **shape)
    with pytest.raises(ConfigError, match=r"out of proportion|more than 4,096|no room for the end mark"):
        save_bundle(tmp_path / "bundle", model, tokenizers, SearchConfig.model_validate(search), facts={})
    assert not (tmp_path / "bundle").exists()


def test_a_recurrent_decoder_needs_no_ram_for_the_tokens_that_it_has_read() -> None:
    longest = SearchConfig(max_length=4096, beam_size=64)
    shape = {"d_model": 64, "n_heads": 2, "max_length": 4096, "source_vocab_size": 50, "target_vocab_size": 50}
    assert disproportion(ModelConfig.model_validate(shape), longest) is not None
    assert disproportion(ModelConfig.model_validate({**shape, "decoder_layer": "ssru"}), longest) is None


def test_files_that_are_not_the_bundles_own_are_not_opened(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (copy / "extra").write_bytes(b"more")
    (copy / "tokenizer" / "extra").write_bytes(b"more")
    remake_manifest(copy)
    read: list[str] = []
    real = folders.sha256
    monkeypatch.setattr(folders, "sha256", lambda path: (read.append(path.name), real(path))[1])
    load_bundle(copy)
    assert sorted(read) == ["config.json", "joint.model", "model.safetensors", "tokenizer.json"]
    with open(copy / "model.safetensors", "ab") as file:
        file.truncate(10**9)
    monkeypatch.undo()
    manifest = json.loads((copy / MANIFEST).read_text())
    manifest["files"]["model.safetensors"]["size"] = 10**9
    (copy / MANIFEST).write_bytes(to_json({**manifest, "self": self_hash(manifest)}))
    with pytest.raises(BundleError, match="larger than"):
        load_bundle(copy)


def test_a_card_too_large_to_be_one_is_none(copy: Path) -> None:
    (copy / "README.md").write_text("# Tiny")
    assert card_of(copy) == "# Tiny"
    with open(copy / "README.md", "ab") as file:
        file.truncate(2**40)
    assert card_of(copy) is None


@pytest.mark.parametrize("by", [-1, 1])
def test_a_model_for_another_vocabulary_is_refused(tmp_path: Path, by: int) -> None:
    tokenizers = tiny_tokenizers()
    size = tokenizers.source.vocab_size + by
    model = tiny_model(tokenizers, source_vocab_size=size, target_vocab_size=size)
    save_bundle(tmp_path / "bundle", model, tokenizers, SearchConfig(), facts={})
    with pytest.raises(BundleError, match=r"320|entries"):
        load_bundle(tmp_path / "bundle")


def test_all_differences_of_the_weights_are_listed(copy: Path) -> None:
    weights = load_file(copy / "model.safetensors")
    weights["../../x"] = torch.zeros(2)
    del weights["output_projection.bias"]
    weights["decoder_layers.0.feed_forward.inner.bias"] = torch.zeros(3)
    weights["decoder_layers.0.feed_forward.outer.bias"] = torch.zeros(16).half()
    save_file(weights, copy / "model.safetensors")
    remake_manifest(copy)
    with pytest.raises(BundleError) as failure:
        load_bundle(copy)
    for problem in ("unknown: ../../x", "missing: output_projection.bias", "shape (3,) instead of (32,)", "type F16"):
        assert problem in failure.value.message


def test_pickle_is_refused(copy: Path, tmp_path: Path) -> None:
    rest = b"\0" * 5_000
    pickles = {
        "too small for": b"\x80\x04cos\nsystem\n.",
        "its head has": b"\x80\x04cos\nsystem\n." + rest,
        "not readable as safetensors": b"\x04\0\0\0\0\0\0\0\x80\x04N." + rest,
    }
    for message, content in pickles.items():
        (copy / "model.safetensors").write_bytes(content)
        remake_manifest(copy)
        with pytest.raises(BundleError, match=message):
            load_bundle(copy)
    (tmp_path / "model.pt").write_bytes(b"PK")
    with pytest.raises(BundleError, match="safetensors"):
        load_bundle(tmp_path / "model.pt")


def test_a_run_folder_means_its_best(bundle: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(bundle, run / "bundles" / "step-1")
    with pytest.raises(BundleError, match="no bundle"):
        find_bundle(run)
    (run / "config.yaml").touch()
    with pytest.raises(BundleError, match="no best model yet"):
        find_bundle(run)
    set_pointer(run / "best", run / "bundles" / "step-1")
    assert find_bundle(run) == find_bundle(run / "best") == (run / "bundles" / "step-1").resolve()
    # Where there are no links, a small file holds the path.
    (run / "best").unlink()
    (run / "best").write_text("bundles/step-1")
    assert find_bundle(run) == find_bundle(run / "best")
    assert load_bundle(run).facts["step"] == 1
    (run / "best").write_text("bundles/step-9")
    with pytest.raises(BundleError):
        load_bundle(run)


def test_what_is_there_instead_of_a_bundle_is_told(copy: Path, tmp_path: Path) -> None:
    (tmp_path / "model.pt").touch()
    (tmp_path / "pointer").write_text("copy")
    for name, what in (("", "no bundle in this folder"), ("model.pt", "a model is a folder, with its weights in")):
        with pytest.raises(BundleError, match=what):
            find_bundle(tmp_path / name)
    assert find_bundle(tmp_path / "pointer") == copy
    for name in ("config.json", MANIFEST):  # each alone shows what it was meant to be
        (copy / name).unlink()
        shutil.copytree(copy, tmp_path / name, symlinks=True)
        if name == "config.json":
            assert find_bundle(tmp_path / name) == tmp_path / name
        else:
            with pytest.raises(BundleError, match="no bundle in this folder"):
                find_bundle(tmp_path / name)


@pytest.mark.parametrize("name", ["no-such-model", "", "a\0b", "x" * 5000])
def test_unknown_names_are_told(name: str) -> None:
    with pytest.raises(BundleError):
        find_bundle(name)
