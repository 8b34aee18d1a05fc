"""Cues of subtitles: their parts are the file, whatever ends its lines, and each speaker's words are apart."""

import codecs
from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.data.formats.subtitle_cues import Cue, find_cues, goes_on
from dragoman.documents import parse_document
from dragoman.translator import Translation

LINE_ENDS = ["\n", "\r\n", "\r"]
HEAD, TAIL = "1\n00:00:01,000 --> 00:00:03,000\n", "\n\n2\n00:00:04,000 --> 00:00:05,000\nYes.\n"
#: The text of a cue, and what is translated by itself, with what stands before and after it.
SPEECHES = {
    "I am here.\nYou are there.": [("", "I am here. You are there.", "")],
    "- Yes, I am.\n- No.": [("- ", "Yes, I am.", "\n"), ("- ", "No.", "")],
    "-Yes, I\nam.\n-No.": [("-", "Yes, I am.", "\n"), ("-", "No.", "")],
    "- Hi! - Hello!": [("- ", "Hi!", " "), ("- ", "Hello!", "")],
    "<i>- Hi.</i>\n<i>- Ho.</i>": [("<i>- ", "Hi.", "</i>\n"), ("<i>- ", "Ho.", "</i>")],
    "-5 degrees.": [("", "-5 degrees.", "")],
    "I was\n- so to say -\nill.": [("", "I was - so to say - ill.", "")],
    "JOHN: Where?\nMARY: At home.": [("JOHN: ", "Where?", "\n"), ("MARY: ", "At home.", "")],
    "<i>JOHN:</i> Hi.\nMAN #2 (V.O.): Ho.": [("<i>JOHN:</i> ", "Hi.", "\n"), ("MAN #2 (V.O.): ", "Ho.", "")],
    "John: Where?\nMary: At home.": [("", "John: Where?", "\n"), ("", "Mary: At home.", "")],
    "<v John>Hi.\n<v Mary>Hello.": [("<v John>", "Hi.", "\n"), ("<v Mary>", "Hello.", "")],
    ">> Where?\n>> I know.": [(">> ", "Where?", "\n"), (">> ", "I know.", "")],
    ">> Where? >> I know.": [(">> ", "Where?", " "), (">> ", "I know.", "")],
    "&gt;&gt; JOHN: Hi\nthere.": [("&gt;&gt; JOHN: ", "Hi there.", "")],
    "(door closes) Come in!": [("(", "door closes", ")"), (" ", "Come in!", "")],
    "JOHN: [laughs] Come!\n(cries)": [("JOHN: [", "laughs", "]"), (" ", "Come!", "\n"), ("(", "cries", ")")],
    "- No! (cries)\n- Yes.": [("- ", "No!", " "), ("(", "cries", ")\n"), ("- ", "Yes.", "")],
    "He (Tom) is here [now].": [("", "He (Tom) is here [now].", "")],
    "♪ La la ♪\n♪ Lu lu ♪": [("♪ ", "La la", " ♪\n"), ("♪ ", "Lu lu", " ♪")],
    "It is 5:30.\n \n\nIt is late.": [("", "It is 5:30.", ""), ("", "It is late.", "")],
    "<ruby>base<rt>x</rt></ruby> a": [("", "<ruby>base<rt>x</rt></ruby> a", "")],
}


def cues_of(text: str) -> list[Cue]:
    return [part for part in find_cues(text) if isinstance(part, Cue)]


@pytest.mark.parametrize("line_end", LINE_ENDS)
@pytest.mark.parametrize("body", SPEECHES)
def test_speakers_and_sounds_are_apart_whatever_ends_the_lines(body: str, line_end: str) -> None:
    found = cues_of((HEAD + body + TAIL).replace("\n", line_end))
    parts = [(cue.before, cue.text, cue.after.replace(line_end, "\n")) for cue in found]
    assert parts == [*SPEECHES[body], ("", "Yes.", "")]
    assert [cue.line for cue in found] == [2] * len(SPEECHES[body]) + [body.count("\n") + 6]


