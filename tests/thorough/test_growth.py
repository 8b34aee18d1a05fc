"""Time in proportion to the length, whatever strangers send: planning, finishing, and every kind of document.

Texts are made of marks, again and again, alone and in pairs. Processor time is measured at a length and at four times
that, and again if it grew too fast. The search is a stand-in, since its time depends on the model.

The texts are short, so that all pairs take minutes: a square shows at 6,000 characters, and a cube ends.
"""

from __future__ import annotations

import gc
import itertools
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from types import FrameType

import pytest
from document_makers import MAKERS

from dragoman import Translator
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.documents import parse_document
from dragoman.documents.document import Bilingual
from dragoman.errors import DragomanError
from dragoman.translator import Candidate, Request, SearchJob, Translation
from dragoman.translator.pipeline import SearchWanted, advance

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="ends what takes too long by a signal"),
]

#: Most tries, of which the least counts; the most that twice the length may take; seconds below which nothing is
#: measured, and those of processor time after which a call has failed.
_TRIES, _MOST, _LEAST, _LIMIT = 5, 2.6, 0.02, 30.0
#: Characters of the first text: long enough to take time, short enough that a cube of it ends.
_TEXT, _DOCUMENT = 1_500, 4_000

MARKS = {
    "tags": "<b>a</b> ",
    "open tags": "<b>a ",
    "round brackets": "(a) ",
    "open brackets": "([{",
    "language tags": ">>de<<",
    "language tags between": ">>de<< a ",
    "digits": "1",
    "numbers": "1,234.5 ",
    "apostrophes": "'",
    "contractions": "I'm ",
    "quotation marks": '"',
    "stars": "**a ",
    "ticks": "`a ",
    "dollars": "$5 ",
    "dates": "3 May ",
    "capitals": "ABC ",
    "dots": ".",
    "sentences": "A dog. ",
    "lines": "a\n",
    "paragraphs": "a\n\n",
    "masks": "⟨1⟩",
    "addresses": "http://a.b/c ",
    "mail": "a@b.c ",
    "slashes": "a/",
    "dashes": "a-",
    "colons": "a:",
    "spaces": " ",
    "words": "the dog ",
    "names": "Anna Smith ",
    "number words": "twenty ",
    "Chinese": "三",
    "emoji": "😀",
    "soft hyphens": "a\u00ad",
    "entities": "&amp;",
    "percent": "%s ",
}
PAIRS = [*itertools.combinations(MARKS, 2)]


class _TooLong(BaseException):
    """A call has taken `_LIMIT` seconds."""


@contextmanager
def _limited() -> Iterator[None]:
    def end(_: int, __: FrameType | None) -> None:
        raise _TooLong

    before = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, _LIMIT)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def seconds(call: Callable[[], object]) -> float:
    """Return the processor time of a call."""
    gc.collect()
    start = time.process_time()
    with _limited():
        call()
    return time.process_time() - start


def growth(work: Callable[[int], Callable[[], object]], size: int) -> str:
    """Return what is wrong with how time grows from a size to four times that, or nothing.

    A growth that is too fast is measured again at twice the sizes: a text may just have become too long for a shorter
    way, which happens once.

    Args:
        work: prepares a call for a size.
    """
    translator()
    for first in (size, 2 * size, 4 * size):
        short, long = work(first), work(4 * first)
        before = after = float("inf")
        try:
            seconds(short)  # whatever is made once
            for _ in range(_TRIES):
                before, after = min(before, seconds(short)), min(after, seconds(long))
                if after < _LEAST or after < _MOST**2 * before:
                    return ""
        except _TooLong:
            return f"{4 * first:,} characters take more than {_LIMIT:g} s"
    return f"{first:,} characters take {before:.3f} s, {4 * first:,} take {after:.3f} s"


def repeated(unit: str, size: int) -> str:
    """Return whole units: the half of an address is a word, and takes other ways than addresses do."""
    return unit * (size // len(unit))


@cache
def translator() -> Translator:
    loaded = Translator.load("everyday", device="cpu")
    gc.collect()
    gc.freeze()  # its objects are not looked at again each time
    return loaded


def _echo(job: SearchJob) -> list[Candidate]:
    """Return a translation that says again what was read."""
    pieces = translator().tokenizers.source.pieces(job.ids)
    text = "".join(pieces).replace("▁", " ").strip() or "x"
    return [Candidate(Hypothesis(tuple(job.ids), -1.0, -1.0, (-1.0,) * len(pieces), finished=True), text, (text,))]


def translated(text: str, *, align: bool = False) -> list[Translation]:
    """Plan and finish a text without a model."""
    stages = translator().pipeline.stages([Request(text, align=align, source_lang="en", target_lang="de")])
    outcome = advance(stages, None)
    while isinstance(outcome, SearchWanted):
        outcome = advance(stages, [_echo(job) for job in outcome.jobs])
    return outcome


def test_a_square_is_noticed_and_a_line_is_not() -> None:
    assert growth(lambda size: lambda: sum(range(size * size // 50)), 2_500)
    assert not growth(lambda size: lambda: sum(range(size * 300)), 2_500)


@pytest.mark.parametrize("name", MARKS)
def test_a_text_of_a_mark_is_planned_and_finished_in_linear_time(name: str) -> None:
    assert not growth(lambda size: lambda: translated(repeated(MARKS[name], size)), _TEXT)


@pytest.mark.parametrize("pair", PAIRS, ids=" and ".join)
@pytest.mark.parametrize("mixed", [True, False], ids=["mixed", "after each other"])
def test_a_text_of_two_marks_is_planned_in_linear_time(pair: tuple[str, str], mixed: bool) -> None:
    first, second = (MARKS[name] for name in pair)

    def work(size: int) -> Callable[[], object]:
        text = repeated(first + second, size) if mixed else repeated(first, size // 2) + repeated(second, size // 2)
        request = Request(text, source_lang="en", target_lang="de")
        return lambda: translator().pipeline.plan([request])

    assert not growth(work, _TEXT)


def read_and_written(content: bytes, format: str) -> None:
    """Read a document, and write it with its own texts as translations; an error is an answer."""
    try:
        document = parse_document(content, format, "x", columns="1" if format in ("csv", "tsv") else None)
        if isinstance(document, Bilingual):
            document.set_languages("en", "de")
        document.rebuild([Translation(segment.text, 0.0, ()) for segment in document.segments()], "de")
    except DragomanError:
        pass


@pytest.mark.parametrize("format", MAKERS)
@pytest.mark.parametrize("name", MARKS)
def test_a_document_of_a_mark_is_read_and_written_in_linear_time(format: str, name: str) -> None:
    for make in MAKERS[format]:

        def work(size: int, make: Callable[[str, int], bytes] = make) -> Callable[[], object]:
            content = make(MARKS[name], size)
            return lambda: read_and_written(content, format)

        assert not (problem := growth(work, _DOCUMENT)), f"{make.__name__}: {problem}"
