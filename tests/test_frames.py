"""Frames around sentences: list marks, tags, brackets and quotes stay, and a model reads what is in them."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny import many_tokenizers

from dragoman.settings.search_config import SearchConfig
from dragoman.text.sentences import sanitize_paragraphs
from dragoman.translator import frames
from dragoman.translator.cutting import SegmentLimits, cut
from dragoman.translator.directions import Directions
from dragoman.translator.frame_quotes import with_own_quotes
from dragoman.translator.frames import is_enclosed, parts
from dragoman.translator.marks import Marks
from dragoman.translator.model_facts import ModelFacts
from dragoman.translator.planning import Planner
from dragoman.translator.plans import with_gaps
from dragoman.translator.reading import KnownParts, TextReader
from dragoman.translator.request import Request

SIGNS = st.text(st.sampled_from("aB1 .!?()[]{}\"'’‘“”«»*->#\n<b r/>"), max_size=40)


def reader(text: str, reserved: int = 9) -> TextReader:
    pieces = [f"⟨{number}⟩" for number in range(1, reserved + 1)]
    return TextReader(text, Marks(text), pieces, lambda text, _: text, lambda _: True, KnownParts())


def framed(text: str) -> list[str]:
    """Return the parts of a text; those that the model reads have bars around them."""
    own = reader(sanitize_paragraphs(text))
    limits = SegmentLimits(500, sentences=1)
    segments = cut(own.text, lambda part: list(map(ord, part)), limits)
    return [own.original(each.text) if each.is_frame else f"|{own.original(each.text)}|" for each in segments]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a) I am here.", ["a)", "|I am here.|"]),
        ("iv) Open", ["iv)", "|Open|"]),
        ("(b) The dog", ["(b)", "|The dog|"]),
        ("A. The dog is big.", ["A.", "|The dog is big.|"]),
        ("J. R. R. Tolkien", ["|J. R. R. Tolkien|"]),
        ("1) Go.", ["1)", "|Go.|"]),
        ("* - Go.", ["* -", "|Go.|"]),
        (">> Go.", [">>", "|Go.|"]),
        ("- [ ] Go.", ["- [ ]", "|Go.|"]),
        ("## A title", ["##", "|A title|"]),
        ("— Go. — You go.", ["—", "|Go.|", "—", "|You go.|"]),
        ("5 * 3 is -1", ["|5 * 3 is -1|"]),
        ("[The dog.]", ["[", "|The dog.|", "]"]),
        ("( The dog. )", ["(", "|The dog.|", ")"]),
        ("‘I’m here’", ["‘", "|I’m here|", "’"]),
        ("Go. (You go.)", ["|Go.|", "(", "|You go.|", ")"]),
        ("« Oui. »", ["«", "|Oui.|", "»"]),
        ("(a) and (b)", ["(a)", "|and (b)|"]),
        ('"Go," he said, "now"', ['|"Go," he said, "now"|']),
        ("I like it (very much).", ["|I like it (very much).|"]),
        ("{name}", ["|{name}|"]),
        ("{A man.}", ["{", "|A man.|", "}"]),
        ("He is here.<br />You are.", ["|He is here.|", "<br />", "|You are.|"]),
        ("One<br> <br>two", ["|One|", "<br> <br>", "|two|"]),
        ("<b>Note.</b> The <i>dog</i>.", ["<b>", "|Note.|", "</b>", "|The <i>dog</i>.|"]),
        ("<p>(a) Go.</p>", ["<p>", "(a)", "|Go.|", "</p>"]),
        ("* * *", ["|* * *|"]),
    ],
)
def test_frames_are_set_apart(text: str, expected: list[str]) -> None:
    assert framed(text) == expected


@given(SIGNS)
def test_the_parts_make_up_the_text(text: str) -> None:
    own = reader(sanitize_paragraphs(text)).text
    assert "".join(part.gap + part.text for part in parts(own)) == own.rstrip() or not own.strip()


@given(SIGNS)
def test_what_is_enclosed_is_so_in_brackets(text: str) -> None:
    assert is_enclosed(f"(a{text.replace('(', '').replace(')', '')})")
    assert not is_enclosed(f"(a{text}") or text.endswith(")")


@pytest.mark.parametrize("piece", [" ", "(", "a) ", "<br>", "<b>", "«a» ", "'", "- ", "A. b c"])
def test_the_time_grows_with_the_length_of_the_text(piece: str) -> None:
    """With quadratic time, these texts would take minutes."""
    text = reader(piece * (100_000 // len(piece))).text
    assert sum(len(part.gap + part.text) for part in parts(text)) <= len(text)


def test_the_time_grows_with_the_length_of_nested_brackets() -> None:
    text = "(" * 50_000 + "Go." + ")" * 50_000
    assert "".join(part.gap + part.text for part in parts(text)) == text
    assert [part.text for part in parts("(([«(Go.)»]))")] == ["(([«(", "Go.", ")»]))"]


def test_a_tag_glued_to_words_is_read_apart_and_written_glued() -> None:
    reading = reader("Click <a>here</a>, or wo<b>r</b>d.")
    own = reading.read(reading.text)
    assert own.text == "Click ⟨1⟩ here ⟨2⟩, or wo ⟨3⟩ r ⟨4⟩ d."
    assert own.unmask(own.text) == "Click <a>here</a>, or wo<b>r</b>d."
    assert own.unmask("Da ⟨1⟩ hier ⟨2⟩ ist ⟨3⟩ r ⟨4⟩ d.") == "Da <a>hier</a> ist <b>r</b>d."


@pytest.mark.parametrize(
    ("source", "masked", "translation", "expected"),
    [
        ("<b>dog</b>s sleep", "⟨1⟩ dog ⟨2⟩ s sleep", "⟨1⟩ Hund ⟨2⟩ schläft", "<b>Hund</b> schläft"),
        ("<b>dog</b>s sleep", "⟨1⟩ dog ⟨2⟩ s sleep", "⟨1⟩ dog ⟨2⟩ s .", "<b>dog</b>s ."),
        ("the <b>dog</b>s sleep", "the ⟨1⟩ dog ⟨2⟩ s sleep", "⟨1⟩ 狗 ⟨2⟩ 睡觉", "<b>狗</b>睡觉"),
        ("un<i>believ</i>able", "un ⟨1⟩ believ ⟨2⟩ able", "nicht ⟨1⟩ glaub ⟨2⟩ haft", "nicht <i>glaub</i> haft"),
        ("one<br>two", "one ⟨1⟩ two", "eins ⟨1⟩ zwei", "eins<br>zwei"),
        (
            "the{% if x %} new{% endif %} page",
            "the ⟨1⟩ new ⟨2⟩ page",
            "die ⟨1⟩ neue ⟨2⟩ Seite",
            "die{% if x %} neue{% endif %} Seite",
        ),
        (
            "a page{% if x %}s{% endif %}.",
            "a page ⟨1⟩ s ⟨2⟩.",
            "eine Seite ⟨1⟩ s ⟨2⟩.",
            "eine Seite {% if x %}s{% endif %}.",
        ),
    ],
)
def test_a_space_that_the_translation_needs_stays_beside_a_tag(
    source: str, masked: str, translation: str, expected: str
) -> None:
    reading = reader(source)
    own = reading.read(reading.text)
    assert own.text == masked
    assert own.unmask(translation) == expected


def test_the_point_of_an_abbreviation_may_end_the_sentence() -> None:
    own = reader("The N.B.A. is here.")
    assert own.read(own.text).unmask("Hier ist die ⟨1⟩.") == "Hier ist die N.B.A."


def test_a_text_is_streamed_in_sentences_with_their_frames() -> None:
    tokenizers = many_tokenizers()
    planner = Planner(tokenizers, Directions(tokenizers), 100, ModelFacts())
    request = Request("a) Go. (You go.)<br>Stop.", source_lang="en", target_lang="de", sentences=True)
    (text,) = planner.plan([request], SearchConfig()).texts
    assert text.readable == ["a) Go.", "(You go.)<br>", "Stop."]


@given(SIGNS | st.text(st.sampled_from("aZi1_ ,.)(-\u2029\U00100000\U00108000\U000f0000"), max_size=12))
def test_a_text_that_one_look_finds_without_a_frame_has_none(text: str) -> None:
    quick = list(parts(text))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frames, "_WITHOUT_FRAME", re.compile("(?!)"))
        assert list(parts(text)) == quick


def written(text: str, language: str) -> str:
    """Return a text as its own translation, with the marks of a language."""
    segments = cut(text, lambda part: list(map(ord, part)), SegmentLimits(500, sentences=1))
    segments = with_own_quotes(segments, language)
    return "".join(with_gaps(segments, [each.copy for each in segments], " "))


@pytest.mark.parametrize(
    ("text", "english", "german", "french"),
    [
        ("“I am here.”", "“I am here.”", "„I am here.“", "« I am here. »"),
        ("« I am here. »", "“I am here.”", "„I am here.“", "« I am here. »"),
        ("»‚I am.‘«", "“‘I am.’”", "„‚I am.‘“", "« “I am.” »"),
        ("(„I am.“)", "(“I am.”)", "(„I am.“)", "(« I am. »)"),
        ("„I am.“ – “He is.”", "“I am.” – “He is.”", "„I am.“ – „He is.“", "« I am. » – « He is. »"),
        ("‘I’m here.’", "“I’m here.”", "„I’m here.“", "« I’m here. »"),
        ('"I am here."', '"I am here."', '"I am here."', '"I am here."'),
        ("“Yes,” he said.", "“Yes,” he said.", "“Yes,” he said.", "“Yes,” he said."),
    ],
)
def test_quotation_marks_of_frames_are_those_of_the_target_language(
    text: str, english: str, german: str, french: str
) -> None:
    assert [written(text, language) for language in ("en", "de", "fr")] == [english, german, french]
    assert written(text, "xx") == text
