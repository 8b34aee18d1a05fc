"""Imports of Marian's own files, without Marian: formats agree with each other, and hostile files are refused."""

import gzip
import io
import json
import os
import pickle
import struct
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from marian_folders import (
    KINDS,
    PRE_NORM,
    SETTINGS,
    SSRU,
    USUAL,
    binary,
    entries_of,
    npz,
    random_tensors,
    short_list_bytes,
    vocabulary,
    write_folder,
)
from tiny import PAIRS

from dragoman import Translator
from dragoman.bundle.bundle import load_bundle
from dragoman.bundle.layout import Layout
from dragoman.cli import program
from dragoman.imports.kinds import kind_of
from dragoman.imports.marian import import_marian
from dragoman.imports.marian_vocabularies import read_table
from dragoman.imports.marian_weights import marian_positions
from dragoman.text.sentence_pieces import SentencePieces

Change = Callable[[Path], None]
SOURCES = [source for source, _ in PAIRS]
BIN = "model.ende.intgemm.alphas.bin"
LANGUAGES = ("--source-lang", "en", "--target-lang", "de")
SHAPES: dict[str, dict[str, Any]] = {
    "post-norm": {},
    "pre-norm": PRE_NORM,
    "SSRU": SSRU,
    "SSRU, pre-norm": {**SSRU, **PRE_NORM},
    "deep encoder": {**SSRU, "enc-depth": 3, "dec-depth": 1, "transformer-ffn-activation": "swish"},
    "output tied": {"tied-embeddings-all": False, "tied-embeddings": True},
    "embeddings tied": {"tied-embeddings-all": False, "tied-embeddings-src": True},
    "nothing tied": {"tied-embeddings-all": False},
    "decoder layers tied": {"dec-depth": 3, "transformer-tied-layers": [1, 1, 3]},
}


# -- what comes out ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPES)
def test_each_shape_becomes_a_bundle(shape: str, tmp_path: Path) -> None:
    tensors = write_folder(tmp_path / "marian", SHAPES[shape])
    bundle = kind_of(tmp_path / "marian").read(tmp_path / "marian", (None, None))
    layout = Layout(bundle.config)
    assert bundle.weights.keys() == layout.shapes().keys()
    assert all(bundle.weights[name].shape == size for name, size in layout.shapes().items())
    assert bundle.tokenizers.languages == ("en", "de")
    assert bundle.config.norm_epsilon == 1e-9
    inner = bundle.weights[layout.encoder_layers[0].feed_forward.inner.weight.name]
    assert np.array_equal(inner, tensors["encoder_l1_ffn_W1"].T)
    own = bundle.tokenizers.target.special_ids
    start = layout.with_ties(bundle.weights)[layout.target_embedding.tokens.name]
    assert own.pad == own.start == len(start) - 1
    assert not start[-1].any()


def test_layers_that_are_one_have_one_set_of_weights(tmp_path: Path) -> None:
    write_folder(tmp_path, SHAPES["decoder layers tied"])
    layers = Layout((bundle := import_marian(tmp_path)).config).decoder_layers
    first, second, third = (bundle.weights[layer.feed_forward.inner.weight.name] for layer in layers)
    assert np.array_equal(first, second)
    assert not np.array_equal(first, third)


def test_padding_and_the_start_are_never_written(tmp_path: Path) -> None:
    write_folder(tmp_path)
    bundle = import_marian(tmp_path)
    bias = bundle.weights["output_projection.bias"]
    assert bias[-1] < bias[:-1].min() - 50


@pytest.mark.parametrize("model", ["model.npz.gz", BIN, f"{BIN}.gz"])
def test_all_containers_have_the_same_model(model: str, tmp_path: Path) -> None:
    write_folder(tmp_path / "npz")
    write_folder(tmp_path / "other", model=model)
    first, second = (import_marian(tmp_path / name) for name in ("npz", "other"))
    assert first.weights.keys() == second.weights.keys()
    assert all(np.array_equal(first.weights[name], weight) for name, weight in second.weights.items())


