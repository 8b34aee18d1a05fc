"""The spans of a text that translations keep."""

from __future__ import annotations

import gzip
import itertools
import re
from pathlib import Path
from string import Formatter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.text import spans
from dragoman.text.spans import VERBATIM, find_spans

SIGNS = "a1 =.,:/@#{}%$`_-+()⟨⟩\\'~写é😀<3\u20e3;!?sd&[]"


def spans_of(text: str) -> list[tuple[str, str]]:
    return [(text[span.start : span.end], span.kind) for span in find_spans(text)]


def texts_of(text: str, kind: str) -> list[str]:
    return [found for found, its_kind in spans_of(text) if its_kind == kind]


@given(st.one_of(st.text(), st.text(alphabet=SIGNS, max_size=40)))
def test_spans_are_in_order_and_do_not_overlap(text: str) -> None:
    found = find_spans(text)
    assert all(span.start < span.end for span in found)
    assert all(before.end <= after.start for before, after in itertools.pairwise(found))
    assert not found or (found[0].start >= 0 and found[-1].end <= len(text))


@given(st.one_of(st.text(), st.text(alphabet=SIGNS + "❶🄀", max_size=40)))
def test_places_between_letters_are_left_out_without_loss(text: str) -> None:
    pattern = spans._span_pattern()
    everywhere = re.compile(pattern.pattern.removeprefix(spans._BEGIN), re.VERBOSE)
    assert pattern.pattern.startswith(spans._BEGIN)
    assert [match.span() for match in pattern.finditer(text)] == [match.span() for match in everywhere.finditer(text)]


