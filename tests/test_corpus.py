"""Reading parallel text: no line is shifted, lost or invented, and every file that cannot be used says why."""

import contextlib
import gzip
import hashlib
import itertools
import json
import os
import sys
import threading
import tracemalloc
import types
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.data import multi30k
from dragoman.data.corpus import Split, available_splits, languages, read_pairs
from dragoman.data.text_files import lines
from dragoman.data.text_files.lines import Unreadable, count_lines, read_lines
from dragoman.data.text_files.raw_lines import MAX_LINE_BYTES, raw_lines
from dragoman.errors import ConfigError, DataError
from dragoman.settings.data_config import DataConfig

SPLITS: tuple[Split, ...] = ("train", "validation", "test")
BOM = b"\xef\xbb\xbf"
NOT_UTF_8 = {
    "lone continuation": b"a\x80",
    "overlong": b"a\xc0\xaf",
    "surrogate": b"a\xed\xa0\x80",
    "cut": b"a\xe4\xbd",
}


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def read(path: Path) -> list[lines.Line]:
    return list(read_lines(path))


# -- lines -------------------------------------------------------------------------------------------------------

line_text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\0"), max_size=20)


@given(texts=st.lists(line_text), ends=st.lists(st.sampled_from(["\n", "\r\n"]), min_size=50, max_size=50))
def test_only_newlines_end_lines(texts: list[str], ends: list[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "lines"
    texts = [text.replace("\r", " ").removeprefix("\ufeff") for text in texts][: len(ends)]
    content = "".join(text + end for text, end in zip(texts, ends, strict=False)).encode()
    assert read(write(path, content)) == texts
    assert read(write(path, gzip.compress(content))) == texts


def test_odd_line_ends_stay_in_the_line(tmp_path: Path) -> None:
    odd = "a\u2028b\u2029c\x85d\x0be\x0cf\x1ch"
    assert read(write(tmp_path / "x", f"{odd}\n{odd}\r\n".encode())) == [odd, odd]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"a", ["a"]),
        (b"a\nb", ["a", "b"]),
        (b"a\r", ["a"]),
        (b"a\n\n\n", ["a", "", ""]),
        (BOM + b"a\n" + BOM + b"b\n", ["a", "\ufeffb"]),
        (BOM, [""]),
    ],
)
def test_ends_and_beginnings_of_files(tmp_path: Path, content: bytes, expected: list[str]) -> None:
    assert read(write(tmp_path / "x", content)) == expected
    assert read(write(tmp_path / "x.gz", gzip.compress(content) if content else b"")) == expected


@pytest.mark.parametrize("bad", NOT_UTF_8.values(), ids=NOT_UTF_8)
def test_invalid_utf_8_is_found_with_line_and_byte(tmp_path: Path, bad: bytes) -> None:
    path = write(tmp_path / "x", b"good\n" + bad + b"\nmore\n")
    with pytest.raises(DataError, match=r"invalid UTF-8: .*x:2:2;"):
        read(path)
    assert list(read_lines(path, "drop")) == ["good", Unreadable.INVALID, "more"]
    with pytest.raises(DataError, match="x:1:5;"):
        read(write(path, BOM + bad))


