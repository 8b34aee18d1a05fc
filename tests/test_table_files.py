"""Tables as documents: the cells of the named columns are translated, and everything else stays byte for byte."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.cli.program import run
from dragoman.documents import Document, open_document, parse_document
from dragoman.documents.table_cells import is_formula, is_text, without_formula
from dragoman.documents.table_text import MAX_CHARACTERS, TableText, read_table
from dragoman.errors import DataError
from dragoman.translator import Translation

PRODUCTS = """\
id,name,price,description,url
1,"Lamp, blue",12.50,"A lamp for your desk.
It is very bright.",https://shop.example/p/1
A-2,Chair,"1.299,00","<p>A <b>soft</b> chair.</p><ul><li>Made of wood</li></ul>",
"3",5" nail,0,,
"""


def opened(content: str | bytes, columns: str | None = "text", format: str = "csv") -> Document:
    return parse_document(content.encode() if isinstance(content, str) else content, format, "a.csv", columns)


def filled(document: Document, change: Callable[[str], str], **values: object) -> str:
    translations = [replace(Translation(change(one.text), 0.0, ()), **values) for one in document.segments()]
    return document.rebuild(translations).decode()


def upper(content: str, columns: str, format: str = "csv") -> str:
    return filled(opened(content, columns, format), str.upper)


def texts(content: str, columns: str, format: str = "csv") -> list[str]:
    return [segment.text for segment in opened(content, columns, format).segments()]


def test_named_columns_are_translated_in_place() -> None:
    expected = PRODUCTS.replace("Lamp, blue", "LAMP, BLUE").replace("A lamp for your desk.", "A LAMP FOR YOUR DESK.")
    expected = expected.replace("It is very bright.", "IT IS VERY BRIGHT.").replace("Chair", "CHAIR")
    expected = expected.replace("A <b>soft</b> chair.", "A <b>SOFT</b> CHAIR.").replace("Made of wood", "MADE OF WOOD")
    expected = expected.replace('5" nail', '"5"" NAIL"')
    assert upper(PRODUCTS, "name,description") == expected
    assert upper(PRODUCTS, " Description , NAME") == expected


def test_numbers_are_for_tables_without_names() -> None:
    assert upper("1;my text;a\n2;more;b\n", "2") == "1;MY TEXT;a\n2;MORE;b\n"
    assert upper("id,my text\n2,more\n", "2") == "id,MY TEXT\n2,MORE\n"
    assert upper("id,text,text\n1,a b,c d\n", "2,ID") == "id,text,text\n1,A B,c d\n"


@pytest.mark.parametrize(
    ("before", "columns", "after"),
    [
        ("id,en,de\n1,a b,\n2,c d,fertig\n,,\n", "en=de", "id,en,de\n1,a b,A B\n2,c d,fertig\n,,\n"),
        ('de,en\r\n"","a, b"\r\n  ,c d', "en=de", 'de,en\r\n"A, B","a, b"\r\nC D,c d'),
        ("id,en\n1,a b\n\n2,7\n3,=A1\n4,", "en=de", "id,en,de\n1,a b,A B\n\n2,7,7\n3,=A1,\n4,,"),
        ("a;b\nx y;z\n", "b=c,a=d", "a;b;c;d\nx y;z;Z;X Y\n"),
        ("a;b\nx y;z\n", "a=c;d", 'a;b;"c;d"\nx y;z;X Y\n'),
        ("1,a b,\n", "2=3", "1,a b,A B\n"),
        ("a=b,x\nc d,e\n", "a=b", "a=b,x\nC D,e\n"),
        ('"Name, long","He ""x"""\na b,c\n', '"Name, long","He ""x"""', '"Name, long","He ""x"""\nA B,C\n'),
        ('"Two\nlines",x\na b,c\n', "Two lines", '"Two\nlines",x\nA B,c\n'),
        ("2024,2025\na b,c\n", "2025", "2024,2025\na b,C\n"),
    ],
)
def test_columns_are_found_and_filled(before: str, columns: str, after: str) -> None:
    assert upper(before, columns) == after


def test_an_unsure_translation_is_left_out_of_its_own_column() -> None:
    document = opened("en,de\na b,\n", "en=de")
    assert filled(document, str, flags=("unsure",)) == "en,de\na b,\n"
    assert filled(opened("en,de\na b,\n", "en"), str, flags=("unsure",)) == "en,de\na b,\n"