@given(st.text(alphabet=SIGNS, max_size=30), st.text(alphabet=SIGNS, max_size=30))
def test_a_span_ends_at_white_space_unless_it_says_where_it_ends(first: str, second: str) -> None:
    """Placeholders, code, tags, IBANs and groups of digits may have spaces; all other spans lie within a word."""
    for text, kind in spans_of(f"{first} {second}"):
        assert not re.search(r"\s", text) or kind in ("placeholder", "code", "tag", "break", "identifier", "number")


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("3.5", ["3.5"]),
        ("It costs 1,250.50.", ["1,250.50"]),
        ("1 250,50 € ou 1\u202f250 €", ["1 250,50", "1\u202f250"]),
        ("1.250,50 oder 1'250", ["1.250,50", "1'250"]),
        ("at 17:45, or 3pm, or 3 p.m.", ["17:45", "3", "3"]),
        ("on 2026-11-25, 11/25/2026 or 25.11.2026.", ["2026-11-25", "11/25/2026", "25.11.2026"]),
        ("50%, 50 % of $20, 20 €", ["50", "50", "20", "20"]),
        ("COVID-19, the 1990s, the 3rd, No.5", ["19", "1990", "3", "5"]),
        ("A4, mp3 and v1.2.3 are names", []),
        ("10-15, 10–15 and -5", ["10", "15", "10", "15", "5"]),
        ("In 2020 100 people", ["2020", "100"]),
        ("第3章，17：45，１２", ["3", "17：45", "１２"]),
        ("She is 5.He is 6.", ["5", "6"]),
    ],
)
def test_a_number_has_its_separators_and_nothing_around_it(text: str, numbers: list[str]) -> None:
    assert texts_of(text, "number") == numbers


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("Visit www.example.org. Or example.com?", [("www.example.org", "url"), ("example.com", "url")]),
        ("see http://x.y/z?a=b, or HTTPS://X.Y!", [("http://x.y/z?a=b", "url"), ("HTTPS://X.Y", "url")]),
        ("(https://a.org/b_(c)).", [("https://a.org/b_(c)", "url")]),
        ("https://a.org/{id}?n=%s.", [("https://a.org/{id}?n=%s", "url")]),
        ("写信给a@b.co吧，见http://x.y/z吧。", [("a@b.co", "email"), ("http://x.y/z", "url")]),
        ("Write to ann.lee+x@b.co.uk.", [("ann.lee+x@b.co.uk", "email")]),
        (
            "j.o'brien@b.co, (o’neill@b.co) mailto:d'arcy@b.co sean.d'arcy@b.co r&d@b.co",
            ["j.o'brien@b.co", "o’neill@b.co", "mailto:d'arcy@b.co", "sean.d'arcy@b.co", "r&d@b.co"],
        ),
        ("'ann@b.co', ‘o’neill@b.co’ \"bo@b.co\"", ["ann@b.co", "o’neill@b.co", "bo@b.co"]),
        ("l'adresse d'ann@b.co ou Qu’bo@b.co, dell'io@b.co", ["ann@b.co", "bo@b.co", "io@b.co"]),
        ("a&amp;ann@b.co, it''s@b.co", ["&amp;", "ann@b.co", "s@b.co"]),
        (
            "@ann, #tag and #42nd, not #1 or C# or &#39;",
            [("@ann", "mention"), ("#tag", "mention"), ("#42nd", "mention"), ("&#39;", "tag")],
        ),
        ("{0} {name!r:>10} {} {first name} {{ x }}", ["{0}", "{name!r:>10}", "{}", "{first name}", "{{ x }}"]),
        ("%s, %(count)d, %1$s, %-5.2f", ["%s", "%(count)d", "%1$s", "%-5.2f"]),
        ("${HOME} and $HOME", ["${HOME}", "$HOME"]),
        ("[X7X], [X12X]: [XX] [7]", [("[X7X]", "placeholder"), ("[X12X]", "placeholder")]),
        ("运行`code`吧。", ["`code`"]),
        ("`code`, report.pdf, max_length, __init__", ["`code`", "report.pdf", "max_length", "__init__"]),
        ("open /usr/bin/x or C:\\Users\\x", ["/usr/bin/x", "C:\\Users\\x"]),
        ("Use --help, -v/--verbose or (-x).", ["--help", "-v", "--verbose", "-x"]),
        ("--output=FILE.", [("--output=FILE", "code")]),
        (
            "[-q | -r] --color[=WHEN], --in=<file> --mode={a,b} --x=%s",
            ["-q", "-r", "--color[=WHEN]", "--in=<file>", "--mode={a,b}", "--x=%s"],
        ),
        ("使用--help选项，或-v。", ["--help", "-v"]),
        ("A well-known --- and old -- house, a--b, --quietly--, e -mail, +/-i, -1, -ing", []),
        ("-I am here", []),
        ("Try 'ls --help' or \"-x\"; see (--all).", ["--help", "-x", "--all"]),
        ("The -v option", ["-v"]),
        ("You may use --help here.", ["--help"]),
        ("  -o FILE      write there", ["-o"]),
        ("git commit --amend", ["--amend"]),
        ("Run npm install --force first, with the option --save.", ["--force", "--save"]),
        ("cannot combine --patch and --all", ["--patch", "--all"]),
        ("the option --quiet is ignored; `ls` --all lists", ["--quiet", "`ls`", "--all"]),
        ("{0}: -r, then stop", ["{0}", "-r"]),
        ("Skip it --no-verify does that.", ["--no-verify"]),
        ("l'option «\xa0--output\xa0» manque", ["--output"]),
        ("He stopped --then he ran away.", []),
        ("She came -I think- at noon.", []),
        ("--Hello, she said.", []),
        ("--Hello", []),
        ("He ate --slowly and carefully.", []),
        ("The man --who was old-- left.", []),
        ("Er ging --dann kam sie.", []),
        ("Il est venu --enfin il a parlé.", []),
        ("“--then he left.”", []),
        ("{name} stopped --then he left.", ["{name}"]),
        ("Verbs in -s; size -M", ["-s", "-M"]),
        (
            "IBAN DE89 3704 0044 0532 0130 00, NO93 8601 1117 947, GB82 WEST 1234 5698 7654 32 now.",
            ["IBAN DE89 3704 0044 0532 0130 00", "NO93 8601 1117 947", "GB82 WEST 1234 5698 7654 32"],
        ),
        ("PAY BE68 5390 0754 7034 SOON", [("BE68 5390 0754 7034", "identifier")]),
        ("A380, (B2B) CO2. X7K93Q's A320-200!", ["A380", "B2B", "CO2", "X7K93Q", "A320-200"]),
        ("坐A380去 DE89370400440532013000", ["A380", "DE89370400440532013000"]),
        ("COVID-19, NATO, mp3, 5G, 3PM, 1ST, CO2-Bilanz, DIN-A4, HCoV-NL63, H2Os, A 4, +A4, NO. 5", []),
        ("report_A4.pdf A4.pdf", ["report_A4.pdf", "A4.pdf"]),
        ("⟨1⟩ and ⟨64⟩", ["⟨1⟩", "⟨64⟩"]),
        ("👍🏽👍 yes 🇩🇪, 1️⃣ :-)", ["👍🏽👍", "🇩🇪", "1️⃣", ":-)"]),
        ("50 % of them, 100%, 50%de", []),
        ("don`t, can`t, and/or, {a, b}, {A man.}, U.S., $20, a @ b, (e.g.:), a < b > c, x<y, y>z", []),
        ("%1 of %L2, %n: %1% %Y-%m-%d %H:%M", ["%1", "%L2", "%n", "%1%", "%Y-%m-%d", "%H:%M"]),
        ("共%n个文件%1，%1%2", ["%n", "%1", "%1%2"]),
        ("5%, 5 %, 100 %, 50 % d'eau, a%20b, %50", []),
        (
            "Use B<ls> and I<file>, C<< $a->b >>. L<perlpod(1)>; A<B and C>D",
            ["B<ls>", "I<file>", "C<< $a->b >>", "L<perlpod(1)>"],
        ),
        (r"\fBfile\fR, \\fIx\\fP and \fB", [r"\fBfile\fR", r"\\fIx\\fP", r"\fB"]),
        ("small [*]_, [#]_ [1]_ [Smith2020]_, not [a]", ["[*]_", "[#]_", "[1]_", "[Smith2020]_"]),
        ("|version| |x|_ but not a|b|c or a || b", ["|version|", "|x|_"]),
        (
            "<x id=\"1\"/>Hello<ph/>, <a href='b'>here</a> <your name> <!-- a - b -->",
            ['<x id="1"/>', "<ph/>", "<a href='b'>", "</a>", "<your name>", "<!-- a - b -->"],
        ),
        ("One.<br />Two<BR></p>", [("<br />", "break"), ("<BR>", "break"), ("</p>", "break")]),
        (r"One\nTwo \textbf \alpha", [(r"\n", "break"), (r"\textbf", "code"), (r"\alpha", "code")]),
        (
            "<command>ls -l</command> [b]no[/b] [url=http://a.b] [sic]",
            ["<command>ls -l</command>", "[b]", "[/b]", "[url=http://a.b]"],
        ),
        ("AT&T, AT&amp;T, R&D's M&Ms, Tom & Jerry && fish & chips", ["AT&T", "AT&amp;T", "R&D", "M&Ms", "&&"]),
        ("R & D, Q & A, B & B hotels; A & Bob", ["R & D", "Q & A", "B & B"]),
        (":rocket: :+1: :tada::tada: :ref:`x`", [":rocket:", ":+1:", ":tada::tada:", ":ref:`x`"]),
        ("Note:this:that 10:30:15 yes: no: a :", []),
        ("N.B. The U.K. is J.R.R. Tolkien's, in the U.K. Now.", ["N.B.", "U.K.", "J.R.R.", "U.K"]),
        ("At 5 P.M. in the U.S. or U.S.A.", []),
        ("The end.It is gut.De rien, x_ _x_ ___", []),
    ],
)
def test_verbatim_spans_end_before_the_punctuation_of_the_sentence(text: str, spans: list[object]) -> None:
    found = [(span, kind) for span, kind in spans_of(text) if kind in VERBATIM]
    assert found == spans or [span for span, _ in found] == spans


