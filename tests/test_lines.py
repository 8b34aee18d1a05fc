"""Files and pipes of text: one text gives the same lines from both, and what is no text is refused by both, by name."""

import bz2
import codecs
import gzip
import io
import itertools
import lzma
import os
import resource
import string
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tiny import write_tiny_bundle

from dragoman.cli.program import run
from dragoman.data.corpus import file_language
from dragoman.data.text_files.character_encodings import encoding_advice
from dragoman.data.text_files.file_signatures import has_document_suffix
from dragoman.data.text_files.lines import MAX_INPUT_BYTES, Line, Unreadable, count_lines, input_text, read_lines
from dragoman.documents import FORMATS
from dragoman.errors import DataError

ROOT = Path(__file__).resolve().parent.parent
PACKERS: list[Callable[[bytes], bytes]] = [bytes, gzip.compress, bz2.compress, lzma.compress]
TEXT = "A man is riding a horse.\nZwei Hunde rennen über die Straße.\n两只狗在跑。\n"

chunk_sizes = st.lists(st.integers(1, 40), min_size=1, max_size=5)


class Pipe(io.RawIOBase):
    """A pipe whose writer writes so many bytes at once, again and again."""

    def __init__(self, content: bytes, sizes: list[int]) -> None:
        self.rest, self._sizes = content, itertools.cycle(sizes)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        n_bytes = min(next(self._sizes), len(buffer), len(self.rest))
        buffer[:n_bytes], self.rest = self.rest[:n_bytes], self.rest[n_bytes:]
        return n_bytes


def outcome(source: Path | BinaryIO, name: str | Path) -> list[Line] | str:
    """The lines, or the error without the name of the place."""
    try:
        return list(input_text(source, name, "error"))
    except DataError as error:
        return str(error).replace(str(name), "NAME")


def from_file(path: Path, content: bytes) -> list[Line] | str:
    path.write_bytes(content)
    return outcome(path, path)


def from_pipe(content: bytes, sizes: list[int]) -> list[Line] | str:
    return outcome(io.BufferedReader(Pipe(content, sizes)), "standard input")


# ------------------------------------------------------------------------------------------- one text, the same lines

line_text = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20)
line_ends = st.sampled_from(["\n", "\r\n", "\r\r\n"])


