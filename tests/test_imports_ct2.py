"""Models of CTranslate2 and packages of Argos Translate as bundles, and files that are refused."""

import io
import json
import stat
import struct
import tracemalloc
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ctranslate2_folders import (
    ALIASES,
    Variables,
    folder_files,
    in_int8,
    model_file,
    package_files,
    small_bundle,
    text,
    variables_of,
    write_folder,
    zipped,
)
from published import Published, publishing
from tiny import many_tokenizers, tiny_bundle

from dragoman.bundle.bundle import Bundle, load_bundle, write_bundle
from dragoman.bundle.named_models import named_models
from dragoman.cli import program
from dragoman.errors import ConfigError, DragomanError
from dragoman.exchange.obstacles import onnx_obstacles
from dragoman.imports.ctranslate2 import import_ctranslate2
from dragoman.imports.kinds import kind_of

LANGUAGES = ("en", "de")


@pytest.fixture(scope="module")
def bundle() -> Bundle:
    return small_bundle()


@pytest.fixture(scope="module")
def files(bundle: Bundle) -> dict[str, bytes]:
    return folder_files(bundle)


def same(bundle: Bundle, other: Bundle, tolerance: float = 0) -> bool:
    return bundle.weights.keys() == other.weights.keys() and all(
        np.allclose(weight, other.weights[name], 0, tolerance) for name, weight in bundle.weights.items()
    )


# -- what is read ------------------------------------------------------------------------------------------------------


def test_weights_and_tokens_come_back(bundle: Bundle, files: dict[str, bytes], tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "ct2", files)
    assert kind_of(folder).name == "CTranslate2"
    found = kind_of(folder).read(folder, LANGUAGES)
    assert same(found, bundle)
    assert found.config.computes_as(bundle.config.model_copy(update={"max_length": 512, "final_norm": True}))
    line = "A man is riding a horse."
    assert found.tokenizers.source.encode(line) == bundle.tokenizers.source.encode(line)
    assert found.tokenizers.special_ids == bundle.tokenizers.special_ids


def test_the_epsilon_of_norms_is_theirs(bundle: Bundle, tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "ct2", folder_files(bundle, layer_norm_epsilon=1e-7))
    assert import_ctranslate2(folder, LANGUAGES).config.norm_epsilon == 1e-7


@pytest.mark.parametrize("version", [2, 3, 4, 5])
def test_older_versions_are_read(version: int, bundle: Bundle, files: dict[str, bytes], tmp_path: Path) -> None:
    """Their settings are variables of the file, and those of both sides have one name."""
    variables = variables_of(bundle)
    for name in ("pre_norm", "activation", "num_heads"):
        variables[name] = variables.pop(f"encoder/{name}").astype(np.int8)
        del variables[f"decoder/{name}"]
    variables["eos_token"] = np.frombuffer(b"</s>", np.int8)
    variables["with_source_eos"] = np.array(1, np.int8)
    aliases = ALIASES
    if version < 3:
        variables |= {name: variables[other] for name, other in ALIASES.items()}
    content = model_file(variables, aliases, version=version, revision=4)
    rest = {name: files[name] for name in ("sentencepiece.model",)}
    pieces = json.loads(files["shared_vocabulary.json"])
    table = {"shared_vocabulary.txt": "".join(f"{piece}\n" for piece in pieces).encode()}
    folder = write_folder(tmp_path / "ct2", {**rest, **table, "model.bin": content})
    assert same(import_ctranslate2(folder, LANGUAGES), bundle)


def test_whole_numbers_stay_what_they_are(bundle: Bundle, files: dict[str, bytes], tmp_path: Path) -> None:
    variables = in_int8(variables_of(bundle))
    folder = write_folder(tmp_path / "ct2", {**files, "model.bin": model_file(variables)})
    found = import_ctranslate2(folder, LANGUAGES)
    assert same(found, bundle, 0.02)
    write_bundle(tmp_path / "bundle", found, "int8")
    assert same(load_bundle(tmp_path / "bundle"), found, 1e-6)