@given(
    st.sampled_from(["name", "0", "", "user.name", "x[0]"]), st.sampled_from(["", "!r"]), st.sampled_from(["", ":>10"])
)
def test_the_fields_of_python_formats_are_placeholders(name: str, conversion: str, spec: str) -> None:
    field = f"{{{name}{conversion}{spec}}}"
    text = f"Dear {field}, hello"
    assert next(part[1] for part in Formatter().parse(text)) == name
    assert spans_of(text) == [(field, "placeholder")]


@pytest.mark.parametrize(
    "piece",
    [
        "1./",
        "a_",
        "a.",
        "1 111 ",
        "`a",
        "{a[",
        "%0",
        "http://,",
        "/a",
        "😀\u200d",
        "a@a.",
        "a'",
        "a&a'",
        "A1",
        "A1-",
        "AA11 ",
        "AA11 1111 ",
        " --a",
        "--a=",
        " -a",
        "<a ",
        "<a b='",
        "<!-- -",
        "[a=",
        "&a",
        "\\fB",
        "B< ",
        "|a",
        ":a:",
        "%1",
        "%Y-",
        "A.",
        "AB&",
    ],
)
def test_the_time_grows_with_the_length_of_the_text(piece: str) -> None:
    """With quadratic time, these texts would take hours."""
    text = piece * (400_000 // len(piece))
    assert all(span.end <= len(text) for span in find_spans(text))


@pytest.mark.parametrize("pair", ["en-de", "en-fr", "zh-en"])
def test_hardly_any_translation_by_people_changes_an_identifier(pair: str, data_folder: Path) -> None:
    sides = [
        gzip.decompress((data_folder / f"tatoeba-{pair}" / f"val.{code}.gz").read_bytes()).decode().splitlines()
        for code in pair.split("-")
    ]
    changed = [
        row for row in zip(*sides, strict=True) if len({tuple(texts_of(text, "identifier")) for text in row}) > 1
    ]
    assert len(changed) < 0.0005 * len(sides[0])