@pytest.mark.parametrize(
    ("content", "format", "expected"),
    [
        ("id;text\n1;Hello, my dear\n", "csv", "id;text\n1;HELLO, MY DEAR\n"),
        ("id\ttext\n1\tHello, my dear\n", "csv", "id\ttext\n1\tHELLO, MY DEAR\n"),
        ("id|text\n1|Hello\n", "csv", "id|text\n1|HELLO\n"),
        ('sep=;\r\nid;text\r\n1;"a;b"\r\n', "csv", 'sep=;\r\nid;text\r\n1;"A;B"\r\n'),
        ("id,text\r1,a b\r", "csv", "id,text\r1,A B\r"),
        ("text\na b\nc\n", "csv", "text\nA B\nC\n"),
        ('id, text\n1, "a, b"\n', "csv", 'id, text\n1,"A, B"\n'),
        ('id\ttext\n1\tsay "hi" now\n', "tsv", 'id\ttext\n1\tSAY "HI" NOW\n'),
        ('id\ttext\n1\t"a\nb"\n', "tsv", 'id\ttext\n1\t"A\nB"\n'),
        ("id\ttext\n1\ta, b, c\n", "tsv", "id\ttext\n1\tA, B, C\n"),
    ],
)
def test_dialects(content: str, format: str, expected: str) -> None:
    assert upper(content, "text", format) == expected


def test_a_byte_order_mark_stays() -> None:
    assert upper("\ufefftext,b\na b,c\n", "text") == "\ufefftext,b\nA B,c\n"


@pytest.mark.parametrize(
    "value",
    [
        *("", " ", "42", "-5", "+1", "1.299,00", "3,50 €", "50 %", "2026-11-27", "12:30", "12/31/2026", "N/A", "\\N"),
        *("A-100", "SKU_7", "0x1f", "deadbeef42", "b7f2a0e4-3c58-4c1f-9a55-1f9e6b0c2d11", "unit_price", "TRUE"),
        *("https://a.example/x?y=1", "www.example.org", "mailto:a@b.org", "ann@example.org", "/usr/share", "tel:+49"),
        *("img/lamp.png", "photo.jpg", "./a/b.txt", "=SUM(A1)", '=HYPERLINK("http://x.org";"Click")', "＝A1"),
        *("+cmd|' /C calc'!A0", "@SUM(1+1)", "-SUM(A1, 2)", "\t=A1", "-(A1+2)", "-2*(B$1)", "+A1*SUM(B1:B2)"),
        *(
            "AB-1234",
            "sku-12",
            "lamp-blue-2",
            "1234-blue",
            "TSHIRT-XL-2",
            "7f3a-12",
            "größe.png",
            "img/Tür.PNG",
            "a.mp3",
        ),
        *(
            "https://de.wikipedia.org/wiki/Tür",
            "https://zh.wikipedia.org/wiki/中文",
            "www.bücher.example",
            "file:///tmp/a",
        ),
    ],
)
def test_what_is_no_text_stays(value: str) -> None:
    assert not is_text(value)
    cell = '"' + value.replace('"', '""') + '"'
    assert texts(f"id,text,x\n1,{cell},y\n", "text") == []


@pytest.mark.parametrize(
    "value",
    [
        *("Lamp", "Yes/No", "No", "Is", "12 cm", "License", "- a point", "@anna, look", "T-Shirt", "你好", "a b: c"),
        *(
            "这台灯的价格是12.50",
            "请访问我们的网站example.com",
            "适用于Node.js",
            "中文_标签",
            "/每天一次",
            "Größe12.50",
        ),
        *("3D-Drucker", "MP3-Player", "2-Sitzer", "24-Stunden-Service", "Vitamin-B12", "-Jacket(red)", "+Size(s)"),
        *("-(optional)", "@anna(sales)", "-rot|blau", "请发邮件到ann@example.org", "www.example.com上的说明"),
        *("https://example.com是我们的网站", "https://example.com/a，请访问", "Fertig.Danke", "모델_이름"),
    ],
    ids=ascii,
)
def test_words_are_text(value: str) -> None:
    assert is_text(value)