def test_sources_of_opennmt_have_no_end(bundle: Bundle, tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "ct2", folder_files(bundle, add_source_eos=False))
    found = import_ctranslate2(folder, LANGUAGES)
    assert not found.tokenizers.source.special_ids.has_end
    assert found.tokenizers.target.special_ids == bundle.tokenizers.target.special_ids
    assert found.tokenizers.source.special_ids.ended([7, 8]) == [7, 8, 0]
    assert found.tokenizers.source.special_ids.ended([]) == [1, 0]  # there is something to attend to
    write_bundle(tmp_path / "bundle", found)
    assert load_bundle(tmp_path / "bundle").tokenizers.equals(found.tokenizers)
    assert [each.setting for each in onnx_obstacles(found)] == ["special_ids.source.end"]


def test_a_package_of_a_model_of_several_languages_keeps_its_tags(tmp_path: Path) -> None:
    bundle = tiny_bundle(many_tokenizers())
    content = package_files(bundle)
    config = {**json.loads(content["model/config.json"]), "add_source_bos": True, "bos_token": ">>de<<"}
    path = tmp_path / "en_de.argosmodel"
    path.write_bytes(zipped({**content, "model/config.json": json.dumps(config).encode()}))
    tokenizers = kind_of(path).read(path, (None, None)).tokenizers
    assert {("en", "de"), ("en", "zh")} <= {*tokenizers.directions}
    line = ">>de<< A man."
    assert tokenizers.source.encode(line) == bundle.tokenizers.source.encode(line)


def test_a_folder_with_tags_keeps_all_its_target_languages(tmp_path: Path) -> None:
    bundle = tiny_bundle(many_tokenizers())
    folder = write_folder(tmp_path / "ct2", folder_files(bundle))
    assert {("en", "de"), ("en", "zh")} <= {*import_ctranslate2(folder, ("en", None)).tokenizers.directions}
    assert import_ctranslate2(folder, ("en", "de")).tokenizers.directions == (("en", "de"),)
    with pytest.raises(ConfigError, match=r"give --source-lang$"):
        import_ctranslate2(folder, (None, None))


@pytest.mark.parametrize("top", ["translate-en_de-1_2/", ""])
@pytest.mark.parametrize("place", ["file", "folder of a file", "folder"])
def test_a_package_says_its_languages(place: str, top: str, bundle: Bundle, tmp_path: Path) -> None:
    content = package_files(bundle, from_code="en", to_code="zt")
    path = tmp_path / "x.argosmodel"
    if place == "folder":
        path = tmp_path / "package"
        (path / "model").mkdir(parents=True)
        write_folder(path, content)
    else:
        path.write_bytes(zipped({**content, "stanza/../../../evil": b"x"}, top))
        path = tmp_path if place == "folder of a file" else path
    found = kind_of(path).read(path, (None, None))
    assert found.tokenizers.directions == (("en", "zh-Hant"),)
    assert same(found, bundle)
    assert (found.search.beam_size, found.search.length_penalty) == (4, 0.2)
    assert not list(tmp_path.parent.glob("evil"))