@pytest.mark.parametrize("kind", ["intgemm8", "other intgemm8"])
def test_integers_are_the_weights_to_half_a_step(kind: str, tmp_path: Path) -> None:
    tensors = write_folder(tmp_path / "float", model=BIN)
    write_folder(tmp_path / "int8", model=BIN, kind=kind)
    plain, rounded = (import_marian(tmp_path / name).weights for name in ("float", "int8"))
    step = max(np.abs(each).max() for each in tensors.values()) / 127
    differences = [np.abs(plain[name] - rounded[name]).max() for name in plain if "norm" not in name]
    assert 0 < max(differences) <= 0.5001 * step


def test_multipliers_of_activations_are_left_out(tmp_path: Path) -> None:
    write_folder(tmp_path)
    settings, size = USUAL, vocabulary(tmp_path / "vocab.ende.spm")
    tensors = random_tensors(settings, (size, size))
    alphas = {f"{name}_QuantMultA": np.ones((1, 1), np.float32) for name in tensors if name.endswith("W1")}
    (tmp_path / "model.npz").write_bytes(npz({**tensors, **alphas}, settings))
    assert "imported_from" in import_marian(tmp_path).facts


def test_positions_are_those_of_marian() -> None:
    table = marian_positions(9, 6)
    angles = np.arange(9)[:, None] * np.array([1, 0.01, 0.0001])
    assert np.allclose(table, np.concatenate((np.sin(angles), np.cos(angles)), axis=1), atol=1e-6)


def test_an_imported_model_is_a_bundle_like_any_other(tmp_path: Path, capsys: Any) -> None:
    write_folder(tmp_path / "marian", model=f"{BIN}.gz", kind="intgemm8")
    assert program.run(["import", str(tmp_path / "marian"), "-o", str(tmp_path / "new"), "--precision", "int8"]) == 0
    bundle = load_bundle(tmp_path / "new")
    assert bundle.search.beam_size == 1
    assert all(each.text is not None for each in Translator([bundle], bundle.tokenizers).translate(SOURCES))


# -- settings, vocabularies, short-lists -------------------------------------------------------------------------------


def test_the_settings_of_the_decoder_name_the_files(tmp_path: Path) -> None:
    write_folder(tmp_path)
    (tmp_path / "old.npz").write_bytes(b"not read")
    decoder = (
        "models: [/elsewhere/model.npz]\nvocabs: [a/vocab.ende.spm, a/vocab.ende.spm]\nbeam-size: 3\nnormalize: 1\n"
    )
    (tmp_path / "decoder.yml").write_text(decoder)
    search = import_marian(tmp_path).search
    assert (search.beam_size, search.length_penalty) == (3, 1)


@pytest.mark.parametrize(
    ("metadata", "languages"),
    [
        ({"sourceLanguage": "fr", "targetLanguage": "it"}, ("fr", "it")),
        ({"fromLang": "zh", "toLang": "en"}, ("zh", "en")),
        ({"version": 1}, ("en", "de")),
    ],
)
def test_languages_are_those_of_the_metadata_else_of_names(metadata: Any, languages: object, tmp_path: Path) -> None:
    write_folder(tmp_path, model=BIN)
    (tmp_path / "metadata.json").write_text(json.dumps(metadata))
    assert import_marian(tmp_path).tokenizers.languages == languages


def test_two_vocabularies_are_told_by_their_names(tmp_path: Path) -> None:
    write_folder(tmp_path, {"tied-embeddings-all": False})
    (tmp_path / "vocab.ende.spm").rename(tmp_path / "srcvocab.ende.spm")
    sizes = vocabulary(tmp_path / "srcvocab.ende.spm"), vocabulary(tmp_path / "trgvocab.ende.spm", 50)
    assert sizes[0] != sizes[1]
    settings = {**USUAL, "tied-embeddings-all": False}
    (tmp_path / "model.npz").write_bytes(npz(random_tensors(settings, sizes), settings))
    tokenizers = import_marian(tmp_path).tokenizers
    assert (tokenizers.source.vocab_size, tokenizers.target.vocab_size) == (sizes[0] + 1, sizes[1] + 1)


