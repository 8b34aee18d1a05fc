"""Files of pairs: tables of any shape are read as they were written, and the two columns of text are the pair."""

import csv
import gzip
import io
import json
import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.cli.program import run
from dragoman.data.corpus import languages, read_pairs
from dragoman.data.formats.column_choice import join_lines
from dragoman.data.formats.column_kinds import NUMBERS, kind_of
from dragoman.data.parallel_text import ParallelText
from dragoman.data.prepare import prepare
from dragoman.data.text_files.lines import Unreadable
from dragoman.data.text_files.raw_lines import MAX_LINE_BYTES
from dragoman.errors import ConfigError, DataError
from dragoman.settings.data_config import DataConfig
from dragoman.settings.parsing import parse_config

PAIRS = [
    ("Two dogs run.", "Zwei Hunde rennen."),
    ("A man, riding a horse", "Ein Mann, reitend"),
    ("The child sleeps.", "Das Kind schläft."),
    ("Is it late?", "Ist es spät?"),
]
ENGLISH, GERMAN = zip(*PAIRS, strict=True)
#: Text as people write it, with all that tables use for other things.
cells = st.text(st.sampled_from("abc äß中 \t\n\r,;\"'\u2028\x85|\\"), max_size=12)
lettered = st.tuples(cells, st.sampled_from("aß中"), cells).map("".join)
words = st.sampled_from(["Hund", "der Mann", "läuft,", "He said: go!", "中文字", "a; b", "x"])
Write = Callable[[Path, Sequence[Sequence[object]]], None]


def write_csv(path: Path, rows: Sequence[Sequence[object]], encoding: str = "utf-8", **dialect: Any) -> Path:
    with open(path, "w", encoding=encoding, newline="") as file:
        csv.writer(file, **dialect).writerows(rows)
    return path


def write_tsv(path: Path, rows: Sequence[Sequence[object]]) -> Path:
    path.write_text("".join("\t".join(map(str, row)) + "\n" for row in rows), encoding="utf-8")
    return path


def text_of(path: Path, **settings: object) -> ParallelText:
    return read_pairs(DataConfig.model_validate({"pairs": str(path), **settings}), "train")


def pairs_of(path: Path, **settings: object) -> list[tuple[str, str]]:
    """The pairs of a file, read twice, and counted."""
    text = text_of(path, **settings)
    found = list(text)
    assert found == list(text)
    assert text.count() == len(list(text.numbered()))
    return found


def on_one_line(rows: Sequence[Sequence[str]]) -> list[tuple[str, str]]:
    """Pairs as they should be read: white space aside, and a pair of blanks is empty."""
    return [(" ".join(source.split()), " ".join(target.split())) for source, target in rows]


# -- how cells are told apart ------------------------------------------------------------------------------------

DIALECTS: list[dict[str, object]] = [
    {"delimiter": delimiter, "quoting": quoting, "lineterminator": end}
    for delimiter in "\t,;|"
    for quoting in (csv.QUOTE_ALL, csv.QUOTE_MINIMAL)
    for end in ("\r\n", "\n")
]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@given(rows=st.lists(st.tuples(cells, cells), min_size=1, max_size=12))
def test_what_a_spreadsheet_writes_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, dialect: dict[str, object], encoding: str, rows: list[tuple[str, str]]
) -> None:
    """With a header, every text.

    Except where tabs part cells and only some are quoted: a cell with both a line break and tabs looks like rows, and
    one that is quoted for a carriage return alone, which is read as a space, has nothing that asks for quotes.
    """
    if dialect["delimiter"] == "\t" and dialect["quoting"] == csv.QUOTE_MINIMAL:
        rows = [(re.sub("[\t\r]", " ", source), re.sub("[\t\r]", " ", target)) for source, target in rows]
    path = tmp_path_factory.getbasetemp() / "spreadsheet.csv"
    write_csv(path, [("source", "target"), *rows], encoding, **dialect)
    assert on_one_line(pairs_of(path)) == on_one_line(rows)
    assert all("\n" not in side and "\t" not in side for pair in pairs_of(path) for side in pair)