@pytest.mark.parametrize("sign", "=+-@＝＋－＠")
def test_no_translation_becomes_a_formula(sign: str) -> None:
    content = "text\nplease look\n<p>or here</p>\n"
    written = filled(opened(content), lambda text: f"{sign}A1")
    assert written == f"text\n'{sign}A1\n<p>{sign}A1</p>\n"
    assert filled(opened("text\n+ more words\n"), lambda text: f"{sign}A1") == f"text\n+ {sign}A1\n"


@given(st.text(st.sampled_from("=+-@＝ \t\r\n'ab(|1"), max_size=8), st.text(st.sampled_from("=+-@ '\tab"), max_size=8))
def test_a_new_formula_is_never_written(value: str, source: str) -> None:
    written = without_formula(value, source)
    first = written.lstrip()[:1]
    assert first not in tuple("=+-@＝＋－＠") or source.lstrip()[:1] == first
    assert written.removeprefix("'") == value.removeprefix("'")
    assert is_formula("=" + value)


def test_only_text_is_given_to_the_model() -> None:
    assert texts(PRODUCTS, "1,2,3,4,5") == [
        *("id", "name", "price", "description", "url"),
        *("Lamp, blue", "A lamp for your desk.", "It is very bright."),
        *("Chair", "A soft chair.", "Made of wood", '5" nail'),
    ]


@pytest.mark.parametrize(
    ("content", "columns", "message"),
    [
        ("", "text", "an empty table: a.csv:1"),
        ("\ufeff", "text", "an empty table: a.csv:1"),
        (" \n\r\n", "1", "an empty table: a.csv:1"),
        ("sep=;\n", "1", "an empty table: a.csv:1"),
        ("id,text\n1,a b\n2\n", "text", "1 cell, and the first row has 2: a.csv:3"),
        ('id,text\n1,"a\nb"\n2,b,c\n', "text", "3 cells, and the first row has 2: a.csv:4"),
        ('id,text\n1,"a b\n2,c\n', "text", "a quoted cell without its end: a.csv:2"),
        ('id,text\n1,"a" b\n2,c\n', "text", "text after the end of a quoted cell: a.csv:2"),
        ("id,text\n1,a\0b\n", "text", "a NUL character: a.csv:2"),
        (b"id,text\n1,a\xffb\n", "text", "invalid UTF-8: a.csv:2:4"),
        (b"PK\x03\x04\x14\x00\x06\x00", "text", "this is a ZIP archive or an office document"),
        ("id,text\n1,a\n".encode("utf-16"), "text", "this looks like UTF-16"),
        (
            f"id,text\n1,{'a ' * MAX_CHARACTERS}\n",
            "text",
            "a cell of 262,144 characters, and 131,072 is the most: a.csv:2",
        ),
        ("id,text\n1,a\n", "txet", "there is no column txet: a.csv:1"),
        ("id,text\n1,a\n", "text,3", "there is no column 3: a.csv:1"),
        ("id,text\n1,a\n", "0", "there is no column 0: a.csv:1"),
        ("id,text\n1,a\n", "9" * 5000, "there is no column 999"),
        ("id,text\n1,a\n", "text=3", "there is no column 3: a.csv:1"),
        ("id,text\n1,a\n", "txet=de", "there is no column txet: a.csv:1"),
        ("id,text\n1,a\n", "text=", "no name after the = of text="),
        ("id,text\n1,a\n", "=text", "there is no column"),
        ("id,text\n1,a\n", "", "columns '' cannot be read"),
        ("id,text\n1,a\n", "text,,id", "columns 'text,,id' cannot be read"),
        ("id,text\n1,a\n", "text,2", "column text is named twice"),
        ("id,text\n1,a\n", ",".join(f"text=n{number}" for number in range(101)), "more than 100 columns are named"),
        ("id,text\n1,a\n", "id=de,text=de", "column de is named twice"),
        ("id,text\n1,a\n", "text=de,text=fr", "column text is named twice"),
        ("id,text\n1,a\n", "text,text=de", "column text is named twice"),
        ("text,text\n1,a\n", "text", "several columns are named text"),
    ],
    ids=lambda value: str(value)[:30].encode("unicode_escape").decode(),
)
def test_what_cannot_be_read_is_refused_in_one_line(content: str | bytes, columns: str, message: str) -> None:
    with pytest.raises(DataError) as caught:
        opened(content, columns)
    assert message in caught.value.message
    assert "\n" not in caught.value.message
    assert "; " in caught.value.message


