"""Imports from other programs, without these: round trips, and folders that are refused. tests/foreign runs them."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from shapes import HF_REFUSED, SHAPES, shaped_bundle
from tiny import PAIRS

from dragoman import Translator
from dragoman.bundle.bundle import Bundle, load_bundle
from dragoman.cli import program
from dragoman.errors import BundleError
from dragoman.exchange.export_folder import write_files
from dragoman.exchange.hugging_face_folder import folder_files
from dragoman.imports.hugging_face import import_hugging_face
from dragoman.imports.kinds import kind_of

WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"
Change = Callable[[Path], None]


def written(bundle: Bundle, folder: Path) -> Path:
    folder.mkdir()
    write_files(folder, folder_files(bundle))
    return folder


def edited(name: str, **changes: Any) -> Change:
    """Set keys of a JSON file; None removes one."""

    def edit(folder: Path) -> None:
        content = json.loads((folder / name).read_text()) | changes
        (folder / name).write_text(json.dumps({key: value for key, value in content.items() if value is not None}))

    return edit


def tensors(**changes: Any) -> Change:
    """Replace tensors, by the ends of their names; None removes one."""

    def edit(folder: Path) -> None:
        weights = load_file(folder / WEIGHTS)
        for end, change in changes.items():
            (name,) = [name for name in weights if name.endswith(end)] or [end]
            weights.pop(name, None)
            if change is not None:
                weights[name] = np.asarray(change)
        save_file(weights, folder / WEIGHTS)

    return edit


def content(name: str, text: bytes | str) -> Change:
    def edit(folder: Path) -> None:
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())

    return edit


def without(*names: str) -> Change:
    def edit(folder: Path) -> None:
        for name in names:
            (folder / name).unlink()

    return edit


def renamed(name: str, other: str) -> Change:
    def edit(folder: Path) -> None:
        (folder / name).rename(folder / other)

    return edit


def indexed(index: str) -> Change:
    """An index of shards in place of the weights."""

    def edit(folder: Path) -> None:
        without(WEIGHTS)(folder)
        content(INDEX, index)(folder)

    return edit


def unchanged(folder: Path) -> None:
    """Leave the folder as it is."""


def cut(length: int) -> Change:
    def edit(folder: Path) -> None:
        path = folder / WEIGHTS
        path.write_bytes(path.read_bytes()[:length])

    return edit


# -- round trips -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape not in HF_REFUSED])
def test_an_exported_model_comes_back_as_it_was(shape: str, tmp_path: Path) -> None:
    """Except that sines in turn become sines first, in the order of dimensions that the export gives them."""
    bundle = shaped_bundle(shape)
    back = import_hugging_face(written(bundle, tmp_path / "hf"))
    again = folder_files(back)
    assert again[WEIGHTS] == folder_files(bundle)[WEIGHTS]
    if bundle.config.positions != "sinusoidal":
        assert back.config.computes_as(bundle.config)
        assert back.weights.keys() == bundle.weights.keys()
        assert all(np.array_equal(back.weights[name], weight) for name, weight in bundle.weights.items())
    assert back.search == bundle.search
    sources = [source for source, _ in PAIRS]
    if shape == "many languages":  # whose source languages the folder does not name
        assert back.tokenizers.directions == (("mul", "mul"),)
        sources = [f">>zh<< {source}" for source in sources]
    else:
        assert back.tokenizers.equals(bundle.tokenizers)
    ours, theirs = (Translator([each], each.tokenizers).translate(sources) for each in (bundle, back))
    assert [each.text for each in ours] == [each.text for each in theirs]
    assert [each.score for each in ours] == pytest.approx([each.score for each in theirs], abs=1e-5)


# -- folders -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def hf(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return dict(folder_files(shaped_bundle("post, sines first")))


def imported(files: dict[str, bytes], folder: Path, change: Change, *options: str) -> tuple[int, Path]:
    (folder / "hf").mkdir()
    write_files(folder / "hf", files)
    change(folder / "hf")
    return program.run(["import", str(folder / "hf"), "-o", str(folder / "new"), *options]), folder / "new"


def nested(depth: int) -> str:
    return '{"a":' * depth + "1" + "}" * depth


FOLDERS: dict[str, tuple[Change, str]] = {
    "no folder": (renamed("../hf", "../gone"), "no such folder"),
    "no description": (without("config.json"), "no config.json in this folder"),
    "bad JSON": (content("config.json", "{"), "not readable as JSON"),
    "deep JSON": (content("config.json", nested(30_000)), "not readable as JSON"),
    "no object": (content("config.json", "[]"), "not a JSON object"),
    "another model": (edited("config.json", model_type="bart", architectures=["BartModel"]), "of the kind BartModel"),
    "a kind without class": (edited("config.json", model_type="t5", architectures=None), "of the kind t5"),
    "no kind": (edited("config.json", model_type=None, architectures=None), "has no model_type, which says what model"),
    "no type": (edited("config.json", model_type=None), "has no model_type, which says what model this is"),
    "a bundle": (edited("config.json", format_version=1, model_type=None), "a bundle of dragoman, which needs no"),
    "no width": (edited("config.json", d_model=None), "settings are missing or wrong"),
    "a text as width": (edited("config.json", d_model="16"), "settings are missing or wrong"),
    "an odd width": (edited("config.json", d_model=17), "settings are missing or wrong"),
    "a huge width": (edited("config.json", d_model=10**11), "settings are missing or wrong"),
    "a million layers": (edited("config.json", encoder_layers=10**6), "settings are missing or wrong"),
    "more layers": (edited("config.json", encoder_layers=1_000), "the tensors are not those of its config.json"),
    "a huge vocabulary": (edited("config.json", vocab_size=10**7), "the tensors are not those of its config.json"),
    "an unknown activation": (edited("config.json", activation_function="mish"), "dragoman has no such model"),
    "other heads": (edited("config.json", decoder_attention_heads=4), "dragoman has no such model"),
    "a wrong search": (edited("generation_config.json", num_beams=0), "settings are missing or wrong"),
    "padding elsewhere": (
        edited("config.json", pad_token_id=5),
        "<pad> has the id 0 in the vocabulary, 5 in",
    ),
    "no padding": (edited("config.json", pad_token_id=None), "settings are missing or wrong"),
    "equal ids": (edited("config.json", eos_token_id=0, pad_token_id=0), "two special ids are equal"),
    "a start outside": (edited("generation_config.json", decoder_start_token_id=10**6), "outside a vocabulary"),
    "no weights": (without(WEIGHTS), f"no {WEIGHTS} or pytorch_model.bin in this folder"),
    "half of the weights": (cut(20_000), "not readable as safetensors"),
    "half of the head": (cut(500), "not readable as safetensors"),
    "nothing in the weights": (cut(0), "not readable as safetensors"),
    "an endless head": (content(WEIGHTS, b"\xff" * 7 + b"\x7f{}"), "its head has 9,223,372,036,854,775,807 bytes"),
    "a head without JSON": (
        content(WEIGHTS, bytes([9, *[0] * 7]) + b"not JSON."),
        "not readable as safetensors",
    ),
    "a missing tensor": (tensors(**{"encoder.layers.1.fc1.bias": None}), "missing: model.encoder.layers.1.fc1.bias"),
    "another shape": (tensors(final_logits_bias=np.zeros((1, 3), np.float32)), "final_logits_bias: shape (1, 3) inst"),
    "integers": (tensors(final_logits_bias=np.zeros((1, 3), np.int64)), "final_logits_bias: numbers of the kind I64"),
    "start of no kind": (
        edited("config.json", decoder_start_token_id="a"),
        "start_token_id: input should be a valid integer, got 'a'",
    ),
    "start of two kinds": (
        edited("generation_config.json", decoder_start_token_id=[1]),
        "start_token_id: input should be",
    ),
    "no numbers": (tensors(**{"encoder.layers.0.fc1.bias": np.full(32, np.nan, np.float32)}), "not finite"),
    "no pieces": (without("target.spm"), "a file of the tokenizer is missing"),
    "no table": (without("vocab.json"), "a file of the tokenizer is missing"),
    "a wrong model of pieces": (content("source.spm", b"x" * 99), "SentencePiece cannot read it"),
    "a small table": (content("vocab.json", '{"</s>": 0}'), "it has 1 pieces, and the model 320"),
    "a table of texts": (edited("vocab.json", **{"</s>": "0"}), "not a table of pieces and their ids"),
    "a table with gaps": (
        edited("vocab.json", **{"</s>": 999}),
        "</s> has the id 999 in the vocabulary, 3 in",
    ),
    "an id twice": (edited("vocab.json", **{"a": 4, "e": 4}), "the ids are not 0, 1, 2 and so on, each once"),
    "no unknown token": (edited("tokenizer_config.json", unk_token="<oov>"), "<oov> is missing in the vocabulary"),
    "a wrong index": (indexed("{}"), "which file"),
    "a way out": (indexed('{"weight_map": {"a": "../a.safetensors"}}'), "it names '../a.safetensors', no .safetensors"),
    "a name that is too long": (
        indexed(json.dumps({"weight_map": {"a": "a" * 300 + ".safetensors"}})),
        "it names 'aaaa",
    ),
    "a missing shard": (indexed('{"weight_map": {"a": "a.safetensors"}}'), "a file of the index is missing"),
}


@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_is_refused_in_one_line(name: str, hf: dict[str, bytes], tmp_path: Path, capsys: Any) -> None:
    change, problem = FOLDERS[name]
    code, _ = imported(hf, tmp_path, change)
    head, *details = capsys.readouterr().err.splitlines()
    assert code == 3
    assert problem in "\n".join([head, *details])
    assert head.startswith("error: ")
    assert all(line.startswith("  ") for line in details)
    assert [path.name for path in tmp_path.iterdir()] in (["hf"], ["gone"])


def test_a_file_is_no_folder_of_a_model(tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("A man.")
    with pytest.raises(BundleError, match="this is no folder"):
        kind_of(tmp_path / "t.txt")


@pytest.mark.parametrize("name", ["no numbers", "start of no kind", "start of two kinds"])
def test_one_problem_takes_one_line(name: str, hf: dict[str, bytes], tmp_path: Path, capsys: Any) -> None:
    imported(hf, tmp_path, FOLDERS[name][0])
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("name", ["rust_model.pt", "tf_model.h5", "flax_model.msgpack"])
def test_weights_of_other_formats_are_refused_with_advice(
    name: str, hf: dict[str, bytes], tmp_path: Path, capsys: Any
) -> None:
    code, _ = imported(hf, tmp_path, renamed(WEIGHTS, name))
    told = capsys.readouterr().err
    assert code == 3
    assert told.count("\n") == 1
    assert "save the model as safetensors with transformers" in told
    assert not (tmp_path / "new").exists()


def test_other_tensors_are_told(hf: dict[str, bytes], tmp_path: Path, capsys: Any) -> None:
    zeros = {f"extra.{number}": np.zeros(1, np.int64 if number else np.float32) for number in range(5)}
    code, new = imported(hf, tmp_path, tensors(**zeros))
    assert code == 0
    assert "left out, as transformers does: extra.0, extra.1, extra.2 and 2 more" in capsys.readouterr().err
    assert load_bundle(new).config.positions == "halves"


def test_a_linked_folder_of_a_cache_is_read(hf: dict[str, bytes], tmp_path: Path) -> None:
    def link(folder: Path) -> None:
        blobs = folder.with_name("blobs")
        folder.rename(blobs)
        folder.mkdir()
        for number, path in enumerate(sorted(blobs.iterdir())):
            blob = path.rename(blobs / str(number))
            (folder / path.name).symlink_to(blob)

    code, new = imported(hf, tmp_path, link)
    assert code == 0
    assert load_bundle(new).tokenizers.languages == ("en", "de")


@pytest.mark.parametrize("precision", ["float16", "int8"])
def test_a_smaller_bundle_is_written(precision: str, hf: dict[str, bytes], tmp_path: Path) -> None:
    code, new = imported(hf, tmp_path, unchanged, "--precision", precision, "--source-lang", "fr")
    assert code == 0
    assert json.loads((new / "config.json").read_text())["precision"] == precision
    assert load_bundle(new).tokenizers.languages == ("fr", "de")


def test_an_output_that_exists_is_kept(hf: dict[str, bytes], tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "new").mkdir()
    code, new = imported(hf, tmp_path, unchanged)
    assert code == 1
    assert "the output exists" in capsys.readouterr().err
    assert not [*new.iterdir()]


# -- languages and searches --------------------------------------------------------------------------------------------


def tagged(*codes: str, **settings: Any) -> Change:
    """Rename pieces into tags."""

    def edit(folder: Path) -> None:
        table = json.loads((folder / "vocab.json").read_text())
        letters = [piece for piece in table if piece.startswith("<0x")]
        for code, piece in zip(codes, letters, strict=False):
            table[f">>{code}<<"] = table.pop(piece)
        (folder / "vocab.json").write_text(json.dumps(table))
        edited("tokenizer_config.json", **settings)(folder)

    return edit


def test_each_tag_is_a_direction(hf: dict[str, bytes], tmp_path: Path, capsys: Any) -> None:
    code, new = imported(hf, tmp_path, tagged("deu", "cmn_Hans", "x@y", source_lang="eng", target_lang="gmw"))
    assert code == 0
    assert "dragoman translate -m" in capsys.readouterr().err
    bundle = load_bundle(new)
    assert bundle.tokenizers.directions == (("eng", "cmn_Hans"), ("eng", "deu"))
    (one,) = Translator([bundle], bundle.tokenizers).translate(["A man."], target_lang="deu")
    (same,) = Translator([bundle], bundle.tokenizers).translate([">>deu<< A man."])
    assert (one.text, one.score) == (same.text, same.score)


@pytest.mark.parametrize(
    ("options", "directions"),
    [
        ((), (("mul", "mul"),)),
        (("--source-lang", "en"), (("en", "deu"), ("en", "fra"))),
        (("--target-lang", "fra"), (("mul", "fra"),)),
    ],
)
def test_a_source_that_nobody_names_leaves_the_tags_to_users(
    options: tuple[str, ...], directions: object, hf: dict[str, bytes], tmp_path: Path, capsys: Any
) -> None:
    code, new = imported(hf, tmp_path, tagged("deu", "fra", source_lang="mul", target_lang="mul"), *options)
    assert code == 0
    assert ("begin each text with the language" in capsys.readouterr().err) == (not options)
    assert load_bundle(new).tokenizers.directions == directions


def test_a_code_that_is_none_is_refused(hf: dict[str, bytes], tmp_path: Path, capsys: Any) -> None:
    code, new = imported(hf, tmp_path, unchanged, "--source-lang", "English")
    assert code == 2
    assert "'English' is no language code" in capsys.readouterr().err
    assert not new.exists()


def test_the_longest_translation_comes_back(tmp_path: Path) -> None:
    bundle = shaped_bundle("post")
    for length in (20, 39, None):
        search = bundle.search.model_copy(update={"max_length": length})
        back = import_hugging_face(written(replace(bundle, search=search), tmp_path / f"{length}"))
        assert back.search.max_length == (None if length == 39 else length)  # the model has no more positions


def test_a_search_is_taken_over_as_far_as_it_goes(hf: dict[str, bytes], tmp_path: Path, capsys: Any) -> None:
    change = edited("generation_config.json", num_beams=6, max_length=20, length_penalty=0.5, no_repeat_ngram_size=3)
    code, new = imported(hf, tmp_path, change)
    assert code == 0
    assert "no_repeat_ngram_size 3 is left out" in capsys.readouterr().err
    search = load_bundle(new).search
    assert (search.beam_size, search.max_length, search.length_penalty) == (6, 19, 0.5)