@pytest.mark.parametrize("suffix", [".tsv", ".csv", ".txt"])
@pytest.mark.parametrize("delimiter", ["\t", ",", ";", "|"])
@given(rows=st.lists(st.tuples(lettered, lettered), min_size=5, max_size=12))
def test_a_table_of_quoted_cells_needs_no_header(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, delimiter: str, rows: list[tuple[str, str]]
) -> None:
    path = write_csv(
        tmp_path_factory.getbasetemp() / f"quoted{suffix}", rows, delimiter=delimiter, quoting=csv.QUOTE_ALL
    )
    assert on_one_line(pairs_of(path)) == on_one_line(rows)


plain = st.text(st.sampled_from("abc äß中 ,;\"'"), min_size=1, max_size=12).filter(
    lambda text: any(map(str.isalpha, text))
)


@given(
    rows=st.lists(st.tuples(plain, plain), max_size=12),
    zipped=st.booleans(),
    suffix=st.sampled_from(["tsv", "txt", "csv"]),
)
def test_stray_quotation_marks_in_a_plain_table_are_text(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]], zipped: bool, suffix: str
) -> None:
    rows = [*PAIRS, ('He said "yes" to me.', '"Ja", sagte er.'), *rows]
    content = "".join(f"{source}\t{target}\n" for source, target in rows).encode()
    path = tmp_path_factory.getbasetemp() / f"plain.{suffix}{'.gz' * zipped}"
    path.write_bytes(gzip.compress(content) if zipped else content)
    assert pairs_of(path) == rows


@pytest.mark.parametrize(
    "stray",
    [
        ('"Halt!', "Stop!"),  # a quotation that goes on in the next sentence
        ('"Look," she said.', '"Schau", sagte sie.'),
        ('"Says who?"', '"Wer sagt das?"'),  # whole sentences in marks, few of them
        ('"Objection!" "Sustained!"', '"Einspruch!"'),
        ('5" pipe', '5"-Rohr'),
        ('"', '""'),
    ],
)
@pytest.mark.parametrize("at", [0, 3, 7])
def test_a_mark_at_the_beginning_of_a_sentence_is_text(tmp_path: Path, stray: tuple[str, str], at: int) -> None:
    rows = [*PAIRS, *PAIRS]
    rows.insert(at, stray)
    assert pairs_of(write_tsv(tmp_path / "a.tsv", rows)) == rows


def test_two_marks_far_apart_do_not_hold_lines_together(tmp_path: Path) -> None:
    rows = [*PAIRS, ('"Look', "Schau"), *PAIRS, ('here"', "hier"), *PAIRS]
    assert pairs_of(write_tsv(tmp_path / "a.tsv", rows)) == rows


def test_real_sentences_are_read_as_they_are(tmp_path: Path, data_folder: Path) -> None:
    """Tatoeba has sentences that begin with a quotation mark, and the same table comes out of a spreadsheet."""
    sides = [
        gzip.decompress((data_folder / "tatoeba-zh-en" / f"train.{lang}.gz").read_bytes()).decode().split("\n")[:-1]
        for lang in ("en", "zh")
    ]
    rows = list(zip(*sides, strict=True))
    assert any(source.startswith('"') for source, _ in rows)
    assert pairs_of(write_tsv(tmp_path / "plain.txt", rows)) == rows
    for delimiter in "\t,;":
        assert pairs_of(write_csv(tmp_path / "sheet.csv", rows, delimiter=delimiter)) == rows
    scored = [(f"1,{n % 1000:03}", *row) for n, row in enumerate(rows)]
    assert pairs_of(write_csv(tmp_path / "scored.csv", scored, delimiter=";")) == rows