@pytest.mark.parametrize(
    ("content", "advice"),
    [
        (PRODUCTS, "--columns name,description; the first row is: id, name, price, description, url"),
        ("7,a nice lamp,x\n8,a soft chair,y\n", "--columns 2,3; the first row is: 7, a nice lamp, x"),
        ("sku,Body (HTML)\n1,<p>a b</p>\n2,c d\n", "--columns 'Body (HTML)'; the first row"),
        ("id,price\n1,2\n", "by --columns; the first row is: id, price"),
    ],
)
def test_columns_must_be_named(content: str, advice: str) -> None:
    with pytest.raises(DataError) as caught:
        opened(content, None)
    assert caught.value.message.startswith("the columns to translate are not named: a.csv; ")
    assert advice in caught.value.message


@pytest.mark.parametrize(
    ("columns", "end"),
    [
        ("name", "; the first row has the names, and stays"),
        ("name,url", "; 1 cell is no text, and not translated"),
        ("id,name,price,description,url", "; 7 cells are no text, and not translated"),
        ("price=preis", "; 3 cells are no text, and not translated"),
    ],
)
def test_the_line_about_a_table_counts_what_is_no_text(columns: str, end: str) -> None:
    assert opened(PRODUCTS, columns).describe().endswith(end)  # type: ignore[attr-defined]


def test_long_signs_are_judged_in_time() -> None:
    start = time.process_time()
    assert not any(is_formula("-" + sign * 500_000) for sign in ("|", "A", "(", "1", "-", "a", "A|", "!"))
    assert time.process_time() - start < 5


def test_only_some_columns_are_suggested() -> None:
    names = ",".join(f"n{at}" for at in range(1, 41))
    with pytest.raises(DataError) as caught:
        opened(f"{names}\n{','.join(['a word'] * 40)}\n", None)
    some = [f"n{at}" for at in range(1, 13)]
    expected = f"--columns {','.join(some)}; the first row is: {', '.join(some)}, ..."
    assert caught.value.message.endswith(expected)


def test_each_cell_is_translated_once_at_most() -> None:
    names = [f"n{at}" for at in range(100)]
    content = f"{','.join(names)}\n" + f"{','.join(['a word'] * 100)}\n" * 200
    assert len(texts(content, ",".join(f"{name}={name}_de" for name in names))) == 100 * 200
    with pytest.raises(DataError, match="named twice"):
        opened(content, ",".join(f"n0={name}_de" for name in names))


cells = st.text(st.sampled_from('ab ,;|\t"\r\n1=\u2028中\x0b'), max_size=6)


def table_of(text: str, delimiter: str) -> TableText:
    return TableText(Path("a.csv"), b"", text, delimiter, True, 0)


@given(st.text(st.sampled_from('ab ,"\r\n\x0b\u2028'), max_size=40))
def test_rows_are_those_of_the_csv_module(text: str) -> None:
    try:
        rows = csv.reader(io.StringIO(text, newline=""), strict=True, skipinitialspace=True)
        expected = [row for row in rows if row and (len(row) > 1 or row[0].strip())]
    except csv.Error:
        with pytest.raises(DataError):
            list(table_of(text, ",").rows())
        return
    table = table_of(text, ",")
    if len({*map(len, expected)}) > 1:
        with pytest.raises(DataError, match="and the first row has"):
            list(table.rows())
        return
    found = [[table.value(place) for place in row] for row in table.rows()]
    assert [[cell.lstrip(" ") for cell in row] for row in found] == [
        [cell.lstrip(" ") for cell in row] for row in expected
    ]


@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=6), st.sampled_from(",;|\t"), cells, st.booleans())
def test_every_value_is_written_as_the_csv_module_reads_it(
    rows: list[tuple[str, str]], delimiter: str, value: str, is_quoted: bool
) -> None:
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, quoting=csv.QUOTE_ALL if is_quoted else csv.QUOTE_MINIMAL).writerows(rows)
    table = table_of(out.getvalue(), delimiter)
    places = list(table.rows())
    for row in places:
        like = table.raw(row[1])
        line = delimiter.join([table.raw(row[0]), table.written(value, like)]) + "\n"
        (read,) = csv.reader(io.StringIO(line, newline=""), delimiter=delimiter, strict=True)
        assert read[-1] == value