def opus(folder: Path, extra: str = "") -> dict[str, int]:
    """Make a folder as OPUS-MT's: a table of ids, and a SentencePiece model for each side."""
    write_folder(folder)
    (folder / "vocab.ende.spm").rename(folder / "source.spm")
    size = vocabulary(folder / "target.spm")
    pieces = [piece for piece in pieces_of(folder / "target.spm") if piece not in ("</s>", "<unk>")]
    table = {piece: id for id, piece in enumerate(["</s>", "<unk>", *sorted(pieces)])}
    assert len(table) == size
    lines = [f"{json.dumps(piece, ensure_ascii=False)}: {id}\n" for piece, id in table.items()]
    (folder / "opus.vocab.yml").write_text("".join(lines) + extra)
    return table


def pieces_of(path: Path) -> list[str]:
    return SentencePieces(path.read_bytes()).pieces


def test_a_table_numbers_the_pieces(tmp_path: Path) -> None:
    table = opus(tmp_path)
    bundle = import_marian(tmp_path, ("en", "de"))
    tokenizer = bundle.tokenizers.source
    pieces = tokenizer.split(SOURCES[0])
    assert tokenizer.encode(SOURCES[0]) == [table.get(piece, 1) for piece in pieces]
    assert tokenizer.special_ids.pad == len(table)


def test_pieces_that_yaml_would_read_as_something_else_stay_text(tmp_path: Path) -> None:
    (tmp_path / "vocab.yml").write_text('</s>: 0\n<unk>: 1\nno: 2\n~: 3\n"1": 4\n1e5: 5\n"\\u2581a": 6\n')
    assert [*read_table(tmp_path / "vocab.yml")] == ["</s>", "<unk>", "no", "~", "1", "1e5", "▁a"]


def test_the_names_of_nematus_are_read(tmp_path: Path) -> None:
    (tmp_path / "vocab.yml").write_text("eos: 0\nUNK: 1\na: 2\n")
    assert read_table(tmp_path / "vocab.yml") == {"</s>": 0, "<unk>": 1, "a": 2}


def rows(size: int) -> list[list[int]]:
    draw = np.random.default_rng(3)
    return [sorted({*draw.integers(0, size, 3).tolist()}) for _ in range(size)]


@pytest.mark.parametrize("form", ["binary", "gzip", "text"])
def test_a_short_list_is_marians(form: str, tmp_path: Path) -> None:
    """The first ids, those of each source token and of the end, and the source's own; never the unknown piece."""
    write_folder(tmp_path)
    pieces = pieces_of(tmp_path / "vocab.ende.spm")
    likely = rows(len(pieces))
    content = short_list_bytes(5, 3, likely)
    if form == "binary":
        (tmp_path / "lex.50.50.ende.s2t.bin").write_bytes(content)
    elif form == "gzip":
        (tmp_path / "lex.50.50.ende.s2t.bin.gz").write_bytes(gzip.compress(content))
    else:
        lines = [
            f"{pieces[to]} {piece} 0.{9 - n}\n"
            for piece, ids in zip(pieces, likely, strict=True)
            for n, to in enumerate(ids)
        ]
        lines += [f"{pieces[9]} {pieces[7]} 0.01\n", "NULL a 1\n"]
        (tmp_path / "lex.s2t").write_text("".join(lines))
        (tmp_path / "decoder.yml").write_text("shortlist: [lex.s2t, 5, 3, 0]\n")
    bundle = import_marian(tmp_path, ("en", "de"))
    assert bundle.short_list is not None
    ids = bundle.tokenizers.source.encode(SOURCES[0])
    wanted = {*range(5), *ids, *likely[0], *(to for id in ids for to in likely[id])} - {1}  # unknown
    assert {*bundle.short_list.ids(ids, "de").tolist()} == wanted


# -- hostile folders ---------------------------------------------------------------------------------------------------


def content(name: str, data: bytes | str) -> Change:
    def edit(folder: Path) -> None:
        (folder / name).write_bytes(data if isinstance(data, bytes) else data.encode())

    return edit


def all_of(*changes: Change) -> Change:
    def edit(folder: Path) -> None:
        for change in changes:
            change(folder)

    return edit


def edited(name: str, change: Callable[[bytes], bytes]) -> Change:
    return lambda folder: content(name, change((folder / name).read_bytes()))(folder)