@pytest.mark.parametrize("delimiter", [", ", "; ", " | "])
def test_spaces_beside_a_delimiter_are_no_text(tmp_path: Path, delimiter: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text("".join(f'"{source}"{delimiter.lstrip()}"{target}"\n' for source, target in PAIRS))
    assert on_one_line(pairs_of(path)) == on_one_line(PAIRS)


def test_bars_part_the_columns_of_moses(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("".join(f"{source} ||| {target}\n" for source, target in PAIRS))
    assert on_one_line(pairs_of(path)) == on_one_line(PAIRS)


def test_excel_says_its_separator(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("sep=;\r\n" + "".join(f"{source};{target}\r\n" for source, target in PAIRS))
    assert pairs_of(path) == PAIRS


def test_a_table_with_tabs_of_excel_has_its_commas_in_marks(tmp_path: Path) -> None:
    rows = [(f"No, {n}", f"Nein {n}") for n in range(6)]
    path = tmp_path / "a.txt"
    path.write_text("".join(f'"{source}"\t{target}\n' for source, target in rows))
    assert pairs_of(path) == rows


@given(
    content=st.lists(
        st.sampled_from(
            [
                *("a", "b c", "1", "en", "de", "id", "\t", ",", ";", '"', '""', '","', "\n", "\n", "\r", "sep=;", " "),
                *("{", "[", '{"en": "a", "de": "b"}', '{"a": [1]}', "\x00", "\udcff", "\u2028", "=", "-", "é"),
            ]
        )
    ).map("".join),
    name=st.sampled_from(["a.tsv", "a.csv", "a.txt", "a.jsonl", "a.en-de.tsv"]),
    settings=st.sampled_from([{}, {"columns": "1,2"}, {"columns": "en,de"}, {"source_lang": "de"}]),
)
def test_any_file_is_read_the_same_twice_or_refused(
    tmp_path_factory: pytest.TempPathFactory, content: str, name: str, settings: dict[str, str]
) -> None:
    path = tmp_path_factory.getbasetemp() / name
    path.write_bytes(content.encode(errors="surrogateescape"))
    try:
        found = list(text_of(path, invalid_utf8="drop", **settings).numbered())
    except (DataError, ConfigError):
        return
    assert list(text_of(path, invalid_utf8="drop", **settings).numbered()) == found
    assert text_of(path, invalid_utf8="drop", **settings).count() == len(found)


@pytest.mark.parametrize("quoting", [csv.QUOTE_ALL, csv.QUOTE_NONE])
@given(places=st.lists(st.integers(0, 3), min_size=2, max_size=8))
def test_errors_name_the_line_of_the_file(
    tmp_path_factory: pytest.TempPathFactory, quoting: int, places: list[int]
) -> None:
    """Also after cells of several lines."""
    folder = tmp_path_factory.getbasetemp()
    rows = [["one" + "\nmore" * (n * (quoting == csv.QUOTE_ALL)), "eins"] for n in places]
    file = io.StringIO()
    writer = csv.writer(file, delimiter="\t", quoting=quoting, quotechar='"', lineterminator="\n")
    writer.writerows([*rows, *PAIRS * 5])
    line = file.getvalue().count("\n") + 1
    writer.writerows([("a", "b", "c")])
    (folder / "bad.tsv").write_text(file.getvalue())
    with pytest.raises(DataError, match=f"3 columns, and 2 in most lines: .*bad.tsv:{line};"):
        list(text_of(folder / "bad.tsv"))


def test_numbers_of_lines_are_those_of_the_file(tmp_path: Path) -> None:
    rows = [("source", "target"), ("A\nman.", "Ein\nMann."), ("", ""), ("Dogs.", "")]
    text = text_of(write_csv(tmp_path / "a.csv", rows))
    assert list(text.numbered()) == [(2, "A man.", "Ein Mann."), (5, "", ""), (6, "Dogs.", "")]
    assert [text.line_of(index) for index in range(3)] == [2, 5, 6]


def test_a_bad_row_does_not_make_a_quoted_table_plain(tmp_path: Path) -> None:
    """The error is about that row, not about the first comma inside a cell."""
    path = write_csv(tmp_path / "a.csv", PAIRS * 3)
    path.write_text(path.read_text() + '"He said "no","Er sagte nein"\n' + "No,Nein\n")
    with pytest.raises(DataError, match=r"wrong quotation marks .*a\.csv:13;"):
        list(text_of(path))


def test_a_title_above_the_header_is_refused_at_its_line(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("My sentences\nen\tde\n" + "".join(f"{en}\t{de}\n" for en, de in PAIRS))
    with pytest.raises(DataError, match=r"1 column, and 2 in most lines: .*a\.tsv:1;"):
        list(text_of(path))


def test_a_cell_that_never_ends_is_told(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "a.csv", PAIRS * 3, quoting=csv.QUOTE_ALL)
    path.write_text(path.read_text() + '"open,"x"\n' + '"a","b"\n')
    with pytest.raises(DataError, match=r"wrong quotation marks .*a\.csv:13;"):
        list(text_of(path))


def test_unreadable_lines_of_a_quoted_table_are_pairs_that_are_dropped(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b'"a","b"\n' * 5 + b'"\xff","b"\n"' + b"x" * (MAX_LINE_BYTES + 9) + b'","b"\n"c","d"\n')
    text = text_of(path, invalid_utf8="drop")
    assert list(text) == [("a", "b")] * 5 + [("c", "d")]
    assert [source for _, source, _ in text.numbered()][5:7] == [Unreadable.INVALID, Unreadable.TOO_LONG]
    with pytest.raises(DataError, match=r"invalid UTF-8: .*a\.csv:6:2"):
        text_of(path)


def test_different_numbers_of_columns_are_refused_at_the_line(tmp_path: Path) -> None:
    rows: list[Sequence[str]] = [PAIRS[n % 4] for n in range(300)]
    rows[57] = (*PAIRS[0], "more")
    with pytest.raises(DataError, match=r"3 columns, and 2 in most lines: .*:58; each line must have 2"):
        list(text_of(write_tsv(tmp_path / "a.tsv", rows)))
    rows[57] = ("one",)
    with pytest.raises(DataError, match=r"1 column, and 2 in most lines: .*:58;"):
        list(text_of(write_tsv(tmp_path / "a.tsv", rows)))


@pytest.mark.parametrize("name", ["a.tsv", "a.txt", "a"])
def test_one_column_is_no_table(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text("".join(f"{line}\n" for line in ENGLISH))
    with pytest.raises(DataError, match=r"one column, where a pair needs two: .*--source and --target"):
        text_of(path)


def test_blank_lines_are_empty_pairs(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("\n\nen\tde\n\na\tx\n\t\n")
    assert list(text_of(path).numbered()) == [(4, "", ""), (5, "a", "x"), (6, "", "")]
    path.write_text("\n \n")
    assert pairs_of(path) == [("", ""), ("", "")]
    path.write_text("")
    assert pairs_of(path) == []


# -- which columns -----------------------------------------------------------------------------------------------

BESIDE = {
    "id": lambda n: str(n),
    "score": lambda n: f"1.{n:04}",
    "decimal comma": lambda n: f"0,{n:03}",
    "negative": lambda n: f"-{n}.5e-3",
    "percent": lambda n: f"{n} %",
    "link": lambda n: f"https://example.org/{n}",
    "date": lambda n: f"2024-01-{n % 28 + 1:02} 10:00",
    "code": lambda n: "de_DE",
    "attribution": lambda n: f"CC-BY 2.0 (France) Attribution: tatoeba.org #{n} (CM) & #{n + 7} (Pfirsichbaeumchen)",
    "key": lambda n: f"doc-{n}.s{n * 7}",
    "empty": lambda n: "",
    "null": lambda n: "\\N",
}


@given(
    sides=st.permutations([0, 1]),
    beside=st.lists(st.sampled_from(sorted(BESIDE)), min_size=1, max_size=8),
    dice=st.randoms(use_true_random=False),
    size=st.integers(4, 60),
    name=st.sampled_from(["a.tsv", "a.csv"]),
)
def test_the_two_columns_of_text_are_found_and_told(
    tmp_path_factory: pytest.TempPathFactory,
    sides: list[int],
    beside: list[str],
    dice: random.Random,
    size: int,
    name: str,
) -> None:
    columns = [*beside]
    places = sorted(dice.sample(range(len(beside) + 2), 2))
    for place in places:
        columns.insert(place, "text")
    rows = [
        [PAIRS[n % 4][side] if kind == "text" else BESIDE[kind](n) for kind, side in zip(columns, order, strict=True)]
        for n in range(size)
        for order in [[0 if at <= places[0] else 1 for at in range(len(columns))]]
    ]
    path = write_csv(tmp_path_factory.getbasetemp() / name, rows, delimiter="\t" if name == "a.tsv" else ",")
    text = text_of(path)
    assert list(text) == [PAIRS[n % 4] for n in range(size)]
    assert f"source: column {places[0] + 1}, target: column {places[1] + 1}" in text.notes[0]
    assert f"read as a table of {len(columns)} " in text.notes[0]


@given(
    kinds=st.lists(st.sampled_from(["text", *sorted(BESIDE)]), min_size=2, max_size=6),
    size=st.integers(3, 30),
)
def test_numbers_are_never_chosen(tmp_path_factory: pytest.TempPathFactory, kinds: list[str], size: int) -> None:
    rows = [
        [PAIRS[n % 4][at % 2] if kind == "text" else BESIDE[kind](n) for at, kind in enumerate(kinds)]
        for n in range(size)
    ]
    path = write_tsv(tmp_path_factory.getbasetemp() / "mixed.tsv", rows)
    try:
        found = list(text_of(path))
    except DataError as error:
        advised = error.message.partition("--columns ")[2].partition(" ")[0].rstrip(";,")
        chosen = [[row[int(part) - 1] for row in rows] for part in advised.split(",") if part.isdigit()]
        assert kinds.count("text") != 2
    else:
        chosen = [[pair[side] for pair in found] for side in (0, 1)]
    assert all(kind_of(column) != NUMBERS for column in chosen)


def test_where_the_choice_is_open_the_columns_are_shown(tmp_path: Path) -> None:
    rows = [(n, en, de, de.upper()) for n, (en, de) in enumerate(PAIRS)]
    path = write_tsv(tmp_path / "a.tsv", rows)
    with pytest.raises(DataError, match=r"3 columns of 4 are text, and a pair needs two: .*--columns 2,3 ") as caught:
        text_of(path)
    assert 'column 1: numbers ("0", "1", "2")' in caught.value.message
    assert pairs_of(path, columns="2,3") == PAIRS
    assert pairs_of(path, columns="3, 2") == [(de, en) for en, de in PAIRS]


@pytest.mark.parametrize("second", [lambda n: str(n), lambda n: "deu", lambda n: f"www.example.org/{n}"])
def test_text_beside_numbers_is_no_pair_unless_it_is_said(tmp_path: Path, second: Callable[[int], str]) -> None:
    rows = [(second(n), en) for n, en in enumerate(ENGLISH)]
    path = write_tsv(tmp_path / "a.tsv", rows)
    with pytest.raises(DataError, match="one column of 2 is text"):
        text_of(path)
    assert pairs_of(path, columns="1,2") == rows


def test_tasks_of_numbers_stay_pairs(tmp_path: Path) -> None:
    rows = [(f"{n} {n + 1} {n % 3}", f"{n % 3} {n} {n + 1}") for n in range(20)]
    assert pairs_of(write_tsv(tmp_path / "a.tsv", rows)) == rows


def test_sentences_that_are_repeated_are_text_and_labels_are_not(tmp_path: Path) -> None:
    rows = [(*PAIRS[n % 4], ("alice", "bob")[n % 2]) for n in range(100)]
    assert pairs_of(write_tsv(tmp_path / "a.tsv", rows)) == [PAIRS[n % 4] for n in range(100)]


def test_a_machines_translation_is_not_maltese(tmp_path: Path) -> None:
    rows = [("src", "mt", "ref"), *((en, "Irgendwas.", de) for en, de in PAIRS)]
    assert pairs_of(write_tsv(tmp_path / "a.tsv", rows)) == PAIRS


def test_a_heading_that_nobody_knows_is_seen_over_numbers(tmp_path: Path) -> None:
    rows = [("Lfd.", "Satz A", "Satz B"), *((n, *pair) for n, pair in enumerate(PAIRS))]
    path = write_tsv(tmp_path / "a.tsv", rows)
    assert pairs_of(path) == PAIRS
    assert "the header left out" in text_of(path).notes[0]


# -- headers -----------------------------------------------------------------------------------------------------

HEADERS = [
    ("source", "target"),
    ("Src", "TRG"),
    ("src_text", "tgt_text"),
    ("source sentence", "target sentence"),
    ("sourceString", "targetString"),
    ("en", "de"),
    ("EN", "DE"),
    ("en-US", "de_DE"),
    ("eng", "deu"),
    ("eng_Latn", "deu_Latn"),
    ("English", "German"),
    ("english", "Deutsch"),
    ("Englisch", "Deutsch"),
    ("English sentence", "German sentence"),
    ("sentence_en", "sentence_de"),
    ("text", "translation"),
    ("English", "translation"),
    ("en", "German translation"),
    ("Русский", "日本語"),
    ("Português (Brasil)", "Français"),
    ("हिन्दी", "中文"),
    ("原文", "译文"),
    ("source_sentence", "reference_translation"),
    ("translation.en", "translation.de"),
    ("sentence1", "sentence2"),
    ("L1", "L2"),
    ("text_1", "text_2"),
]


@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize("quoting", [csv.QUOTE_ALL, csv.QUOTE_MINIMAL])
def test_a_header_is_no_pair_and_says_which_column_is_which(
    tmp_path: Path, header: tuple[str, str], quoting: int
) -> None:
    rows = [("No.", "note", *header), *((n, f"see {n}", *pair) for n, pair in enumerate(PAIRS))]
    path = write_csv(tmp_path / "a.tsv", rows, delimiter="\t", quoting=quoting)
    assert pairs_of(path) == PAIRS
    assert f'source: column 3 ("{header[0]}"), target: column 4 ("{header[1]}")' in text_of(path).notes[0]
    assert pairs_of(write_csv(tmp_path / "b.csv", [header, *PAIRS], quoting=quoting)) == PAIRS
    assert pairs_of(path, columns=f"{header[1]},{header[0]}") == [(de, en) for en, de in PAIRS]


@pytest.mark.parametrize(
    "first",
    [
        ("Hi.", "Hallo."),
        ("It is.", "Es ist."),
        ("He is my son", "Er ist mein Sohn"),
        ("translation", "Übersetzung"),  # both mean the target
        ("English", "Englisch"),
        ("German", "Deutsch"),
        ("text", "Text"),
        ("I speak English", "Ich spreche Deutsch"),
        ("the source", "die Quelle"),
        ("no", "nein"),
    ],
)
def test_sentences_are_no_header(tmp_path: Path, first: tuple[str, str]) -> None:
    assert pairs_of(write_tsv(tmp_path / "a.tsv", [first, *PAIRS])) == [first, *PAIRS]


def test_a_header_further_down_is_text(tmp_path: Path) -> None:
    rows = [*PAIRS, ("en", "de")]
    assert pairs_of(write_tsv(tmp_path / "a.tsv", rows)) == rows


SWAPPED = [(de, en) for en, de in PAIRS]


@pytest.mark.parametrize("header", [("en", "de"), ("English", "Deutsch"), ("EN-us", "ger"), ("source_en", "target_de")])
def test_columns_are_put_the_right_way_round(tmp_path: Path, header: tuple[str, str]) -> None:
    path = write_tsv(tmp_path / "a.tsv", [header, *PAIRS])
    for given_languages in ({"source_lang": "de"}, {"target_lang": "en"}, {"source_lang": "de", "target_lang": "en"}):
        assert pairs_of(path, **given_languages) == SWAPPED
        assert "columns swapped: the header says" in text_of(path, **given_languages).notes[1]
    for right in ({}, {"source_lang": "en"}, {"target_lang": "de"}):
        assert pairs_of(path, **right) == PAIRS
        assert len(text_of(path, **right).notes) == 1
    for wrong in ({"source_lang": "fr"}, {"source_lang": "en", "target_lang": "fr"}):
        with pytest.raises(ConfigError, match=r"fr|any language"):
            text_of(path, **wrong)


def test_a_file_name_and_codes_beside_the_text_say_the_direction_too(tmp_path: Path) -> None:
    named = write_tsv(tmp_path / "a.en-de.tsv", PAIRS)
    coded = write_tsv(tmp_path / "a.tsv", [("en", en, "de", de) for en, de in PAIRS])
    for path, by in ((named, "the name of the file"), (coded, "a column of codes")):
        assert pairs_of(path) == PAIRS
        assert languages(DataConfig(pairs=str(path))) == ("en", "de")
        assert pairs_of(path, source_lang="de") == SWAPPED
        assert languages(DataConfig(pairs=str(path), source_lang="de")) == ("de", "en")
        assert (
            f"columns swapped: {by} says en, de, and de to en is asked for" in text_of(path, source_lang="de").notes[1]
        )
    with pytest.raises(ConfigError, match="the columns are en, de, and fr to"):
        text_of(coded, source_lang="fr")
    assert pairs_of(named, columns="2,1") == SWAPPED
    assert languages(DataConfig(pairs=str(named), columns="2,1")) == ("de", "en")


def test_two_files_whose_names_say_the_other_direction_are_refused(tmp_path: Path) -> None:
    for side, name in enumerate(("a.en", "a.de")):
        (tmp_path / name).write_text("".join(f"{pair[side]}\n" for pair in PAIRS))
    files = {"source": str(tmp_path / "a.en"), "target": str(tmp_path / "a.de")}
    assert list(read_pairs(DataConfig(**files, source_lang="en"), "train")) == PAIRS
    with pytest.raises(ConfigError, match="give the files the other way round"):
        read_pairs(DataConfig(**files, source_lang="de"), "train")


def test_languages_come_from_a_header(tmp_path: Path) -> None:
    path = write_tsv(tmp_path / "a.tsv", [("Chinesisch", "zh-TW", "en"), *(("x", de, en) for en, de in PAIRS)])
    with pytest.raises(ConfigError, match=r"more than two languages \(zh, zh-TW, en\)"):
        text_of(path)
    data = DataConfig(pairs=str(path), source_lang="zh-TW", target_lang="en")
    assert languages(data) == ("zh-TW", "en")
    assert list(read_pairs(data, "train")) == SWAPPED
    assert languages(DataConfig(pairs=str(path), columns="2,3")) == ("zh-TW", "en")


def test_validation_text_has_the_direction_of_the_training_text(tmp_path: Path) -> None:
    train = write_tsv(tmp_path / "a.tsv", [("de", "en"), *SWAPPED])
    validation = write_tsv(tmp_path / "b.tsv", [("en", "de"), *PAIRS])
    data = DataConfig(pairs=str(train), validation_pairs=str(validation))
    assert list(read_pairs(data, "validation")) == SWAPPED


@pytest.mark.parametrize("columns", ["2", "2,2", "1,2,3", ",", "a,"])
def test_columns_are_two(columns: str) -> None:
    with pytest.raises(ValueError, match="columns must be two"):
        DataConfig(pairs="a.tsv", columns=columns)
    with pytest.raises(ValueError, match="has no effect without a file of pairs"):
        DataConfig(source="a", target="b", columns="1,2")


@pytest.mark.parametrize(
    ("columns", "what"), [("1,3", "no column 3"), ("0,1", "no column 0"), ("en,fr", "no column is named fr")]
)
def test_columns_that_are_not_there_are_told(tmp_path: Path, columns: str, what: str) -> None:
    path = write_tsv(tmp_path / "a.tsv", [("en", "de"), *PAIRS])
    with pytest.raises(ConfigError, match=f"{what}: .*a.tsv"):
        text_of(path, columns=columns)
    with pytest.raises(ConfigError, match=r"de to any language is asked for"):
        text_of(path, columns="en,de", source_lang="de")


# -- JSON --------------------------------------------------------------------------------------------------------


def write_objects(path: Path, rows: Sequence[object]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@given(source=cells, target=cells)
def test_line_breaks_in_strings_are_white_space(
    tmp_path_factory: pytest.TempPathFactory, source: str, target: str
) -> None:
    path = write_objects(tmp_path_factory.getbasetemp() / "a.jsonl", [{"source": source, "target": target}])
    ((found_source, found_target),) = pairs_of(path)
    assert (found_source, found_target) == (join_lines(source), join_lines(target))
    assert found_source.split() == source.split()
    assert not set("\t\n\r\u2028\x85").intersection(found_source + found_target)


@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.txt", "a.ndjson.gz"])
@pytest.mark.parametrize(
    "keys", [("src", "tgt"), ("English", "German"), ("en-US", "de"), ("sentence_en", "sentence_de"), ("foo", "bar")]
)
def test_pairs_are_found_under_other_keys(tmp_path: Path, name: str, keys: tuple[str, str]) -> None:
    rows = [{"id": str(n), keys[0]: en, keys[1]: de, "score": n / 7} for n, (en, de) in enumerate(PAIRS)]
    path = write_objects(tmp_path / name, rows)
    if name.endswith(".gz"):
        path.write_bytes(gzip.compress(path.read_bytes()))
    assert pairs_of(path) == PAIRS
    assert f'source: "{keys[0]}", target: "{keys[1]}"' in text_of(path).notes[0]
    assert pairs_of(path, columns=f"{keys[1]},{keys[0]}") == SWAPPED


def test_keys_say_the_direction(tmp_path: Path) -> None:
    path = write_objects(tmp_path / "a.jsonl", [{"en": en, "de": de} for en, de in PAIRS])
    assert pairs_of(path, source_lang="de") == SWAPPED
    assert languages(DataConfig(pairs=str(path))) == ("en", "de")
    with pytest.raises(ConfigError, match="the columns are en, de, and en to fr is asked for"):
        text_of(path, source_lang="en", target_lang="fr")


def test_keys_that_are_not_plain_are_asked_for(tmp_path: Path) -> None:
    path = write_objects(tmp_path / "a.jsonl", [{"a": en, "b": de, "c": de} for en, de in PAIRS])
    with pytest.raises(DataError, match=r"3 of the keys have text, .*--columns a,b"):
        text_of(path)
    with pytest.raises(ConfigError, match="name two keys: a, b, c"):
        text_of(path, columns="1,2")
    path = write_objects(tmp_path / "b.jsonl", [{"source": "a", "target": "b"}, {"other": "a", "text": "b"}])
    with pytest.raises(DataError, match=r"no pair of strings: .*:2; .*'other', 'text'\): --columns") as caught:
        list(text_of(path))
    assert "source_lang" not in caught.value.message


@pytest.mark.parametrize("indent", [None, 1])
def test_json_that_is_one_value_is_named(tmp_path: Path, indent: int | None) -> None:
    rows = [{"en": en, "de": de} for en, de in PAIRS]
    for value, kind in ((rows, "array"), ({"data": rows}, "object")):
        for name in ("my file.json", "a.txt"):
            (tmp_path / name).write_text(json.dumps(value, indent=indent))
            if name == "a.txt" and kind == "object" and indent:
                continue  # a brace alone may be a line of text
            with pytest.raises(DataError, match=f"this is one JSON {kind}, not one object a line.*jq -c"):
                text_of(tmp_path / name)


# -- other files, and the commands -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        ("a.xlsx", b"PK\x03\x04rest", "a spreadsheet"),
        ("a.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old office document"),
        ("a.ods", b"PK\x03\x04rest", "a spreadsheet"),
    ],
)
def test_files_of_other_programs_are_named(tmp_path: Path, name: str, content: bytes, what: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=f"this is {what}.*(--pairs|CSV)"):
        text_of(tmp_path / name)


def test_a_table_called_xls_is_read(tmp_path: Path) -> None:
    assert pairs_of(write_tsv(tmp_path / "a.xls", PAIRS)) == PAIRS


def test_another_choice_of_columns_is_another_corpus(tmp_path: Path, log_lines: list[str]) -> None:
    rows = [(n, f"A man {n}.", f"Ein Mann {n}.") for n in range(40)]
    settings = {"data": {"pairs": str(write_tsv(tmp_path / "a.tsv", rows))}, "tokenizer": {"kind": "characters"}}
    prepare(parse_config(settings), tmp_path / "run")
    assert any(
        "read as a table of 3 tab-separated columns; source: column 2, target: column 3" in line for line in log_lines
    )
    settings["data"]["columns"] = "3,2"
    with pytest.raises(ConfigError, match=r"data\.columns: None \(then\), 3,2 \(now\)"):
        prepare(parse_config(settings), tmp_path / "run")


def test_what_is_dropped_is_named_by_its_line(tmp_path: Path, log_lines: list[str]) -> None:
    rows = [("en", "de"), *((f"A man\n{n}.", f"Ein Mann {n}.") for n in range(40)), ("A dog.", "")]
    settings = {"data": {"pairs": str(write_csv(tmp_path / "a.csv", rows))}, "tokenizer": {"kind": "characters"}}
    prepare(parse_config(settings), tmp_path / "run")
    assert any("empty 1 (line 82)" in line for line in log_lines)


@pytest.mark.captions
def test_the_commands_take_columns_and_validation_pairs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [("id", "en", "de"), *((n, f"A man {n}.", f"Ein Mann {n}.") for n in range(40))]
    table, validation = (str(write_tsv(tmp_path / name, rows)) for name in ("a.tsv", "b.tsv"))
    columns = ["--columns", "de,en", "-o", str(tmp_path / "run"), "--set", "tokenizer.kind=characters"]
    assert run(["prepare", "--pairs", table, "--validation-pairs", validation, *columns]) == 0
    said = capsys.readouterr().err
    for path in (table, validation):
        assert (
            f'{path}: read as a table of 3 tab-separated columns, the header left out; source: column 3 ("de")' in said
        )
    assert "validation: kept 40 of 40 pairs" in said
    assert run(["evaluate", "-m", "multi30k-en-de", "--pairs", table, "--columns", "id,de", "--beam-size", "1"]) == 0
    assert 'source: column 1 ("id"), target: column 3 ("de")' in capsys.readouterr().err
    assert run(["evaluate", "-m", "multi30k-en-de", "--pairs", table, "--columns", "de,en"]) == 2
    assert "en to de is asked for" in capsys.readouterr().err


def test_a_side_that_is_null_is_empty(tmp_path: Path) -> None:
    rows = [{"en": "A dog.", "de": "Ein Hund."}, {"en": "A cat.", "de": None}]
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert pairs_of(path) == [("A dog.", "Ein Hund."), ("A cat.", "")]
