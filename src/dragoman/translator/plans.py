"""Plans of translations: texts in segments, and the jobs of the search for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dragoman.decoding.constraints.required import Demands
from dragoman.machine.arrays import Ints
from dragoman.settings.search_config import SearchConfig
from dragoman.text.learned_text import LearnedText
from dragoman.text.tags import Direction
from dragoman.translator.confidence import Calibration
from dragoman.translator.cutting import Segment, SegmentLimits
from dragoman.translator.directions import TaggedText
from dragoman.translator.request import Request


class SearchJob(NamedTuple):
    """A segment to search for. Jobs of any texts and callers can be searched together."""

    #: Source ids; the end marks among them divide off its context.
    ids: Sequence[int]
    #: The ids that the translation begins with.
    prefix_ids: Sequence[int]
    config: SearchConfig
    #: The ids that the translation must not contain.
    forbidden_ids: Sequence[int] = ()
    #: The only ids that it may contain, beside those of the prefix; none for the whole vocabulary.
    allowed_ids: Sequence[int] | Ints = ()
    #: The phrases that it must have, one for each demand.
    required: Demands = ()
    #: Its source is one sentence, which does not end before it has them.
    is_sentence: bool = False
    #: The source as text, and its direction, for a search that reads its candidates back.
    back: tuple[str, Direction] | None = None

    @property
    def settings(self) -> tuple[SearchConfig, bool, bool]:
        """The settings that all jobs of a batch share. Those with short-lists or demands are apart."""
        return self.config, len(self.allowed_ids) > 0, len(self.required) > 0


def job_of(segment: Segment, config: SearchConfig) -> SearchJob:
    """Return the job of a segment that the model reads."""
    return SearchJob(segment.read_ids, segment.prefix_ids, config, segment.forbidden_ids, segment.allowed_ids)


def first_job(text: TextPlan, segment: Segment, config: SearchConfig) -> SearchJob:
    """Return the job of a segment in a first search, which may read its candidates back."""
    job = job_of(segment, config)
    return job._replace(back=(segment.reading.text, text.languages.pair)) if config.rerank else job


@dataclass(frozen=True)
class TextPlan:
    """A text in segments."""

    request: Request
    #: Without control characters.
    text: str
    segments: Sequence[Segment]
    #: Its languages, and the tags that the model reads before each segment.
    languages: TaggedText
    #: Of the model in these languages, if it is known.
    calibration: Calibration | None = None

    @property
    def readable(self) -> list[str]:
        """The texts of the segments, each with the frames around it."""
        found: list[str] = []
        is_open = False  # the last has only frames
        for segment in self.segments:
            if found and (is_open or (segment.is_frame and segment.gap == "")):
                found[-1] += (segment.gap or "") + segment.text
                is_open = is_open and segment.is_frame
            else:
                found.append(segment.text)
                is_open = segment.is_frame
        return found


@dataclass(frozen=True)
class Plan:
    """The texts of one call."""

    texts: Sequence[TextPlan]
    config: SearchConfig
    #: Most tokens that the model reads or writes, the end mark included.
    max_length: int

    @property
    def jobs(self) -> list[SearchJob]:
        """The jobs of all texts, in order; a segment that is copied needs none."""
        return [first_job(text, segment, self.config) for text, segment in self.searched]

    @property
    def searched(self) -> list[tuple[TextPlan, Segment]]:
        """The segments of all texts that are searched for, in order, each with its text."""
        return [(text, segment) for text in self.texts for segment in text.segments if not segment.is_copied]


def with_gaps(segments: Sequence[Segment], translations: Sequence[str], between: str) -> list[str]:
    """Return the translations of segments, each after the white space that frames have, or else `between`."""
    texts: list[str] = []
    for segment, translation in zip(segments, translations, strict=True):
        gap = between if segment.gap is None else segment.gap
        texts.append(gap + translation if any(texts) and translation else translation)
    return texts


def segment_limits(request: Request, learned: LearnedText | None, max_length: int) -> SegmentLimits:
    """Return the most that the segments of a request may have.

    Args:
        learned: statistics of the model's training text; None if they are not known.
        max_length: tokens that the model reads.
    """
    sentences, takes_frames = 1 if request.sentences else None, not (request.plain or request.prefix)
    if learned is None or request.plain:
        return SegmentLimits(max_length, sentences, copies_codes=not request.plain, takes_frames=takes_frames)
    if request.sentences is None:
        sentences = learned.known_sentences
    lengths, copies_marks = (learned.long_tokens, learned.usual_tokens), not learned.knows_marks
    return SegmentLimits(max_length, sentences, *lengths, copies_marks, takes_frames=takes_frames)
