"""Marks go with the words that they wrapped, each once and properly nested, whatever the alignment says."""

from __future__ import annotations

import html
import re

from hypothesis import given
from hypothesis import strategies as st

from dragoman.alignment.word_spans import words
from dragoman.documents.mark_projection import project
from dragoman.text.marked_text import MarkedText, MarkedTextBuilder

TEXTS = st.lists(
    st.sampled_from(["ein", "Mann,", "A", "中文", "(x)", ".", "<&>", "  ", "\u200b", "V 1", "«"]), max_size=9
)
PARTS = st.lists(st.sampled_from("tttvoooccpPs"), max_size=25)
LINKS = st.none() | st.lists(st.tuples(st.integers(-1, 12), st.integers(-1, 12)), max_size=15)
TOKEN = re.compile(r"\[(/?)(\w)(\d+)\]")


def marked(parts: list[str], texts: list[str]) -> tuple[MarkedText, list[str]]:
    """A text of these parts, and its markup in order."""
    builder, markup, n_open = MarkedTextBuilder(), [], 0
    for number, part in enumerate(parts):
        if part == "t":
            builder.add_text(" ".join(texts[number % (len(texts) + 1) :][:2]))
        elif part == "v":
            builder.add_verbatim("V 1")
        elif part == "s":
            builder.add_text(" ")
        elif part == "o":
            n_open += 1
            builder.open(f"m{n_open}", f"[w{number}]")
            markup.append(f"[w{number}]")
        elif part == "c" and n_open:
            builder.close(f"m{n_open}", f"[/w{number}]")
            markup.append(f"[/w{number}]")
            n_open -= 1
        elif part in "pP":
            builder.add_point(f"[p{number}]", is_space=part == "P")
            markup.append(f"[p{number}]")
    return builder.build(), markup


@given(PARTS, TEXTS, TEXTS, LINKS)
def test_every_mark_is_there_once_well_nested_and_no_text_is_lost(
    parts: list[str], texts: list[str], translation: list[str], links: list[tuple[int, int]] | None
) -> None:
    source, markup = marked(parts, texts)
    text = " ".join(translation)
    written = project(source, text, links)
    assert sorted(token[0] for token in TOKEN.finditer(written)) == sorted(markup)
    assert "".join(TOKEN.sub("", written).split()) == "".join(text.split())
    closing = {mark.opening: mark.closing for mark in source.marks if not mark.is_point}
    path: list[str] = []
    for match in TOKEN.finditer(written):
        if match[0] in closing:
            path.append(closing[match[0]])
        elif match[0] in closing.values():
            assert path.pop() == match[0]
    assert not path
    for mark in source.marks:
        inner = written[written.index(mark.opening) : written.rindex(mark.closing)].removeprefix(mark.opening)
        assert mark.is_point or not inner.isspace(), "no mark wraps white space alone"
    for stretch in {source.text[start:end] for start, end in source.verbatim}:
        assert project(source, text, links).count(stretch) <= text.count(stretch)


@given(PARTS, TEXTS)
def test_marks_of_a_copied_text_stay(parts: list[str], texts: list[str]) -> None:
    """Wrapping marks with a word have the same words; between them may be spaces and punctuation only."""
    source, _ = marked(parts, texts)
    one_to_one = [(number, number) for number in range(len(words(source.text)))]
    written = project(source, source.text, one_to_one)
    for mark in source.marks:
        inner = source.text[mark.start : mark.end]
        if mark.is_point or not words(inner) or not inner[0].isalnum() or not inner[-1].isalnum():
            continue
        is_cut = source.text[mark.start - 1 : mark.start].isalnum() or source.text[mark.end : mark.end + 1].isalnum()
        if not is_cut and not any("V" in text or "(" in text for text in (inner,)) and inner.isalnum():
            place = written[written.index(mark.opening) + len(mark.opening) : written.index(mark.closing)]
            assert TOKEN.sub("", place).strip() == inner


def build(form: str) -> MarkedText:
    """Make a marked text of HTML-like markup in square brackets; {x} is verbatim."""
    builder = MarkedTextBuilder()
    for match in re.finditer(r"\[/(\w)\]|\[(\w)\]|(\[\w\w\])|(\{[^}]*\})|([^\[{]+)", form):
        closed, opened, point, verbatim, text = match.groups()
        if closed:
            builder.close(closed, match[0])
        elif opened:
            builder.open(opened, match[0])
        elif point:
            builder.add_point(match[0], is_space=point == "[br]")
        elif verbatim:
            builder.add_verbatim(verbatim)
        elif text:
            builder.add_text(text)
    return builder.build()


def check(form: str, translation: str, links: str, expected: str) -> None:
    pairs = [(int(source), int(target)) for source, target in (link.split("-") for link in links.split())]
    assert project(build(form), translation, pairs) == expected


