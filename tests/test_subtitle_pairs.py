"""Two files of subtitles as parallel text: sentences on the screen at the same time are pairs."""

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.data.corpus import languages, read_pairs
from dragoman.data.parallel_text import ParallelText
from dragoman.errors import DataError
from dragoman.settings.data_config import DataConfig

ENGLISH = """1
00:00:01,000 --> 00:00:03,000
<i>I never thought</i>

2
00:00:03,100 --> 00:00:05,000
that we would
meet again.

3
00:00:06,000 --> 00:00:08,000
- Where is Tom?
- He&#39;s here.

4
00:00:20,000 --> 00:00:22,000
♪ ♪

5
00:00:30,000 --> 00:00:32,000
JOHN: Good night.
"""
GERMAN = """WEBVTT

NOTE made by hand

00:01.200 --> 00:04.900 align:start
Ich hätte nie gedacht, dass wir uns wiedersehen.

00:06.100 --> 00:08.100
- Wo ist Tom?
- Er ist hier.

00:25.000 --> 00:26.000
[Musik]

00:30.200 --> 00:31.000
<v John>Gute Nacht.</v>
"""
PAIRS = [
    ("I never thought that we would meet again.", "Ich hätte nie gedacht, dass wir uns wiedersehen."),
    ("Where is Tom?", "Wo ist Tom?"),
    ("He's here.", "Er ist hier."),
    ("Good night.", "Gute Nacht."),
]


def clock(seconds: float) -> str:
    minutes, rest = divmod(round(1000 * seconds), 60_000)
    return f"{minutes // 60:02}:{minutes % 60:02}:{rest // 1000:02},{rest % 1000:03}"


def srt(cues: list[tuple[float, float, str]]) -> str:
    return "\n".join(
        f"{number}\n{clock(start)} --> {clock(end)}\n{text}\n" for number, (start, end, text) in enumerate(cues, 1)
    )


def text_of(folder: Path, source: str, target: str, names: tuple[str, str] = ("a.en.srt", "a.de.srt")) -> ParallelText:
    paths = [folder / name for name in names]
    for path, content in zip(paths, (source, target), strict=True):
        path.write_text(content, encoding="utf-8")
    return read_pairs(DataConfig(source=str(paths[0]), target=str(paths[1])), "train")


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_sentences_over_cues_and_lines_of_speakers_are_pairs(line_end: str, tmp_path: Path) -> None:
    sides = [text.replace("\n", line_end) for text in (ENGLISH, GERMAN)]
    text = text_of(tmp_path, *sides, ("film.en.srt", "film.de.vtt"))
    assert list(text) == PAIRS
    assert text.count() == 4
    assert "4 pairs by their times (sentences left out: 0 and 1)" in text.notes[0]
    assert ENGLISH.split("\n")[text.line_of(3) - 1].startswith("00:00:30")
    data = DataConfig(source=str(tmp_path / "film.en.srt"), target=str(tmp_path / "film.de.vtt"))
    assert languages(data) == ("en", "de")


@given(st.integers(0, 10_000), st.floats(-0.45, 0.45))
def test_sentences_are_paired_although_one_file_is_late_and_cut_otherwise(
    tmp_path_factory: pytest.TempPathFactory, seed: int, late: float
) -> None:
    draw = random.Random(seed)
    times, at = [], 1.0
    for _ in range(draw.randint(3, 12)):
        length = draw.uniform(1, 4)
        times.append((at, at + length))
        at += length + draw.uniform(0.5, 3)
    source, target = [], []
    for number, (start, end) in enumerate(times):
        source.append((start, end, f"Sentence {number}."))
        middle = (start + end) / 2
        shifted = start + late, middle + late, end + late
        if draw.random() < 0.5:
            target.append((shifted[0], shifted[2], f"Satz {number} ist hier."))
        else:
            target += [(shifted[0], shifted[1], f"Satz {number}"), (shifted[1] + 0.01, shifted[2], "ist hier.")]
    text = text_of(tmp_path_factory.mktemp("srt"), srt(source), srt(target))
    assert list(text) == [(f"Sentence {number}.", f"Satz {number} ist hier.") for number in range(len(times))]


def test_sentences_without_a_partner_are_left_out(tmp_path: Path) -> None:
    times = [(3.0 * number, 3.0 * number + 2) for number in range(10)]
    source = [(*time, f"Sentence {number}.") for number, time in enumerate(times) if number != 4]
    target = [(*time, f"Satz {number}.") for number, time in enumerate(times) if number != 7]
    text = text_of(tmp_path, srt(source), srt(target))
    assert list(text) == [(f"Sentence {number}.", f"Satz {number}.") for number in range(10) if number not in (4, 7)]


def test_chinese_cues_are_joined_without_a_space(tmp_path: Path) -> None:
    source = srt([(1, 5, "We met, long ago.")])
    target = srt([(1, 2.9, "很久以前，"), (3, 5, "我们见过面。")])
    assert list(text_of(tmp_path, source, target)) == [("We met, long ago.", "很久以前，我们见过面。")]


def test_cues_that_are_all_at_one_time_are_no_pairs_and_take_no_time(tmp_path: Path) -> None:
    cues = [(0.0, 9000.0, f"Sentence {number}.") for number in range(5000)]
    with pytest.raises(DataError, match="are at the same time"):
        text_of(tmp_path, srt(cues), srt(cues))


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        (ENGLISH, "Hello\n", "no cue with times"),
        (ENGLISH, "", "the file is empty"),
        (ENGLISH, "WEBVTT\n", "0 are at the same time"),
        (ENGLISH, srt([(900, 901, "Ja."), (902, 903, "Nein.")]), "shift the times"),
    ],
)
def test_files_that_do_not_belong_together_are_one_line(tmp_path: Path, source: str, target: str, message: str) -> None:
    with pytest.raises(DataError) as caught:
        text_of(tmp_path, source, target)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_subtitles_and_a_text_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="give both sides as subtitles"):
        text_of(tmp_path, ENGLISH, "Hallo.\n", ("a.srt", "a.de"))