def test_a_package_is_fetched_by_its_name(bundle: Bundle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRAGOMAN_MODELS", str(tmp_path / "models"))
    with publishing() as published:
        monkeypatch.setenv("ARGOS_PACKAGE_INDEX", published.address)
        publish(published, bundle)
        assert program.run(["get", "argos:en-de"]) == 0
        asked = [path for _, path, _ in published.asked]
    assert asked == ["/index.json", "/new.argosmodel"]
    assert [path.name for path in (tmp_path / "models").iterdir()] == ["argos-en-de"]
    assert named_models()["argos-en-de"] == tmp_path / "models" / "argos-en-de"
    (tmp_path / "text").write_text("A man is riding a horse.\n")
    for name in ("argos:en-de", "argos-en-de"):
        assert program.run(["translate", "-m", name, "-i", str(tmp_path / "text"), "-o", "-"]) == 0


def test_an_older_package_that_was_left_is_no_hindrance(
    bundle: Bundle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = tmp_path / "models" / ".argos-en-de.files"
    left.mkdir(parents=True)
    (left / "en-de-1.9.argosmodel").write_bytes(zipped(package_files(bundle)))
    monkeypatch.setenv("DRAGOMAN_MODELS", str(tmp_path / "models"))
    with publishing() as published:
        monkeypatch.setenv("ARGOS_PACKAGE_INDEX", published.address)
        publish(published, bundle)
        assert program.run(["get", "argos:en-de"]) == 0
    assert [path.name for path in (tmp_path / "models").iterdir()] == ["argos-en-de"]


def publish(published: Published, bundle: Bundle) -> None:
    entry = {"from_code": "en", "to_code": "de"}
    links = [[f"{published.address}/{name}.argosmodel"] for name in ("old", "new")]
    other = {"package_version": "3.0", "from_code": "en", "to_code": "fr", "links": []}
    packages = [
        {**entry, "package_version": "1.9", "links": links[0]},
        {**entry, "package_version": "1.10", "links": ["ipfs://Qm", *links[1]]},
        other,
    ]
    published.files["/index.json"] = json.dumps(packages).encode()
    published.files["/new.argosmodel"] = zipped(package_files(bundle))


@pytest.mark.parametrize(
    ("index", "pair", "problem"),
    [
        ("[]", "en-xx", "Argos has no package from en to xx"),
        ('[{"from_code": "fr", "to_code": "de"}]', "fr-en", "it has fr-de"),
        ("{}", "en", "is not a pair of languages"),
        ('[{"from_code": "en", "to_code": "de"}]', "en-de", "another form"),
        ('[{"from_code": "en", "to_code": "de", "package_version": "../1", "links": ["http://x"]}]', "en-de", "form"),
        ('[{"from_code": "en", "to_code": "de", "package_version": "1", "links": ["file:///x"]}]', "en-de", "form"),
        ('["x"]', "en-de", "another form"),
        ("7", "en-de", "another form"),
    ],
)
def test_a_strange_index_is_one_line(
    index: str, pair: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setenv("DRAGOMAN_MODELS", str(tmp_path / "models"))
    with publishing() as published:
        monkeypatch.setenv("ARGOS_PACKAGE_INDEX", f"{published.address}/")
        published.files["/index.json"] = index.encode()
        assert program.run(["get", f"argos:{pair}"]) in (1, 2)
    told = capsys.readouterr().err
    assert problem in told
    assert told.count("\n") == 1


# -- what is refused ---------------------------------------------------------------------------------------------------

Change = Callable[[Variables], Variables | None]


def changed(**changes: Any) -> Callable[[Bundle, dict[str, bytes]], dict[str, bytes]]:
    """A recipe: the model file with other arguments; `change` edits the variables."""

    def make(bundle: Bundle, files: dict[str, bytes]) -> dict[str, bytes]:
        options = dict(changes)
        variables = variables_of(bundle)
        change, edit = options.pop("change", None), options.pop("edit", None)
        variables = (change(variables) if change else None) or variables
        content = model_file(variables, options.pop("aliases", ALIASES), **options)
        return {**files, "model.bin": edit(content) if edit else content}

    return make


def other(**contents: Any) -> Callable[[Bundle, dict[str, bytes]], dict[str, bytes]]:
    """A recipe: other files, or none, by their names with `_` for the dot."""
    named = {name[::-1].replace("_", ".", 1)[::-1]: content for name, content in contents.items()}

    def make(bundle: Bundle, files: dict[str, bytes]) -> dict[str, bytes]:
        together = {**files, **named}
        return {name: content for name, content in together.items() if content is not None}

    return make


def settings(**changes: object) -> Callable[[Bundle, dict[str, bytes]], dict[str, bytes]]:
    return lambda bundle, files: {
        **files,
        "config.json": json.dumps({**json.loads(files["config.json"]), **changes}).encode(),
    }


def put(name: str, values: Any) -> Change:
    return lambda variables: variables | {name: np.asarray(values)}


def without(name: str) -> Change:
    return lambda variables: {key: values for key, values in variables.items() if key != name}


def scaled(variables: Variables, scales: Any) -> Variables:
    return variables | {FFN: np.ones((32, 16), np.int8), f"{FFN}_scale": scales.astype(np.float32)}


FFN = "encoder/layer_0/ffn/linear_0/weight"
RECIPES = {
    "empty": (other(model_bin=b""), "it ends before byte"),
    "text": (other(model_bin=b"hello, this is no model at all"), "not a model file of CTranslate2"),
    "version 1": (changed(version=1), "version 1; 2 to 6 are read"),
    "version 7": (changed(version=7), "version 7; 2 to 6 are read"),
    "truncated": (changed(edit=lambda content: content[:-200]), "it ends before byte"),
    "truncated in numbers": (changed(edit=lambda content: content[:5_000]), "it ends before byte"),
    "bytes follow": (changed(edit=lambda content: content + b"12345678"), "8 bytes follow its end"),
    "Whisper": (changed(name="WhisperSpec"), "a model of the kind WhisperSpec"),
    "decoder only": (changed(name="TransformerDecoderSpec"), "a model of the kind TransformerDecoderSpec"),
    "revision 99": (changed(revision=99), "revision 99 of TransformerSpec"),
    "revision 1": (changed(revision=1), "revision 1 of TransformerSpec"),
    "too many variables": (changed(counts=(2**31, 0)), "variables or aliases"),
    "one variable more": (changed(counts=(1, 0)), "not a model file of CTranslate2"),
    "too many aliases": (changed(counts=(0, 2**31)), "variables or aliases"),
    "alias to nothing": (changed(aliases={**ALIASES, "x": "nothing"}), "there is no such variable"),
    "alias to an alias": (changed(aliases={**ALIASES, "x": "decoder/projection/weight"}), "no such variable"),
    "aliases in a circle": (changed(aliases={"x": "y", "y": "x"}), "no such variable"),
    "alias of itself": (changed(aliases={"x": "x"}), "no such variable"),
    "alias of another name": (changed(aliases={**ALIASES, FFN: "decoder/embeddings/weight"}), "one with this name"),
    "variable twice": (changed(edit=lambda content: twice(content)), "two variables have the name"),
    "long name": (changed(change=put("x" * 5_000, np.ones(1, np.float32))), "a name of 5,001 bytes"),
    "name without an end": (
        changed(edit=lambda content: content.replace(b"ffn\0", b"ffn_", 1).replace(b"Spec\0", b"Spec_")),
        "does not end with a zero",
    ),
    "name of no text": (
        changed(edit=lambda content: content.replace(b"Transformer", b"\xff\xfeansformer", 1)),
        "not a model file",
    ),
    "many axes": (changed(change=put("x", np.zeros((1, 1, 1, 1, 1), np.float32))), "has 5 axes"),
    "size of another shape": (changed(edit=lambda content: larger(content)), "bytes, and its shape"),
    "huge shape": (changed(edit=lambda content: larger(content, 2**32 - 1)), "bytes, and its shape"),
    "unknown numbers": (changed(edit=lambda content: other_kind(content)), "numbers of the kind 77"),
    "no scale": (changed(change=put(FFN, np.ones((32, 16), np.int8))), "whole numbers without their scales"),
    "scale of another shape": (
        changed(change=lambda variables: scaled(variables, np.ones(7))),
        "whole numbers without their scales",
    ),
    "NaN scales": (
        changed(change=lambda variables: scaled(variables, np.full(32, np.nan))),
        "weights that are not finite",
    ),
    "scales of zero": (
        changed(change=lambda variables: scaled(variables, np.zeros(32))),
        "weights that are not finite",
    ),
    "NaN": (
        changed(change=put("decoder/projection/bias", np.full(320, np.nan, np.float32))),
        "weights that are not finite",
    ),
    "missing variable": (changed(change=without(FFN)), "settings are missing or wrong"),
    "missing norm": (changed(change=without("decoder/layer_norm/gamma")), "not known here"),
    "unknown variable": (
        changed(change=put("encoder/layer_0/self_attention/relative_position_keys", np.ones((3, 8), np.float32))),
        "relative_position_keys is not known here",
    ),
    "norm of embeddings": (
        changed(change=put("encoder/layernorm_embedding/gamma", np.ones(16, np.float32))),
        "layernorm_embedding",
    ),
    "a layer apart": (
        changed(change=put("encoder/layer_7/ffn/linear_0/weight", np.ones((32, 16), np.float32))),
        "dragoman has no such model",
    ),
    "many names of one matrix": (
        changed(aliases={**ALIASES, **{f"encoder/layer_{n}/ffn/x": "decoder/embeddings/weight" for n in range(2_000)}}),
        "more than 16 times its bytes",
    ),
    "activation": (changed(change=put("encoder/activation", np.int8(1))), "activation differs"),
    "sigmoid GELU": (
        changed(
            change=lambda variables: (
                variables | {f"{side}/activation": np.array(4, np.int8) for side in ("encoder", "decoder")}
            )
        ),
        "the activation sigmoid-gelu",
    ),
    "scale of embeddings": (changed(change=put("encoder/scale_embeddings", np.float32(3))), "embeddings times 3"),
    "ALiBi": (changed(change=put("decoder/alibi", np.int8(1))), "alibi 1"),
    "heads that do not divide": (changed(change=put("encoder/num_heads", np.int16(5))), "num_heads differs"),
    "heads of no number": (changed(change=put("encoder/num_heads", np.float32("nan"))), "encoder/num_heads is nan"),
    "heads of several widths": (
        changed(change=lambda variables: variables | {f"x/{n}/head_dim": np.array(n, np.int16) for n in (7, 8)}),
        "head_dim differs between layers",
    ),
    "no heads": (
        changed(
            change=lambda variables: (
                variables | {f"{side}/num_heads": np.array(0, np.int16) for side in ("encoder", "decoder")}
            )
        ),
        "settings are missing or wrong",
    ),
    "no vocabulary": (other(shared_vocabulary_json=None), "no vocabulary of the source"),
    "features": (other(shared_vocabulary_json=None, source_1_vocabulary_json=b"[]"), "several inputs for each word"),
    "short vocabulary": (other(shared_vocabulary_json=b'["<unk>", "</s>"]'), "the source vocabulary has 2 pieces"),
    "vocabulary of numbers": (other(shared_vocabulary_json=b"[1, 2]"), "not a list of pieces"),
    "vocabulary of another kind": (other(shared_vocabulary_json=b"{}"), "not a list of pieces"),
    "deep vocabulary": (other(shared_vocabulary_json=b"[" * 100_000), "not a list of pieces"),
    "piece twice": (
        lambda bundle, files: {**files, "shared_vocabulary.json": repeated(files["shared_vocabulary.json"])},
        "a word is there twice",
    ),
    "other pieces": (
        lambda bundle, files: {
            **files,
            "shared_vocabulary.json": json.dumps(["<blank>", "<unk>", "<s>", "</s>", *map(str, range(316))]).encode(),
        },
        "the vocabulary has",
    ),
    "no tokenizer": (other(sentencepiece_model=None), "CTranslate2 keeps no tokenizer"),
    "two tokenizers": (other(sentencepiece_model=None, a_model=b"x", b_model=b"x"), "(a.model, b.model)"),
    "subword-nmt": (other(sentencepiece_model=None, bpe_model=b"#version: 0.2\ne n\n"), "subword-nmt"),
    "subword-nmt 0.1": (other(sentencepiece_model=None, bpe_model="t h\nä n</w>\n".encode()), "subword-nmt"),
    "no SentencePiece model": (other(sentencepiece_model=b"\x0a\xff\xff\xff\xff\xff"), "SentencePiece cannot read it"),
    "no settings": (other(config_json=None), "file not found"),
    "settings of no JSON": (other(config_json=b"{"), "not readable as JSON"),
    "marks of numbers": (settings(eos_token=7), "its special tokens are no pieces"),
    "unknown mark": (settings(eos_token="<end>"), "no piece '<end>'"),
    "start of the caller": (settings(decoder_start_token=None), "starts with what the caller says"),
    "a piece before each source": (
        settings(add_source_bos=True, bos_token="en"),
        "each source begins with 'en'",
    ),
    "epsilon of no number": (settings(layer_norm_epsilon="small"), "settings are missing or wrong"),
}


def twice(content: bytes) -> bytes:
    """Give a variable the name of another one."""
    return content.replace(b"decoder/pre_norm\0", b"encoder/pre_norm\0", 1)


def larger(content: bytes, size: int = 33) -> bytes:
    place = content.index(text(FFN)) + len(text(FFN)) + 1
    return content[:place] + struct.pack("<I", size) + content[place + 4 :]


def other_kind(content: bytes) -> bytes:
    place = content.index(text(FFN)) + len(text(FFN)) + 9
    return content[:place] + bytes([77]) + content[place + 1 :]


def repeated(content: bytes) -> bytes:
    pieces = json.loads(content)
    return json.dumps([*pieces[:-1], pieces[-2]]).encode()


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_damaged_folder_is_one_line(recipe: str, bundle: Bundle, files: dict[str, bytes], tmp_path: Path) -> None:
    make, problem = RECIPES[recipe]
    folder = write_folder(tmp_path / "ct2", make(bundle, files))
    tracemalloc.start()
    try:
        with pytest.raises(DragomanError) as caught:
            kind_of(folder).read(folder, LANGUAGES)
        assert tracemalloc.get_traced_memory()[1] < 30_000_000
    finally:
        tracemalloc.stop()
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_error_names_the_package_and_not_where_it_was_unpacked(files: dict[str, bytes], tmp_path: Path) -> None:
    path = tmp_path / "en_de.argosmodel"
    metadata = json.dumps({"from_code": "en", "to_code": "de"}).encode()
    path.write_bytes(zipped({"metadata.json": metadata, "model/model.bin": files["model.bin"]}))
    with pytest.raises(DragomanError, match="file not found") as caught:
        kind_of(path).read(path, (None, None))
    assert f": {path}/model/config.json" in str(caught.value) == caught.value.message


def test_languages_are_needed(files: dict[str, bytes], tmp_path: Path, capsys: Any) -> None:
    folder = write_folder(tmp_path / "ct2", files)
    assert program.run(["import", str(folder), "-o", str(tmp_path / "out")]) == 2
    assert "give --source-lang and --target-lang" in capsys.readouterr().err


def bomb() -> bytes:
    return zipped({"metadata.json": b"{}", "model/model.bin": bytes(200_000_000)})


def doubled(content: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO(zipped(content))
    with zipfile.ZipFile(buffer, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("en_de/metadata.json", b"{}")
    return buffer.getvalue()


def linked(content: Mapping[str, bytes], name: str = "en_de/model/model.bin") -> bytes:
    buffer = io.BytesIO(zipped({path: each for path, each in content.items() if path != "model/model.bin"}))
    with zipfile.ZipFile(buffer, "a") as archive:
        entry = zipfile.ZipInfo(name)
        entry.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(entry, "/etc/passwd")
    return buffer.getvalue()


def crowded() -> bytes:
    return zipped({f"{number}": b"" for number in range(10_001)})


PACKAGES: dict[str, tuple[Callable[[dict[str, bytes]], bytes], str]] = {
    "no zip": (lambda files: b"PK but no zip" * 9, "no zip archive"),
    "bomb": (lambda files: bomb(), "much more than its size"),
    "two metadata": (doubled, "or one twice"),
    "a link": (linked, "no plain file"),
    "a folder": (lambda files: linked(files, "en_de/model/model.bin/"), "file"),
    "many files": (lambda files: crowded(), "too many files"),
    "no metadata": (lambda files: zipped({"x": b""}), "0 files metadata.json"),
    "two tops": (lambda files: zipped({"a/metadata.json": b"", "b/metadata.json": b""}, ""), "2 files metadata.json"),
    "traversal": (lambda files: zipped({"../../metadata.json": b"{}"}, "../"), "0 files metadata.json"),
    "damaged": (lambda files: zipped(files).replace(b"PK\x03\x04", b"PK\x03\x05"), "unpacked"),
    "no model": (lambda files: zipped({"metadata.json": files["metadata.json"]}), "model.bin"),
    "sentences": (lambda files: zipped({**files, "metadata.json": b'{"type": "sbd"}'}), "a package of the type 'sbd'"),
    "a prefix": (
        lambda files: zipped({**files, "metadata.json": b'{"target_prefix": "__de__"}'}),
        "begins with '__de__'",
    ),
    "no languages": (lambda files: zipped({**files, "metadata.json": b"{}"}), "its languages are None and None"),
    "strange languages": (
        lambda files: zipped({**files, "metadata.json": b'{"from_code": "../x", "to_code": 7}'}),
        "its languages are '../x' and 7",
    ),
    "encrypted": (lambda files: encrypted(zipped(files)), "password"),
}


def encrypted(content: bytes) -> bytes:
    place = content.rindex(b"PK\x01\x02")
    for place in (
        number for number in range(len(content)) if content.startswith((b"PK\x01\x02", b"PK\x03\x04"), number)
    ):
        flag = place + (8 if content[place + 2] == 1 else 6)
        content = content[:flag] + bytes([content[flag] | 1]) + content[flag + 1 :]
    return content


@pytest.mark.parametrize("recipe", PACKAGES)
def test_a_damaged_package_is_one_line(recipe: str, bundle: Bundle, tmp_path: Path) -> None:
    make, problem = PACKAGES[recipe]
    path = tmp_path / "en_de.argosmodel"
    path.write_bytes(make(package_files(bundle)))
    with pytest.raises(DragomanError) as caught:
        kind_of(path).read(path, (None, None))
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)
    assert [each.name for each in tmp_path.iterdir()] == ["en_de.argosmodel"]