def test_the_advice_is_to_mend_a_few_lines_or_to_convert_the_file(tmp_path: Path) -> None:
    right, wrong = "größer\n".encode(), "größer\n".encode("latin-1")
    for content, advice in ((right * 3 + wrong, r"mend it by hand \(3 others"), (wrong * 3, "iconv -f latin1")):
        write(tmp_path / "text", content)
        with pytest.raises(DataError, match=advice):
            list(read_lines(tmp_path / "text"))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_gets_a_hint(tmp_path: Path, encoding: str) -> None:
    with pytest.raises(DataError, match="looks like UTF-16"):
        read(write(tmp_path / "x", "A man rides.\n".encode(encoding)))


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_long_line_is_passed_over_in_flat_memory(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    limit = b"x" * MAX_LINE_BYTES
    path = write(tmp_path / "x", pack(b"a\n" + b"y" * 10_000_000 + b"\nb\n" + limit + b"\r\n" + limit + b"z\nc"))
    tracemalloc.start()
    found = read(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found == ["a", Unreadable.TOO_LONG, "b", limit.decode(), Unreadable.TOO_LONG, "c"]
    assert peak < 2_000_000


def test_damaged_gzip_files_say_how_far_they_were_read(tmp_path: Path) -> None:
    content = b"".join(b"line %d %s\n" % (number, os.urandom(20).hex().encode()) for number in range(1000))
    packed = gzip.compress(content)
    cut, checksum = packed[: len(packed) // 2], packed[:-8] + b"\0" * 8
    for damaged in (cut, checksum, packed + b"rubbish"):
        with pytest.raises(DataError, match=r"damaged gzip file .*: .*x\.gz:\d+;"):
            read(write(tmp_path / "x.gz", damaged))
    with pytest.raises(DataError, match="not a gzip file"):
        read(write(tmp_path / "x.gz", b"plain\n"))
    assert read(write(tmp_path / "x.gz", packed + gzip.compress(b"more\n")))[-1] == "more"


def test_a_zipped_file_with_a_flipped_bit_is_damaged_or_the_same(tmp_path: Path) -> None:
    """The head of a gzip file has bytes that say nothing about the text, such as the time."""
    text = b"".join(b"%d of some words\n" % number for number in range(30))
    packed, plain = gzip.compress(text), text.decode().splitlines()
    for at in range(len(packed)):
        flipped = bytearray(packed)
        flipped[at] ^= 1 << at % 8
        found = None
        with contextlib.suppress(DataError):
            found = read(write(tmp_path / "x.gz", bytes(flipped)))
        assert found is None or (found == plain and at < 10)


def test_a_file_must_stay_the_same_in_every_pass(tmp_path: Path) -> None:
    data = two_files(tmp_path, b"a\nb\n", b"x\ny\n")
    table = DataConfig(pairs=str(write(tmp_path / "a.tsv", b"a\tx\nb\ty\n")))
    texts = read_pairs(data, "train"), read_pairs(table, "train")
    assert [list(text) for text in texts] == [[("a", "x"), ("b", "y")]] * 2
    write(tmp_path / "a.de", b"x\ny\nz\n")
    write(tmp_path / "a.tsv", b"a\tx\n")
    for text in texts:
        with pytest.raises(DataError, match="changed while reading"):
            list(text)


def test_a_file_that_changes_while_it_is_read(tmp_path: Path) -> None:
    path = write(tmp_path / "x", b"a\nb\n")
    reading = read_lines(path)
    assert next(reading) == "a"
    write(path, b"a\n")
    with pytest.raises(DataError, match="changed while reading"):
        list(reading)


@pytest.mark.skipif(os.name == "nt", reason="Windows has other kinds of files")
def test_what_is_not_a_file_is_named(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    write(tmp_path / "real", b"a\n")
    (tmp_path / "link").symlink_to("real")
    assert read(tmp_path / "link") == ["a"]
    causes = {
        "pipe": "a pipe",
        "loop": "too many levels",
        ".": "a folder",
        "none": "file not found: ",
        "real/x": "Not a dir",
    }
    for name, cause in causes.items():
        with pytest.raises(DataError, match=cause):
            read(tmp_path / name)
    with pytest.raises(DataError, match="a device"):
        read(Path("/dev/zero"))
    with pytest.raises(DataError, match="not a file name"):
        read(tmp_path / "a\0b")
    (tmp_path / "real").chmod(0)
    if not os.access(tmp_path / "real", os.R_OK):
        with pytest.raises(DataError, match="Permission denied"):
            read(tmp_path / "real")


# -- pairs -------------------------------------------------------------------------------------------------------


def two_files(folder: Path, source: bytes, target: bytes, **settings: object) -> DataConfig:
    write(folder / "a.en", source)
    write(folder / "a.de", target)
    return DataConfig.model_validate({"source": str(folder / "a.en"), "target": str(folder / "a.de"), **settings})


def test_pairs_can_be_read_again_and_again(tmp_path: Path) -> None:
    text = read_pairs(two_files(tmp_path, b"a\nb\n", b"x\ny\n"), "train")
    assert list(text) == list(text) == [("a", "x"), ("b", "y")]
    assert text.fingerprints() == {
        "source": hashlib.sha256(b"a\nb\n").hexdigest(),
        "target": hashlib.sha256(b"x\ny\n").hexdigest(),
    }


@pytest.mark.parametrize(("source", "target"), [(b"a\nb\nc\n", b"x\n"), (b"a\n", b"x\ny\nz\n"), (b"", b"x\ny\n")])
def test_different_numbers_of_lines(tmp_path: Path, source: bytes, target: bytes) -> None:
    counts = f"different numbers of lines, {source.count(10)} and {target.count(10)}"
    with pytest.raises(DataError, match=f"{counts}: .*a.en and .*a.de"):
        list(read_pairs(two_files(tmp_path, source, target), "train"))


def test_an_unreadable_side_drops_the_pair_and_shifts_nothing(tmp_path: Path) -> None:
    data = two_files(tmp_path, b"a\n\xff\nc\nd\n", b"x\ny\n" + b"z" * 200_000 + b"\nw\n", invalid_utf8="drop")
    assert list(read_pairs(data, "train")) == [("a", "x"), ("d", "w")]
    assert list(read_pairs(data, "train").numbered())[1:3] == [
        (2, Unreadable.INVALID, "y"),
        (3, "c", Unreadable.TOO_LONG),
    ]


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_tsv(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    suffix = ".gz" if pack is gzip.compress else ""
    path = write(tmp_path / f"a.en-de.tsv{suffix}", pack("a\tä\nb\tß".encode()))
    data = DataConfig(pairs=str(path))
    assert list(read_pairs(data, "train")) == [("a", "ä"), ("b", "ß")]
    assert languages(data) == ("en", "de")
    write(path, pack(b"a\tb\nc\n"))
    with pytest.raises(DataError, match=r"1 column, and 2 in most lines: .*:2;"):
        list(read_pairs(data, "train"))
    write(path, pack(b"a\tb\t0.9\n"))
    assert list(read_pairs(data, "train")) == [("a", "b")]


def test_jsonl(tmp_path: Path) -> None:
    rows = [{"source": "a", "target": "x"}, {"en": "b", "de": "y", "id": 3}, {"translation": {"de": "z", "en": "c"}}]
    path = write(tmp_path / "a.jsonl", "\n".join(map(json.dumps, rows)).encode())
    data = DataConfig(pairs=str(path), source_lang="en", target_lang="de")
    assert list(read_pairs(data, "train")) == [("a", "x"), ("b", "y"), ("c", "z")]
    write(path, path.read_bytes() + b"\n\n")
    assert list(read_pairs(data, "train")) == [("a", "x"), ("b", "y"), ("c", "z"), ("", "")]
    for bad in ('{"source": "a"}', '{"source": 1, "target": "x"}', "[1]", "3", "null", "{", "[" * 100_000):
        write(path, f'{{"source": "a", "target": "x"}}\n{bad}\n'.encode())
        with pytest.raises(DataError, match=":2"):
            list(read_pairs(data, "train"))


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("a.en", "a.de", ("en", "de")),
        ("x/train.de.gz", "x/train.zh", ("de", "zh")),
        ("a.pt-BR", "a.zh_Hans", ("pt-BR", "zh_Hans")),
        ("x/train.zh.txt", "train.en.txt.gz", ("zh", "en")),
        ("a.zho_Hans.tsv", "a.cmn", ("zho_Hans", "cmn")),
        ("a.src", "a.txt", ("und", "und")),
        ("a.src.txt", "a.de.csv", ("und", "de")),
        ("a.de.bpe", "a.en.sp", ("und", "und")),
        ("a.tok", "a.log", ("und", "und")),
        ("corpus", "b.Deutsch", ("und", "und")),
    ],
)
def test_languages_come_from_suffixes(source: str, target: str, expected: tuple[str, str]) -> None:
    assert languages(DataConfig(source=source, target=target)) == expected
    assert languages(DataConfig(source=source, target=target, target_lang="fr"))[1] == "fr"


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [("a.en-zho.tsv.gz", ("en", "zho")), ("a.src-tgt.tsv", ("und", "und")), ("en-de.jsonl", ("und", "und"))],
)
def test_languages_come_from_the_name_of_a_table(pairs: str, expected: tuple[str, str]) -> None:
    assert languages(DataConfig(pairs=pairs)) == expected


def test_splits_that_are_not_there() -> None:
    with pytest.raises(ConfigError, match="no corpus"):
        read_pairs(DataConfig(), "train")
    with pytest.raises(ConfigError, match="no validation data"):
        read_pairs(DataConfig(source="a", target="b"), "validation")
    with pytest.raises(ConfigError, match="unknown corpus 'multi31k'"):
        read_pairs(DataConfig(corpus="multi31k"), "train")
    data = DataConfig(source="a", target="b", validation_pairs="c.tsv")
    assert available_splits(data) == ("train", "validation")


def test_files_of_a_split_are_used_instead_of_a_named_corpus(tmp_path: Path) -> None:
    write(tmp_path / "own.tsv", b"a\tb\n")
    data = DataConfig(corpus="captions", validation_pairs=str(tmp_path / "own.tsv"))
    assert list(read_pairs(data, "validation")) == [("a", "b")]
    assert len(list(read_pairs(data, "test"))) == 1000
    hub = DataConfig(corpus="hub:x", validation_pairs=str(tmp_path / "own.tsv"))
    assert available_splits(hub) == ("train", "validation")
    assert list(read_pairs(hub, "validation")) == [("a", "b")]


# -- named corpora -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", ["copy", "reverse", "sort"])
def test_made_corpora_have_three_splits_without_overlap(task: str) -> None:
    splits = [list(read_pairs(DataConfig(corpus=task), split)) for split in SPLITS]
    assert all(splits)
    for one, other in itertools.combinations(splits, 2):
        assert not set(one) & set(other)
    assert read_pairs(DataConfig(corpus=task), "test").fingerprints().keys() == {"text"}


def test_captions_are_english_and_german_either_way_round() -> None:
    forth, back = (
        list(read_pairs(DataConfig(corpus="captions", source_lang=source, target_lang=target), "test"))
        for source, target in (("en", "de"), ("de", "en"))
    )
    assert back == [(target, source) for source, target in forth]
    with pytest.raises(ConfigError, match=r"captions are en and de, not en and fr.*for zh there is captions-zh"):
        read_pairs(DataConfig(corpus="captions", target_lang="fr"), "test")


def test_multi30k_from_the_data_folder(data_folder: Path) -> None:
    for split, size in zip(SPLITS, (29_000, 1_014, 1_000), strict=True):
        text = read_pairs(DataConfig(corpus="multi30k", source_lang="fr", target_lang="en"), split)
        assert sum(1 for _ in text) == size


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A stand-in for the public repository, and an empty cache."""
    served, handler = tmp_path / "served", partial(SilentHandler, directory=str(tmp_path / "served"))
    served.mkdir()
    content = gzip.compress(b"Ein Mann.\n")
    write(served / "val.de.gz", content)
    write(served / "val.en.gz", gzip.compress(b"forged\n"))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setattr(multi30k, "MULTI30K_URL", f"http://127.0.0.1:{server.server_port}/")
    monkeypatch.setitem(multi30k.MULTI30K_SHA256, "val.de.gz", hashlib.sha256(content).hexdigest())
    monkeypatch.delenv("DRAGOMAN_DATA", raising=False)
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA", "HOME"):
        monkeypatch.setenv(name, str(tmp_path / "cache"))
    yield served
    server.shutdown()
    server.server_close()


class SilentHandler(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


def test_multi30k_is_downloaded_once_and_checked(repository: Path) -> None:
    path = multi30k.multi30k_file("validation", "de")
    assert read(path) == ["Ein Mann."]
    (repository / "val.de.gz").unlink()
    assert multi30k.multi30k_file("validation", "de") == path
    with pytest.raises(DataError, match="not the published file"):
        multi30k.multi30k_file("validation", "en")
    assert not list(path.parent.glob("*.en.gz"))
    with pytest.raises(DataError, match=r"could not be downloaded .*train\.fr\.gz; put that file into .*multi30k"):
        multi30k.multi30k_file("train", "fr")
    with pytest.raises(ConfigError, match="choose two of cs, de, en, fr"):
        multi30k.multi30k_file("train", "it")
    write(path, b"changed")
    with pytest.raises(DataError, match="SHA-256 differs"):
        multi30k.multi30k_file("validation", "de")


def test_hugging_face_data_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    data = DataConfig(corpus="hub:someone/something:de-en", source_lang="en", target_lang="de")
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(ConfigError, match=r'install it: .*"dragoman\[hub\]"'):
        read_pairs(data, "train")
    asked = []

    def load_dataset(name: str, configuration: str | None, split: str) -> list[dict[str, object]]:
        asked.append((name, configuration, split))
        return [{"translation": {"en": "a", "de": "x"}}]

    monkeypatch.setitem(sys.modules, "datasets", types.SimpleNamespace(load_dataset=load_dataset))
    assert list(read_pairs(data, "train")) == [("a", "x")]
    assert asked == [("someone/something", "de-en", "train")]
    with pytest.raises(ConfigError, match="languages of hub"):
        read_pairs(DataConfig(corpus="hub:x"), "train")

    def failing(*_: object, **__: object) -> None:
        raise RuntimeError("no such thing")

    monkeypatch.setitem(sys.modules, "datasets", types.SimpleNamespace(load_dataset=failing))
    with pytest.raises(DataError, match="no such thing"):
        read_pairs(data, "train")


@pytest.mark.parametrize(
    ("start", "kind"),
    [(b"%PDF-1.7\n", "a PDF"), (b"PK\x03\x04", "a ZIP archive"), (b"PAR1", "a file of tables or arrays")],
)
def test_other_formats_are_named(tmp_path: Path, start: bytes, kind: str) -> None:
    path = tmp_path / "text.en"
    path.write_bytes(start + b"more\n")
    with pytest.raises(DataError, match=f"this is {kind}"):
        list(read_lines(path))


@given(content=st.lists(st.sampled_from([b"a", b"\xff", b"\n", b"\r\n", b""])).map(b"".join), zipped=st.booleans())
def test_lines_are_counted_as_they_are_read(
    content: bytes, zipped: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "counted.en"
    path.write_bytes(gzip.compress(content) if zipped else content)
    assert count_lines(path) == len(list(raw_lines(path)))
    path.write_bytes(gzip.compress(content)[:-5])
    with pytest.raises(DataError, match="damaged gzip file"):
        count_lines(path)