@given(
    lines=st.lists(st.tuples(line_text, line_ends), max_size=12),
    mark=st.booleans(),
    last=line_text,
    pack=st.sampled_from(PACKERS),
    sizes=chunk_sizes,
)
def test_a_text_has_the_same_lines_from_a_file_and_a_pipe_in_any_container(
    lines: list[tuple[str, str]],
    mark: bool,
    last: str,
    pack: Callable[[bytes], bytes],
    sizes: list[int],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    text = "".join(line + end for line, end in lines) + last
    content = pack((codecs.BOM_UTF8 if mark else b"") + text.encode())
    expected = [line for line, _ in lines] + ([last] if last else [])
    if expected and not mark:
        expected[0] = expected[0].removeprefix("\ufeff")
    elif not expected and mark:
        expected = [""]
    path = tmp_path_factory.getbasetemp() / "text.en"
    assert from_file(path, content) == from_pipe(content, sizes) == expected
    assert list(read_lines(path)) == expected
    assert count_lines(path) == len(expected)


def test_a_carriage_return_inside_a_line_is_a_space(tmp_path: Path) -> None:
    assert from_file(tmp_path / "text.en", b"A man\ris riding.\nTwo\r dogs\r\r\n") == ["A man is riding.", "Two  dogs"]


@pytest.mark.parametrize("pack", PACKERS)
def test_a_file_of_an_old_mac_is_refused_with_the_command_that_mends_it(
    tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    for text in (b"A man.\rTwo dogs.\rA cat.\r", b"A man.\rTwo dogs.", b"A man.\r" * 200_000):
        told = from_file(tmp_path / "text.en", pack(text))
        assert "line ends of an old Mac" in told
        assert r"tr '\r' '\n'" in told
        assert from_pipe(pack(text), [100_000]) == told
        for read in (lambda: list(read_lines(tmp_path / "text.en")), lambda: count_lines(tmp_path / "text.en")):
            with pytest.raises(DataError, match="old Mac"):
                read()
    assert from_file(tmp_path / "text.en", pack(b"A man.\r")) == ["A man."]


@pytest.mark.parametrize("pack", PACKERS)
def test_a_line_is_there_before_the_next_is_written(pack: Callable[[bytes], bytes]) -> None:
    for start in ("B", "BZh", "]", "1", "{", "%PDF", "ID3", "WEBVTT is", ""):
        pipe = Pipe(f"{start}\n".encode() + b"\xff", [1])
        assert next(iter(input_text(io.BufferedReader(pipe), "a pipe", "error"))) == start
        assert pipe.rest == b"\xff", "it read on"


# ------------------------------------------------------------------------------------------------- compressed, damaged


@pytest.mark.parametrize(("pack", "name"), [(gzip.compress, "gzip"), (bz2.compress, "bzip2"), (lzma.compress, "xz")])
def test_a_cut_changed_or_lengthened_file_is_damaged_or_says_the_same(
    tmp_path: Path, pack: Callable[[bytes], bytes], name: str
) -> None:
    lines = [f"{number} of some words" for number in range(40)]
    packed, path = pack("".join(f"{line}\n" for line in lines).encode()), tmp_path / "text.en"
    for end in range(12, len(packed)):
        assert f"damaged {name} file" in from_file(path, packed[:end])
        assert from_file(path, packed[:end]) == from_pipe(packed[:end], [70])
    for at in range(12, len(packed)):
        flipped = bytearray(packed)
        flipped[at] ^= 1 << at % 8
        found = from_file(path, bytes(flipped))
        assert found == lines or f"damaged {name} file" in found
    for rubbish in (b"x", b"rubbish", packed[:20]):
        assert f"damaged {name} file" in from_file(path, packed + rubbish)
    assert from_file(path, packed + packed + b"\0" * 8) == lines * 2, "several members, and padding"


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst"])
def test_a_suffix_that_promises_a_compressed_file_is_held_to_it(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"text.en{suffix}"
    assert "damaged" in from_file(path, b"A man.\n")
    assert from_file(path, b"") == []
    assert file_language(str(path)) == "en"
    assert file_language(f"data/train.de.txt{suffix}") == "de"


def test_a_zstd_file_is_read_or_named_with_the_command_that_unpacks_it(tmp_path: Path) -> None:
    packed = bytes.fromhex("28b52ffd0458390000") + b"A man.\n" + bytes.fromhex("00000000")  # the checksum is wrong
    told = from_file(tmp_path / "text.en", packed)
    assert "zstd -d" in told or "damaged zstd file" in told
    assert from_pipe(packed, [1]) == told


@pytest.mark.parametrize("pack", PACKERS)
def test_a_line_without_an_end_takes_no_memory(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "text.en"
    path.write_bytes(pack(b"A man.\n" + b"x" * 40_000_000 + b"\nTwo dogs.\n"))
    list(input_text(path, path, "error"))  # imports what it needs
    tracemalloc.start()
    found = list(input_text(path, path, "error"))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found == ["A man.", Unreadable.TOO_LONG, "Two dogs."]
    assert peak < 20_000_000, "the line is twice as long, and xz remembers 8 MB"


# --------------------------------------------------------------------------------------------------- what is no text

NO_TEXT = {
    "UTF-16": TEXT.encode("utf-16"),
    "UTF-16 (big)": codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"),
    "UTF-16 of two letters": b"h\0i\0",
    "UTF-16 without a mark": TEXT.encode("utf-16-le"),
    "UTF-16 without a mark (big)": TEXT.encode("utf-16-be"),
    "UTF-32": TEXT.encode("utf-32"),
    "a PDF": b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n",
    "a ZIP archive": b"PK\x03\x04\x14\0\0\0\x08\0",
    "an old office document": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 16,
    "an RTF document": b"{\\rtf1\\ansi A man.}\n",
    "an archive (tar": b"film.srt".ljust(257, b"\0") + b"ustar  \0" + b"\0" * 300,
    "an archive of 7z": b"7z\xbc\xaf\x27\x1c\0\x04",
    "compressed more than once": gzip.compress(gzip.compress(b"A man.\n")),
    "tables or arrays (Parquet": b"PAR1\x15\x04\x15",
    "tables or arrays (Parquet, Arrow, NumPy, SQLite": b"SQLite format 3\0\x10\0\x01\x01",
    "a picture": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
    "a sound": b"ID3\x04\0\0\0\0",
    "a program": b"\x7fELF\x02\x01\x01\0",
    "no text": b"\0" * 10_000,
    "(SubRip)": b"1\n00:00:01,000 --> 00:00:02,500\nA man.\n\n",
    "(SubRip) of Windows": b"\xef\xbb\xbf1\r\n00:00:01,000 --> 00:00:02,500\r\nA man.\r\n\r\n",
    "(WebVTT)": b"WEBVTT\n\n00:01.000 --> 00:02.000\nA man.\n",
    "(WebVTT) with a title": b"WEBVTT - of a film\n\n00:01.000 --> 00:02.000\nA man.\n",
    "a file of subtitles of YouTube": b"0:00:00.599,0:00:04.160\nA man.\n\n",
    "an XML or SGML file of subtitles": b'<tt xmlns="http://www.w3.org/ns/ttml" xml:lang="en">\n',
    "subtitles of frames": b"{12}{50}A man.\n",
    "subtitles of a song": b"[ti:A man]\n[00:12.00]A man.\n",
    "an HTML page": b"<!DOCTYPE html>\n<html>\n<body>A man.</body>\n",
    "an HTML page in capitals": b'\n<HTML lang="en"><HEAD>\n',
    "an XML": b'<?xml version="1.0"?>\n<tmx version="1.4">\n',
    "a translation memory (TMX)": b'<tmx version="1.4">\n',
    "an XLIFF": b'<xliff version="1.2">\n',
    "test sets": b'<srcset setid="newstest" srclang="any">\n',
    "(PO)": b'# German\n#\nmsgid ""\nmsgstr ""\n"Language: de"\n',
    "a JSON file": b'{"source": "A man.", "target": "Ein Mann."}\n',
    "a JSON file of many lines": b'[\n  {\n    "source": "A man."\n  }\n]\n',
    "a LaTeX document": b"% A comment\n\\documentclass[a4paper]{article}\n",
    "Git LFS": b"version https://git-lfs.github.com/spec/v1\noid sha256:1\n",
}


@given(mtime=st.integers(0, 2**32 - 1))
@example(mtime=1795826617)  # then, the bytes of the archive were read as Chinese in UTF-16
def test_an_archive_of_any_time_is_no_text_of_another_encoding(
    mtime: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    content = gzip.compress(gzip.compress(TEXT.encode(), mtime=mtime), mtime=mtime)
    told = from_file(tmp_path_factory.getbasetemp() / "text.en", content)
    assert isinstance(told, str)
    assert "compressed more than once" in told


@given(name=st.sampled_from(sorted(NO_TEXT)), pack=st.sampled_from(PACKERS), sizes=chunk_sizes)
def test_what_is_no_text_is_named_in_a_file_as_in_a_pipe(
    name: str, pack: Callable[[bytes], bytes], sizes: list[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    content = pack(NO_TEXT[name])
    told = from_file(tmp_path_factory.getbasetemp() / "text.en", content)
    assert isinstance(told, str), "it was read as text"
    kind = name.split(" with")[0].split(" (big")[0].split(" of ")[0].split(" in capitals")[0]
    assert kind in told
    assert "; " in told, "what to do"
    assert ("iconv" in told) == name.startswith("UTF-")
    assert from_pipe(content, sizes) == told


@pytest.mark.parametrize(
    "text",
    [
        "<html> is the first element of a page.\n",
        "<p>A man.</p>\n",
        "<!DOCTYPE html> tells the browser what follows.\n",
        "WEBVTT is a format.\nSo is SubRip.\n",
        "1\n2\n3\n",
        "00:00:01,000 --> 00:00:02,000 is a time code.\n",
        '{"a": 1} is an object.\n',
        "[1] A man.\n",
        "{0}{1} men.\n",
        "0:01.5 is a time.\n",
        "PK is a player.\n",
        "MZ, BM and ID3 are marks.\n",
        "7z is an archive.\n",
        "msgid is a word.\n",
        "A\0man\0is riding.\n",
        "\x1b[31mA red man.\x1b[0m\n",
        "1\t2\t3\n4\t5\t6\n",
        "\\section is a command.\n",
        "上下左右\n",
        "\ufeff\ufeffA man.\n",
    ],
)
def test_text_about_such_things_is_text(tmp_path: Path, text: str) -> None:
    expected = text.removeprefix("\ufeff").removesuffix("\n").split("\n")
    assert from_file(tmp_path / "text.en", text.encode()) == from_pipe(text.encode(), [1]) == expected


@given(st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=30), max_size=20))
def test_no_text_of_printable_characters_is_taken_for_another_encoding(lines: list[str]) -> None:
    content = "\n".join(lines).encode()
    assert isinstance(from_pipe(content, [1000]), list)


TEXTS = {
    "de": "Ein Mädchen läuft über größere Straßen.",
    "fr": "« Où est l’élève ? » À côté, déjà créée.",
    "zh": "今天天气很好，我们去公园玩吧。",
    "ja": "こんにちは世界。今日は良い天気です。",
    "ru": "Привет, мир. Как дела?",
    "el": "Καλημέρα κόσμε",
    "he": "שלום עולם",
    "pl": "Zażółć gęślą jaźń, proszę.",
}


@pytest.mark.parametrize(
    ("language", "encoding", "advised"),
    [
        ("de", "latin-1", "latin1"),
        ("de", "cp1252", "latin1"),
        ("fr", "cp1252", "windows-1252"),
        *((language, encoding, "ENCODING") for language, encoding in [
            ("zh", "gb18030"), ("zh", "big5"), ("ja", "shift-jis"), ("ja", "euc-jp"), ("ru", "koi8-r"),
            ("ru", "cp1251"), ("el", "iso8859-7"), ("he", "cp1255"), ("pl", "iso8859-2"), ("zh", "gbk"),
        ]),
    ],
)  # fmt: skip
def test_an_encoding_is_named_only_where_it_can_be_that(language: str, encoding: str, advised: str) -> None:
    text = TEXTS[language].encode(encoding, "ignore")
    assert f"iconv -f {advised} " in encoding_advice(text)
    assert f"iconv -f {advised} " in from_pipe(text, [5])


@given(st.binary(min_size=200, max_size=1000))
def test_nobody_is_told_to_convert_what_is_no_text(content: bytes) -> None:
    told = from_pipe(content, [64])
    if isinstance(told, str) and "\0" in content.decode("latin-1").split("\n")[0]:
        assert "latin1" not in told
        assert "windows" not in told


# ------------------------------------------------------------------------------------------------------ the commands

DOCUMENTS = [
    *("film.srt", "film.VTT", "a.html", "a.htm", "a.md", "a.csv", "a.tsv", "a.tmx", "a.xlf", "a.xliff", "a.po"),
    *("a.docx", "a.pdf", "a.json", "a.jsonl", "a.xml", "film.ass", "a.tex", "film.srt.gz", "a.md.xz"),
    *("film.sbv", "film.ttml", "film.lrc", "strings.yaml", "app.properties", "Localizable.strings"),
]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_bundle(tmp_path_factory.mktemp("models") / "tiny", max_length=40)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_is_refused_by_its_name_wherever_only_lines_are_read(
    name: str, tmp_path: Path, bundle: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, text = tmp_path / name, tmp_path / "text.txt"
    for each in (path, text):
        each.write_text("A man.\n")
    model = ["-m", str(bundle)]
    commands = [
        *([["translate", *model, "--input", str(path)]] if path.suffix.lower() not in FORMATS else []),
        ["score", *model, "--source", str(path), "--target", str(text)],
        ["evaluate", *model, "--source", str(text), "--target", str(path)],
        ["compare-outputs", "--hypotheses", str(path), "--target", str(text)],
        ["prepare", "--source", str(path), "--target", str(text), "-o", str(tmp_path / "run")],
        ["distill", *model, "--source", str(path), "-o", str(tmp_path / "new")],
    ]
    for command in commands:
        assert run(command) == 1
        told = capsys.readouterr()
        assert told.out == ""
        assert told.err.startswith("error: this is a")
        assert told.err.count("\n") == 1
        assert ", not plain text: " in told.err
        assert "; " in told.err


def test_no_code_of_two_letters_is_taken_for_a_document() -> None:
    codes = {"".join(pair) for pair in itertools.product(string.ascii_lowercase, repeat=2)}
    assert {code for code in codes if has_document_suffix(f"train.{code}")} == {"md", "po"}, "of no language"


def piped(bundle: Path, content: bytes, *options: str, **how: Any) -> tuple[int, bytes, str]:
    command = [sys.executable, "-m", "dragoman", "translate", "-m", str(bundle), "--device", "cpu", *options]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(command, input=content, capture_output=True, env=environment, check=False, **how)
    return done.returncode, done.stdout, done.stderr.decode()


def test_a_line_of_any_length_is_answered_in_little_memory(bundle: Path) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_DATA, (1 << 29, 1 << 29))

    content = b"A man.\n" + b"word " * 30_000_000 + b"\nTwo dogs.\n"
    code, out, err = piped(bundle, content, "--beam-size", "1", preexec_fn=limit)
    assert (code, out.count(b"\n")) == (0, 3), err
    assert out.split(b"\n")[1] == b""
    assert "warning: line 2 is longer than 1,000,000 bytes; its output is an empty line\n" in err


def test_elsewhere_a_line_that_is_too_long_is_an_error_with_its_place(
    tmp_path: Path, bundle: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "long.en"
    path.write_bytes(b"A man.\n" + b"x" * (MAX_INPUT_BYTES + 1) + b"\n")
    both = ["--target", str(path)]
    for command in (
        ["score", "-m", str(bundle), "--source", str(path)],
        ["compare-outputs", "--hypotheses", str(path)],
    ):
        assert run([*command, *both]) == 1
        assert f"a line is longer than 1,000,000 bytes: {path}:2; " in capsys.readouterr().err


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such pipes")
def test_a_writer_may_pause_on_a_pipe_that_does_not_block(bundle: Path) -> None:
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    command = [sys.executable, "-m", "dragoman", "translate", "-m", str(bundle), "--batch-size", "1"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    process = subprocess.Popen(command, stdin=reader, stdout=subprocess.PIPE, env=environment)
    assert process.stdout
    os.write(writer, b"A man.\n")
    answers = process.stdout.readline()
    os.write(writer, b"Two dogs.\n")
    os.close(writer)
    os.close(reader)
    answers += process.communicate(timeout=60)[0]
    assert answers.count(b"\n") == 2


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such pipes")
def test_a_named_pipe_is_an_input(bundle: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen(["sh", "-c", f"printf 'A man.\\nTwo dogs.' > '{tmp_path}/pipe'"]):
        code, out, err = piped(bundle, b"", "--input", str(tmp_path / "pipe"))
    assert (code, out.count(b"\n")) == (0, 2), err


@pytest.mark.parametrize(
    ("suffix", "unpack"), [(".gz", gzip.decompress), (".bz2", bz2.decompress), (".xz", lzma.decompress)]
)
def test_an_output_is_compressed_as_its_name_says(
    suffix: str, unpack: Callable[[bytes], bytes], bundle: Path, tmp_path: Path, capfdbinary: object
) -> None:
    (tmp_path / "a.en").write_text("A man.\nTwo dogs.\n")
    command = ["translate", "-m", str(bundle), "-i", str(tmp_path / "a.en")]
    assert run([*command, "-o", str(tmp_path / "a.de")]) == run([*command, "-o", str(tmp_path / f"a.de{suffix}")]) == 0
    assert unpack((tmp_path / f"a.de{suffix}").read_bytes()) == (tmp_path / "a.de").read_bytes()


def test_an_output_that_we_cannot_compress_is_refused(
    bundle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.en").write_text("A man.\n")
    command = ["translate", "-m", str(bundle), "-i", str(tmp_path / "a.en"), "-o", str(tmp_path / "a.de.zst")]
    assert run(command) == 2
    assert "cannot be a .zst file" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["a.en"]