lines = st.sampled_from(
    [
        "",
        " ",
        "I am here.",
        "- so what",
        "(sighs) No",
        "7",
        "NOTE x",
        "00:00:01,000 --> 00:00:02,000",
        "<v A>Hi",
        ">> A",
    ]
)


@given(st.lists(lines, max_size=12), st.sampled_from(LINE_ENDS), st.sampled_from(["", "WEBVTT\n\n"]))
def test_the_parts_of_a_file_are_the_file(body: list[str], line_end: str, head: str) -> None:
    text = (head + "\n".join(body)).replace("\n", line_end)
    assert "".join(part if isinstance(part, str) else part.raw for part in find_cues(text)) == text


@pytest.mark.parametrize("line_end", LINE_ENDS)
@pytest.mark.parametrize("mark", [b"", codecs.BOM_UTF8])
@pytest.mark.parametrize("format", ["srt", "vtt"])
def test_a_translation_keeps_lines_and_line_ends(format: str, mark: bytes, line_end: str) -> None:
    text = HEAD + "I am here.\nYou are there.\n\nIt is late." + TAIL
    if format == "vtt":
        text = "WEBVTT\n\nNOTE I stay.\n\n" + text.replace(",000", ".000")
    document = parse_document(mark + text.replace("\n", line_end).encode(), format)
    sources = ["I am here. You are there.", "It is late.", "Yes."]
    assert [segment.text for segment in document.segments()] == sources
    written = document.rebuild([Translation(each.upper(), 0.0, ()) for each in sources])
    for part in ("I am here.", "You are there.", "It is late.", "Yes."):
        text = text.replace(part, part.upper())
    assert written == mark + text.replace("\n", line_end).encode()


def test_a_sentence_over_cues_ends_before_another_speaker() -> None:
    second = {
        "that we would meet.": True,
        "- so what?\n- Nothing.": False,
        ">> that we": False,
        "(sighs) that we": False,
    }
    for body, expected in second.items():
        first, following = cues_of(HEAD + "I never thought\nor knew" + TAIL.replace("Yes.", body))[:2]
        assert goes_on([first], following) == expected


def test_the_lines_of_a_cue_without_an_empty_line_after_it_are_its_own() -> None:
    text = "1\n00:01.000 --> 00:02.000\nOne.\n2\n00:02.000 --> 00:03.000\nTwo.\n00:03.000 --> 00:04.000\nThree."
    assert [cue.text for cue in cues_of(text)] == ["One.", "Two.", "Three."]


def test_notes_of_webvtt_and_names_of_cues_are_no_text() -> None:
    times = "00:01.000 --> 00:02.000\n"
    text = f"WEBVTT\n\nfirst one\n{times}NOTE to self.\n\nNOTE hidden\n\nhidden too\n\nsecond one\n{times}Two.\n"
    assert [cue.text for cue in cues_of(text)] == ["NOTE to self.", "Two."]


def test_ruby_keeps_its_base_and_its_reading() -> None:
    document = parse_document((HEAD + "<ruby>tree<rt>ki</rt></ruby> is old." + TAIL).encode(), "srt")
    segment = document.segments()[0]
    assert segment.text == "tree is old."
    translation = Translation("Baum ist alt.", 0.0, (), alignment=((0, 0), (1, 1), (2, 2)))
    written = document.rebuild([translation, Translation("Ja.", 0.0, ())]).decode()
    assert "<ruby>Baum<rt>ki</rt></ruby> ist alt." in written


def test_a_cue_of_many_sounds_takes_no_time() -> None:
    for body in (
        "(a) " * 5_000,
        "! (" * 5_000,
        "- a.\n" * 2_000,
        "<v a>b\n" * 2_000,
        ">> " * 5_000,
        "\n\na" * 3_000,
    ):
        cues = cues_of(HEAD + body + TAIL)
        assert cues[-1].text == "Yes."
        assert len([*groupby(cues, lambda cue: cue.start)]) <= 2