@given(
    st.lists(st.lists(cells, min_size=3, max_size=3), min_size=1, max_size=5),
    st.sampled_from(",;\t"),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["1", "1,3", "2=3"]),
    st.booleans(),
)
def test_any_table_of_the_csv_module_stays_or_changes_in_its_columns_only(
    rows: list[list[str]], delimiter: str, line_end: str, columns: str, is_quoted: bool
) -> None:
    out = io.StringIO()
    quoting = csv.QUOTE_ALL if is_quoted else csv.QUOTE_MINIMAL
    csv.writer(out, delimiter=delimiter, quoting=quoting, lineterminator=line_end).writerows(rows)
    content = out.getvalue().encode()
    try:
        table = read_table(content, Path("a.csv"), is_csv=delimiter != "\t")
        document = opened(content, columns, "tsv" if delimiter == "\t" else "csv")
    except DataError:
        return
    if "=" not in columns:
        assert filled(document, str).encode() == content
    written = filled(document, lambda text: f"{text} Zusatz")
    if not table.is_quoted or table.delimiter != delimiter:
        return
    targets = {"1": {0}, "1,3": {0, 2}, "2=3": {2}}[columns]
    before, after = (
        [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row]
        for text in (content.decode(), written)
    )
    assert len(before) == len(after)
    for old, new in zip(before, after, strict=True):
        assert [cell for at, cell in enumerate(new) if at not in targets] == [
            cell for at, cell in enumerate(old) if at not in targets
        ]


def command(*arguments: object) -> list[str]:
    return ["translate", "-m", "multi30k-en-de", "--beam-size", "1", *map(str, arguments)]


@pytest.mark.captions
def test_the_command_translates_columns(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    table, lines, output = tmp_path / "a.csv", tmp_path / "a.en", tmp_path / "b.csv"
    sentences = ["A man is riding a horse.", "Two dogs are running."]
    table.write_text(f'id,text\n7,{sentences[0]}\n8,"{sentences[1]}"\n')
    lines.write_text("".join(f"{sentence}\n" for sentence in sentences))
    assert run(command("--input", lines)) == 0
    man, dogs = capfd.readouterr().out.splitlines()
    assert run(command("--input", table, "--columns", "text", "--output", output)) == 0
    assert output.read_text() == f'id,text\n7,{man}\n8,"{dogs}"\n'
    assert "2 comma-separated columns; to translate: text; the first row has the names, and stays" in (
        capfd.readouterr().err
    )
    for wrong, status in (([], 1), (["--columns", "txet"], 1), (["--columns", "text", "--fuzzy"], 2)):
        assert run(command("--input", table, *wrong, "--output", tmp_path / "c.csv")) == status
        assert not (tmp_path / "c.csv").exists()
    assert run(command("--input", lines, "--columns", "text")) == 2
    assert "--columns is for tables" in capfd.readouterr().err


@pytest.mark.captions
def test_a_folder_with_tables_needs_their_columns(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.csv").write_text("id,text\n7,A man is riding a horse.\n")
    (folder / "b.tsv").write_text("id\tbody\n7\tA man is riding a horse.\n")
    (folder / "c.txt").write_text("A man is riding a horse.\n")
    assert run(command("--input", folder, "--output", tmp_path / "out")) == 0
    assert sorted(path.name for path in (tmp_path / "out").glob("*.*") if path.is_file()) == ["c.txt"]
    assert "left out, because --columns names no columns: a.csv, b.tsv" in capfd.readouterr().err
    assert run(command("--input", folder, "--columns", "text", "--output", tmp_path / "out2")) == 1
    assert "there is no column text" in capfd.readouterr().err
    translated = (tmp_path / "out2" / "c.txt").read_text()
    assert (tmp_path / "out2" / "a.csv").read_text() == f"id,text\n7,{translated}"
    assert not (tmp_path / "out2" / "b.tsv").exists()


def test_a_table_is_opened_by_its_suffix_and_by_format(tmp_path: Path) -> None:
    (tmp_path / "a.TSV").write_text("text\tx\na b\tc\n")
    (tmp_path / "a.dat").write_text("text\tx\na b\tc\n")
    for document in (
        open_document(tmp_path / "a.TSV", columns="text"),
        open_document(tmp_path / "a.dat", "tsv", columns="text"),
    ):
        assert [segment.text for segment in document.segments()] == ["a b"]