def settings(**changes: Any) -> Change:
    """Set settings in the model; None removes one."""

    def edit(folder: Path) -> None:
        values = USUAL | {name.replace("_", "-"): value for name, value in changes.items()}
        size = len(pieces_of(folder / "vocab.ende.spm"))
        kept = {name: value for name, value in values.items() if value is not None}
        (folder / "model.npz").write_bytes(npz(random_tensors(USUAL, (size, size)), kept))

    return edit


def text_settings(text: bytes) -> Change:
    def edit(folder: Path) -> None:
        size = len(pieces_of(folder / "vocab.ende.spm"))
        own = {SETTINGS: np.frombuffer(text, np.int8)}
        np.savez(folder / "model.npz", **random_tensors(USUAL, (size, size)), **own)

    return edit


def tensors(**changes: Any) -> Change:
    """Replace tensors; None removes one."""

    def edit(folder: Path) -> None:
        size = len(pieces_of(folder / "vocab.ende.spm"))
        values: dict[str, Any] = {**random_tensors(USUAL, (size, size)), **changes}
        kept = {name: value for name, value in values.items() if value is not None}
        (folder / "model.npz").write_bytes(npz(kept, USUAL))

    return edit


def array(head: bytes) -> Change:
    """A zip file with one array, which has a head of one's own."""

    def edit(folder: Path) -> None:
        data = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head
        with zipfile.ZipFile(folder / "model.npz", "w") as file:
            file.writestr("Wemb.npy", data + b"\0" * 64)

    return edit


def zipped(members: dict[str, bytes], kind: int = zipfile.ZIP_DEFLATED) -> Change:
    def edit(folder: Path) -> None:
        with zipfile.ZipFile(folder / "model.npz", "w", kind) as file:
            for name, data in members.items():
                file.writestr(name, data)

    return edit


def bin_model(data: bytes) -> Change:
    def edit(folder: Path) -> None:
        (folder / "model.npz").unlink()
        (folder / BIN).write_bytes(data)

    return edit


def bin_cut(length: int) -> Change:
    def edit(folder: Path) -> None:
        size = len(pieces_of(folder / "vocab.ende.spm"))
        bin_model(binary(entries_of(random_tensors(USUAL, (size, size)), USUAL))[:length])(folder)

    return edit


def head(**changes: int) -> bytes:
    """A `.bin` file with one tensor, and numbers of its head replaced."""
    numbers = {"version": 1, "count": 1, "name": 5, "kind": 0x404, "axes": 2, "bytes": 256, "padding": 0} | changes
    shape = struct.pack("<2i", changes.get("rows", 8), 8)
    start = struct.pack("<6Q", *(numbers[key] for key in ("version", "count", "name", "kind", "axes", "bytes")))
    return start + b"Wemb\0" + shape + struct.pack("<Q", numbers["padding"]) + b"\0" * 256


def directory(n_files: int) -> Change:
    """A zip file that lists the same empty file again and again."""

    def edit(folder: Path) -> None:
        entry = struct.pack("<4s4B4HL2L5H2L", b"PK\1\2", *[0] * 18)
        end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 1, 1, n_files * len(entry), 0, 0)
        (folder / "model.npz").write_bytes(entry * n_files + end)

    return edit


def commented(folder: Path) -> None:
    with zipfile.ZipFile(folder / "model.npz", "a") as file:
        file.comment = b"a comment"


def sides_of_two_sizes(folder: Path) -> None:
    (folder / "vocab.ende.spm").rename(folder / "srcvocab.ende.spm")
    sizes = len(pieces_of(folder / "srcvocab.ende.spm")), vocabulary(folder / "trgvocab.ende.spm", 50)
    settings = {**USUAL, "tied-embeddings-all": False, "tied-embeddings-src": True}
    (folder / "model.npz").write_bytes(npz(random_tensors(settings, (sizes[1], sizes[1])), settings))