def test_tags_go_with_their_words() -> None:
    check("The [b]red[/b] horse", "Le cheval rouge", "0-0 2-1 1-2", "Le cheval [b]rouge[/b]")
    check("[a]The [b]red[/b] horse[/a] runs.", "Le cheval rouge court.", "0-0 2-1 1-2 3-3",
          "[a]Le cheval [b]rouge[/b][/a] court.")  # fmt: skip
    check("Hello [b]world[/b], bye!", "Tschüss, Hallo Welt!", "2-0 0-1 1-2", "Tschüss, Hallo [b]Welt[/b]!")
    check("I [b]gave[/b] it [i]up[/i]", "Ich gab es auf", "0-0 1-1 2-2 3-3", "Ich [b]gab[/b] es [i]auf[/i]")
    check("One.[br]Two.", "Eins. Zwei.", "0-0 1-1", "Eins.[br]Zwei.")
    check("One [im] two", "Eins zwei", "0-0 1-1", "Eins [im] zwei")
    check("Read [b]{f(x, y)}[/b] now", "Lies jetzt {f(x, y)}", "0-0 1-2 2-3 3-1", "Lies jetzt [b]{f(x, y)}[/b]")
    check("the [b]red[/b] horse", "这匹红马", "0-0 0-1 1-2 2-3", "这匹[b]红[/b]马")
    check("it is [b]not[/b] big", "它不是大", "0-0 1-1 1-2 3-3", "它[b]不是[/b]大")  # one piece, linked to "is"
    check("it is [b]not[/b] big", "Das istgut so", "0-0 1-1 3-2", "Das [b]istgut[/b] so")
    check("[b][/b][im]", "", "", "[b][/b][im]")
    check("[i]Please[/i] [b]do not[/b] go", "Geht weg", "0-0 0-1", "[i]Geht weg[/i][b][/b]")
    check("[b].[/b] do", "tu", "1-0", "[b][/b] tu")
    check("Read {f(x)}[im].", "Lies {f(x)}.", "0-0 1-1", "Lies {f(x)}[im].")
    check("[a]BY 4.0[/a]。{x} here", "BY 4.0。{x} da", "0-0 1-1 2-2", "[a]BY 4.0[/a]。{x} da")
    check("{x}[a]#[/a] of {x}", "{x}# von {x}", "0-0 1-1 2-2", "{x}[a]#[/a] von {x}")
    check("[b]See {x}.[/b] Go", "Siehe {x}. Geh", "0-0 1-1 2-2", "[b]Siehe {x}.[/b] Geh")
    check("[b]pre-{x}[/b] go", "vor-{x} geh", "0-0 1-1", "[b]vor-{x}[/b] geh")


def test_text_is_escaped_and_verbatim_stretches_are_not() -> None:
    source = build("a [b]b[/b] {<x>}")
    assert project(source, "<a> b {<x>}", [(0, 0), (1, 1)], html.escape) == "&lt;a&gt; [b]b[/b] {<x>}"


def test_a_point_after_a_colon_stays_after_it() -> None:
    builder = MarkedTextBuilder()
    builder.add_text("Your name: ")
    builder.add_point("<input>")
    source, links = builder.build(), ((0, 0), (1, 1))
    assert project(source, "Ton nom :", links) == "Ton nom : <input>"
    assert project(source, "Ihr Name:", links) == "Ihr Name: <input>"


def test_an_amount_and_its_currency_stay_in_their_mark() -> None:
    for before, price, after, translation, expected in (
        ("Milk: ", "$1.20", "", "Milch: 1,20 $", "Milch: <b>1,20 $</b>"),
        ("It costs ", "$5.00", " today.", "Es kostet heute 5,00 $.", "Es kostet heute <b>5,00 $</b>."),
    ):
        builder = MarkedTextBuilder()
        builder.add_text(before)
        builder.open("b", "<b>")
        builder.add_text(price)
        builder.close("b", "</b>")
        builder.add_text(after)
        links = [(number, number) for number in range(5)]  # of the second text: "heute" with "$"
        assert project(builder.build(), translation, links) == expected
        assert project(builder.build(), translation, None) == expected


def test_a_mark_keeps_the_full_stop_that_it_wraps_in_a_language_without_spaces() -> None:
    check("[a]Read the book.[/a]", "读这本书。", "0-0 1-1 1-2 2-3", "[a]读这本书。[/a]")
    check("[l]I agree to [a]this[/a].[/l]", "我同意这个。", "0-0 1-1 1-2 2-1 2-2 3-3 3-4", "[l]我同意[a]这个[/a]。[/l]")
    check("Go. [a]Read it.[/a] Go.", "去。读它。去。", "0-0 1-2 2-3 3-5", "去。[a]读它。[/a]去。")
    check("Now [a]read it[/a].", "现在读它。", "0-0 0-1 1-2 2-3", "现在[a]读它[/a]。")
    check("[a]Yes[/a]", "“是的！”", "", "[a]“是的！”[/a]")