class Bomb:
    """An object that runs a command when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, ("touch was-run",)


def pickled(folder: Path) -> None:
    np.savez(folder / "model.npz", Wemb=np.array([Bomb()], dtype=object))


def npy_of(values: Any) -> bytes:
    out = io.BytesIO()
    np.save(out, values)
    return out.getvalue()


def linked(name: str, target: str) -> Change:
    def edit(folder: Path) -> None:
        (folder / name).unlink()
        (folder / name).symlink_to(target)

    return edit


def pipe(folder: Path) -> None:
    (folder / "model.npz").unlink()
    os.mkfifo(folder / "model.npz")


def gzipped(name: str, data: bytes) -> Change:
    def edit(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        (folder / f"{name}.gz").write_bytes(data)

    return edit


def yaml_bomb(levels: int = 9) -> str:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, levels)]
    return "\n".join(lines) + "\n"


def table(text: str) -> Change:
    def edit(folder: Path) -> None:
        (folder / "model.npz").unlink()
        (folder / "vocab.ende.spm").unlink()
        opus(folder)
        (folder / "opus.vocab.yml").write_text(text)

    return edit


SHORT = "lex.50.50.ende.s2t.bin"
ZEROS = gzip.compress(b"\0" * 50_000_000)
HOSTILE: dict[str, tuple[Change, str]] = {
    # zip and arrays
    "no zip": (content("model.npz", b"not a zip file"), "not a model file of Marian"),
    "nothing": (content("model.npz", b""), "not a model file of Marian"),
    "half of a zip": (edited("model.npz", lambda data: data[:5_000]), "not a model file"),
    "a damaged array": (
        edited("model.npz", lambda data: data.replace(b"\x93NUMPY", b"\x93NUMPI", 1)),
        "not a model file",
    ),
    "pickled objects": (pickled, "has numbers of the kind |O"),
    "a pickle as array": (zipped({"Wemb.npy": pickle.dumps(Bomb())}), "not a model file of Marian"),
    "a zip bomb": (zipped({"Wemb.npy": b"\0" * 60_000_000}), "it expands to much more than its size"),
    "many zip bombs": (zipped({f"{n}.npy": b"\0" * 500_000 for n in range(99)}), "it expands to much more than"),
    "a name twice": (
        zipped({"a.npy": npy_of(np.ones(1, "f4")), "a": b""}),
        "two arrays have one name",
    ),
    "more files than a model has": (directory(200_000), "its archive has too many files"),
    "a comment behind the archive": (commented, "it is no zip archive, or has a comment"),
    "a name that leads out": (tensors(**{"../../x": np.ones((1, 1), np.float32)}), "unknown: '../../x'"),
    "a name with line breaks": (tensors(**{"a\nerror: b": np.ones((1, 1), np.float32)}), r"unknown: 'a\nerror: b'"),
    "a huge shape": (
        array(b"{'descr': '<f4', 'fortran_order': False, 'shape': (2000000000, 2000000000)}\n"),
        "its shape",
    ),
    "a shape beyond int32": (
        array(b"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999,)}\n"),
        "has the shape",
    ),
    "a negative shape": (
        array(b"{'descr': '<f4', 'fortran_order': False, 'shape': (-4, 4)}\n"),
        "has the shape (-4, 4)",
    ),
    "no shape": (array(b"{'descr': '<f4', 'fortran_order': False, 'shape': ()}\n"), "has the shape ()"),
    "a head that is code": (array(b"__import__('os').system('touch was-run')\n"), "not a model file of Marian"),
    "a head of half a list": (array(b"{'descr': (\n"), "the head of 'Wemb' is damaged"),
    "a head with a list as key": (array(b"{[]: 1}\n"), "the head of 'Wemb' is damaged"),
    "a kind in parts": (
        array(b"{'descr': ('<f4',), 'fortran_order': False, 'shape': (4, 4)}\n"),
        "the head of 'Wemb' is damaged",
    ),
    "another compression": (
        zipped({"Wemb.npy": npy_of(np.ones((4, 4), "f4"))}, zipfile.ZIP_LZMA),
        "it is compressed in another way than NumPy does",
    ),
    "a deep head": (array(b"[" * 30_000), "not a model file of Marian"),
    "a head without end": (array(b"{" + b" " * 60_000), "not a model file of Marian"),
    "by columns": (tensors(Wemb=np.asfortranarray(np.ones((4, 3), np.float32))), "by columns"),
    "doubles": (tensors(Wemb=np.ones((4, 3))), "has numbers of the kind <f8"),
    "big-endian": (tensors(Wemb=np.ones((4, 3), ">f4")), "has numbers of the kind >f4"),
    "records": (tensors(Wemb=np.ones(3, [("a", "<f4")])), "has numbers of the kind |V4"),
    # .bin
    "encrypted": (bin_model(head(version=2)), "it is encrypted"),
    "too many tensors": (bin_model(head(count=2**63)), "9,223,372,036,854,775,808 tensors"),
    "more heads than bytes": (bin_model(head(count=20_000)), "it ends before byte"),
    "a name of 16 exabytes": (bin_model(head(name=2**64 - 1)), "a name of 18,446,744,073,709,551,615 bytes"),
    "a name without end": (bin_model(head(name=3)), "a name does not end with a zero"),
    "a name with a zero inside": (bin_model(head(name=9)), "a name does not end with a zero"),
    "no axes": (bin_model(head(axes=0)), "has 0 axes"),
    "many axes": (bin_model(head(axes=2**40)), "axes"),
    "a negative axis": (bin_model(head(rows=-8)), "has the shape (-8, 8)"),
    "a huge axis": (bin_model(head(rows=2**31 - 1)), "and its shape"),
    "data beyond the end": (bin_model(head(rows=100, bytes=3_200)), "it ends before byte"),
    "data of 16 exabytes": (bin_model(head(bytes=2**64 - 256)), "and its shape 256"),
    "less data than its shape": (bin_model(head(bytes=255)), "has 255 bytes, and its shape 256"),
    "padding beyond the end": (bin_model(head(padding=2**63)), "it ends before byte"),
    "bytes after the last tensor": (bin_model(head() + b"\0" * 512), "512 bytes follow the last tensor"),
    "packed by FBGEMM": (bin_model(head(kind=0x1801)), "numbers of FBGEMM's order"),
    "packed for a processor": (bin_model(head(kind=0x11001)), "numbers of a processor's order"),
    "an unknown kind": (bin_model(head(kind=0x99)), "numbers of the kind 0x99"),
    "no settings": (bin_model(head()), "no special:model.yml"),
    "a name twice in .bin": (
        bin_model(binary([("a", KINDS["float32"], (1, 1), b"\0" * 4)] * 2)),
        "two tensors have one",
    ),
    "half of a .bin": (bin_cut(9_000), "it ends before byte"),
    "a head alone": (bin_cut(20), "it ends before byte"),
    # gzip
    "a gzip bomb as model": (gzipped("model.npz", ZEROS), "expands to more than"),
    "a gzip bomb as vocabulary": (gzipped("vocab.ende.spm", ZEROS), "expands to more than"),
    "half of a gzip file": (gzipped("model.npz", gzip.compress(b"x" * 999)[:20]), "cannot be read"),
    "a damaged gzip file": (
        all_of(
            lambda folder: (folder / "model.npz").unlink(),
            gzipped("model.bin", gzip.compress(b"x" * 9_999)[:12] + b"\xff" * 20),
        ),
        "no model of a kind that is read",
    ),
    "no gzip": (gzipped("model.npz", b"no gzip"), "cannot be read"),
    # YAML
    "a YAML bomb": (text_settings(yaml_bomb().encode()), "references (*) are not used here"),
    "a YAML tag": (text_settings(b"type: !!python/object/apply:os.system ['touch was-run']"), "types (!) are not used"),
    "deep YAML": (text_settings(b"a: " + b"[" * 5_000), "settings that are not readable"),
    "a key twice": (text_settings(b"type: transformer\ntype: transformer"), "is given twice"),
    "no YAML": (text_settings(b"\xff\xfe{"), "not a translation model of Marian"),
    "a list": (text_settings(b"- a"), "no settings with names"),
    "long YAML": (text_settings(b"# " + b"x" * 200_000), "larger than 100,000 bytes"),
    "a bomb in decoder.yml": (content("decoder.yml", yaml_bomb()), "references (*) are not used here"),
    "a tag in decoder.yml": (content("decoder.yml", "models: !!python/name:os.system"), "types (!) are not used here"),
    "a long decoder.yml": (content("decoder.yml", "#" * 200_000), "larger than 100,000 bytes"),
    # settings
    "another type": (settings(type="s2s"), "a Marian model of the type 's2s'"),
    "no width": (settings(dim_emb=None), "dim-emb: field required"),
    "a text as width": (settings(dim_emb="16"), "settings are missing or wrong"),
    "a huge width": (settings(dim_emb=10**11), "settings are missing or wrong"),
    "a million layers": (settings(enc_depth=10**6), "settings are missing or wrong"),
    "more layers": (settings(enc_depth=900), "missing: encoder_l3_self_Wq"),
    "other heads": (settings(transformer_heads=3), "does not divide into 3 heads"),
    "several encoders": (settings(dim_vocabs=[0, 0, 0]), "one source and one target are read"),
    "average attention": (settings(transformer_decoder_autoreg="average-attention"), "only rnn with ssru is read"),
    "another cell": (settings(transformer_decoder_autoreg="rnn", dec_cell="gru"), "only rnn with ssru is read"),
    "a norm in between": (settings(transformer_preprocess="n"), "without d, they must be"),
    "a norm of embeddings": (settings(transformer_postprocess_emb="nd"), "embeddings may have dropout only"),
    "another activation": (settings(transformer_ffn_activation="tanh"), "it must be relu, swish, gelu"),
    "three maps": (settings(transformer_ffn_depth=3), "a feed-forward layer has two maps"),
    "another width of the decoder": (settings(transformer_decoder_dim_ffn=8), "both sides must be equal"),
    "ALiBi": (settings(transformer_alibi_shift=True), "transformer-alibi-shift True: dragoman has no such models"),
    "from right to left": (settings(right_left=True), "right-left True: dragoman has no such models"),
    "tied layers of another depth": (settings(transformer_tied_layers=[1]), "names 1 of 2 layers"),
    # tensors
    "a missing tensor": (tensors(encoder_l1_ffn_b1=None), "missing: encoder_l1_ffn_b1"),
    "another shape": (tensors(encoder_l1_ffn_b1=np.ones((1, 3), np.float32)), "shape (1, 3) instead of (1, 32)"),
    "a matrix on its side": (tensors(encoder_l1_ffn_W1=np.ones((32, 16), np.float32)), "instead of (16, 32)"),
    "no numbers": (tensors(encoder_l1_ffn_b1=np.full((1, 32), np.nan, np.float32)), "not finite"),
    "a larger vocabulary": (tensors(Wemb=np.ones((999, 16), np.float32)), "Wemb: shape (999, 16) instead of"),
    "a shared table for two sizes": (
        sides_of_two_sizes,
        "both sides share their token vectors, and their vocabularies",
    ),
    # vocabularies
    "no vocabulary": (lambda f: (f / "vocab.ende.spm").unlink(), "no two SentencePiece vocabularies (none)"),
    "three vocabularies": (
        all_of(content("a.spm", b""), content("b.spm", b"")),
        "no two SentencePiece vocabularies (a.spm, b.spm, vocab.ende.spm)",
    ),
    "no SentencePiece": (content("vocab.ende.spm", b"x" * 99), "SentencePiece cannot read it"),
    "a table that is a bomb": (table(yaml_bomb()), "is more than a piece and its id"),
    "a table with references": (table("a: &x 0\nb: *x\n"), "is more than a piece and its id"),
    "a table with tags": (table("!!python/name:os.system a: 0\n"), "is more than a piece and its id"),
    "a deep table": (table("[" * 100_000), "not a table of pieces and their ids"),
    "a table of negative ids": (table("a: -1\n"), "has no id"),
    "a table of huge ids": (table(f"a: {10**30}\n"), "has no id"),
    "a table with gaps": (table("</s>: 0\n<unk>: 1\na: 9\n"), "the ids are not 0, 1, 2 and so on, each once"),
    "a piece twice": (table("</s>: 0\n<unk>: 1\na: 2\na: 3\n"), "a piece is twice in opus.vocab.yml"),
    "no unknown piece": (table("</s>: 0\na: 1\n"), "<unk> missing in opus.vocab.yml"),
    "half of a table": (table('</s>: 0\n"a'), "not a table of pieces and their ids"),
    # short-lists
    "a short-list of other pieces": (content(SHORT, short_list_bytes(5, 3, [[1], [2]])), "it has 2 source pieces"),
    "a short-list cut off": (content(SHORT, short_list_bytes(5, 3, [[1], [2]])[:-1]), "bytes, and its head tells"),
    "a short-list of exabytes": (
        content(SHORT, struct.pack("<6Q", 0xF11A48D5013417F5, 0, 2**63, 1, 2**60, 2**60)),
        "bytes, and its head tells",
    ),
    "a short-list with a place outside": (
        content(SHORT, struct.pack("<6Q", 0xF11A48D5013417F5, 0, 1, 1, 2, 0) + struct.pack("<2Q", 0, 2**64 - 1)),
        "a place lies outside of it",
    ),
    "a short-list of text with two parts": (content("lex.s2t", "a b\n"), "line 1 has 2 parts"),
    "a short-list of words": (content("lex.s2t", "a b c\n"), "not the short-list of this model"),
    "a gzip bomb as short-list": (gzipped(SHORT, ZEROS), "expands to more than"),
    # files
    "two models": (content("other.npz", b""), "not one but 2 models: model.npz, other.npz"),
    "a link to a device": (linked("model.npz", "/dev/zero"), "no model of a kind that is read"),
    "a link to itself": (linked("model.npz", "model.npz"), "no model of a kind that is read"),
    "a link to a folder": (linked("model.npz", "/"), "no model of a kind that is read"),
    "a pipe": (pipe, "no model of a kind that is read"),
    "a vocabulary that is a device": (
        linked("vocab.ende.spm", "/dev/zero"),
        "no two SentencePiece vocabularies (none)",
    ),
    "metadata that is no JSON": (content("metadata.json", "{" * 9), "not readable as JSON"),
    "an ensemble": (
        all_of(content("b.npz", b""), content("decoder.yml", "models: [model.npz, b.npz]")),
        "an ensemble of 2 models",
    ),
}


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("marian")
    write_folder(folder)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_folder_is_refused(
    name: str, usual: dict[str, bytes], tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With one error, whose further lines list what is wrong; nothing is run, and nothing is left."""
    change, problem = HOSTILE[name]
    folder, work = tmp_path / "marian", tmp_path / "work"
    for each in (folder, work):
        each.mkdir()
    monkeypatch.chdir(work)
    for file, data in usual.items():
        (folder / file).write_bytes(data)
    change(folder)
    code = program.run(["import", str(folder), "-o", str(work / "new"), *LANGUAGES])
    first, *details = capsys.readouterr().err.splitlines()
    assert code == 3
    assert first.startswith("error: ")
    assert problem in "\n".join([first, *details])
    assert all(line.startswith("  ") for line in details)
    assert not [*work.iterdir()]


def test_a_bomb_takes_little_memory(usual: dict[str, bytes], tmp_path: Path, capsys: Any) -> None:
    """A gigabyte in a megabyte is refused after twenty times its size."""
    for file, data in usual.items():
        (tmp_path / file).write_bytes(data)
    with gzip.open(tmp_path / "lex.ende.s2t.bin.gz", "wb", compresslevel=1) as file:
        for _ in range(64):
            file.write(bytes(1 << 24))
    tracemalloc.start()
    assert program.run(["import", str(tmp_path), "-o", str(tmp_path / "new"), *LANGUAGES]) == 3
    assert tracemalloc.get_traced_memory()[1] < 300_000_000
    tracemalloc.stop()
    assert "expands to more than" in capsys.readouterr().err


def test_languages_that_nobody_names_are_asked_for(usual: dict[str, bytes], tmp_path: Path, capsys: Any) -> None:
    for file, data in usual.items():
        (tmp_path / file.replace("ende.", "")).write_bytes(data)
    assert program.run(["import", str(tmp_path), "-o", str(tmp_path / "new")]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "give --source-lang and --target-lang" in told
