"""The first stage of a translation: cut texts into segments, and turn segments into jobs for the search."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from dragoman.data.context import n_fitting
from dragoman.errors import ConfigError
from dragoman.settings.search_config import SearchConfig
from dragoman.text.cleaning import sanitize
from dragoman.text.icu_messages import has_icu_message
from dragoman.text.odd_characters import KnownCharacters
from dragoman.text.protection import overlaps
from dragoman.text.sentences import sanitize_paragraphs
from dragoman.text.short_list import ShortList
from dragoman.text.shouting import calm
from dragoman.text.tags import UNKNOWN, with_tag, without_tags
from dragoman.text.terms import Term
from dragoman.text.tokenizer import Tokenizers
from dragoman.translator.checking import string
from dragoman.translator.confidence import Calibration
from dragoman.translator.cutting import MAX_CHARACTERS_PER_TOKEN, Segment, SegmentLimits, cut, encode_if_short
from dragoman.translator.demanded_terms import demanded_terms, with_terms
from dragoman.translator.directions import Directions, TaggedText
from dragoman.translator.frame_quotes import with_own_quotes
from dragoman.translator.marks import Marks
from dragoman.translator.model_facts import ModelFacts
from dragoman.translator.number_masks import Written, all_numbers, first_numbers
from dragoman.translator.plain_reading import PlainReader
from dragoman.translator.plans import Plan, TextPlan, segment_limits
from dragoman.translator.reading import KnownParts, Reading, TextReader
from dragoman.translator.request import MOST_CONTEXT, Request, checked_request

#: Pieces that an unknown one counts as, where the form of a word in capitals is chosen.
_UNKNOWN_COST = 9


class Planner:
    """Planner of translations by one model.

    Args:
        tokenizers: those of the model.
        directions: those of the model.
        max_length: most tokens that the model reads or writes, the end mark included.
        facts: what is known of the model.
        short_list: the tokens that translations may have; None for all.
    """

    def __init__(
        self,
        tokenizers: Tokenizers,
        directions: Directions,
        max_length: int,
        facts: ModelFacts,
        short_list: ShortList | None = None,
    ) -> None:
        self._tokenizers = tokenizers
        self._directions = directions
        self._max_length = max_length
        self._learned = learned = facts.learned
        #: Sentences before a segment that the model reads with it, and the tokens of all together.
        self._n_context = 0 if learned is None else learned.context
        self._longest_read = 0 if learned is None else min(learned.context_tokens, max_length - 1)
        self._short_list = short_list
        self._calibrations, self._is_ensemble = facts.calibrations, facts.is_ensemble
        reserved = tokenizers.reserved
        #: The id of each reserved piece in a translation, by its id in a source.
        self._reserved = dict(
            zip(tokenizers.source.vocabulary.ids(reserved), tokenizers.target.vocabulary.ids(reserved), strict=True)
        )
        self._reserved_ids = tuple(self._reserved.values())
        self._known_characters = KnownCharacters(tokenizers.source.encode, tokenizers.source.special_ids.unknown)

    @property
    def can_mask(self) -> bool:
        """True if the model has reserved pieces, which mask spans."""
        return bool(self._tokenizers.reserved)

    @property
    def reads_context(self) -> bool:
        """True if the model reads sentences before a text."""
        return self._n_context > 0

    def is_calibrated(self, source_lang: str | None, target_lang: str) -> bool:
        """Return True if the model's confidence is known in a direction."""
        return self._calibrations is not None and self._calibrations.of(source_lang, target_lang) is not None

    def plan(self, requests: Sequence[Request], config: SearchConfig) -> Plan:
        """See `Pipeline.plan`."""
        texts = [self._plan(request, config, number) for number, request in enumerate(requests, 1)]
        return Plan(texts, config, self._max_length)

    def with_masks(
        self, text: TextPlan, segment: Segment, terms: Mapping[str, Term], *, masks_numbers: bool
    ) -> Segment | None:
        """Return a segment of a text with masks for its numbers and terms; None if it has none, or is too long then.

        Args:
            terms: those that are masked, by their words in the source.
        """
        marks = Marks(segment.text)
        tagged = text.languages._replace(text=sanitize(marks.replace(segment.text, segment.protected)))
        before = segment.reading
        were_masked = {span for piece, span in before.masks if piece in dict(before.written)}
        numbers = all_numbers(tagged) if self.can_mask and (masks_numbers or were_masked) else []
        masked = [each for each in numbers if masks_numbers or tagged.text[each.start : each.end] in were_masked]
        if terms:
            own = [
                Written(start, end, terms[words].targets[0])
                for start, end, _ in demanded_terms(tagged.text, text.request.terms, ())
                if (words := tagged.text[start:end]) in terms
            ]
            places = [(each.start, each.end) for each in own]
            masked = sorted([*own, *(each for each in masked if not overlaps((each.start, each.end), places))])
        if not masked or not (terms or masks_numbers):
            return None
        reader = self._reader(text.request, tagged, marks, masked, masks_terms=bool(terms))
        reading = self._read(reader.text, reader, text.request)
        ids = self._encode(reading.text, tagged)
        if len(ids) >= self._max_length:
            return None
        reading = reading._replace(terms=before.terms, is_shouted=before.is_shouted)
        prefix_ids = self._tokenizers.target_ids(reading.mask(segment.prefix), tagged.target_lang)
        return self._restricted(segment._replace(ids=ids, reading=reading, prefix_ids=prefix_ids), tagged)

    def small_start_ids(self, text: TextPlan, segment: Segment, word: str) -> list[int] | None:
        """Return the ids of a segment of a text with its first word in small letters; None if that is another word."""
        before, found, after = segment.reading.text.partition(word)
        if not found or any(map(str.isalnum, before)) or after[:1].isalnum():
            return None
        return self._encode(before + word.lower() + after, text.languages)

    def target_ids(self, translation: str, target_lang: str) -> list[int]:
        """Return the ids of a translation, as far as the model can write it."""
        return self._tokenizers.target_ids(translation, target_lang)[: self._max_length - 1]

    def find(self, source_lang: str | None, target_lang: str | None) -> tuple[str | None, str | None]:
        """See `Directions.find`."""
        return self._directions.find(source_lang, target_lang)

    def tagged(self, request: Request) -> TaggedText:
        """Return the text of a request, and its languages."""
        return self._directions.tagged(sanitize_paragraphs(request.text), request.source_lang, request.target_lang)

    def blocks(self, lines: Iterable[str], n_tokens: int) -> Iterator[list[str]]:
        """Read lines as they come, and yield as many at once as have `n_tokens`.

        Where a line cannot be read, those before it are yielded first.

        Raises:
            ConfigError: a line is no string.
        """
        block: list[str] = []
        missing = n_tokens
        try:
            for number, line in enumerate(lines, 1):
                block.append(string(line, f"line {number}"))
                ids = encode_if_short(sanitize(line), self._tokenizers.source.encode, self._max_length - 1)
                missing -= self._max_length if ids is None else 1 + len(ids)
                if missing <= 0:
                    yield block
                    block, missing = [], n_tokens
        except Exception:
            yield block
            raise
        yield block

    def _plan(self, request: Request, config: SearchConfig, number: int) -> TextPlan:
        checked_request(request, number)
        marks = Marks(request.text)
        stretches = request.stretches()
        text = sanitize_paragraphs(marks.replace(request.text, stretches))
        tagged = self._directions.tagged(text, request.source_lang, request.target_lang)
        if config.rerank:
            self._directions.require_both_ways(tagged)
        numbers = []
        if self.can_mask and not request.plain:
            numbers = first_numbers(tagged, request.marked, self._known_characters)
        segments = self._segments(request, tagged, marks, numbers)
        if request.terms:
            segments = [with_terms(segment, request.terms) for segment in segments]
        if has_icu_message(request.text, stretches):
            segments = [Segment(request.text.strip(), [], "copied")]
        if prefix := sanitize(request.prefix):
            # The caller chose the case of the translation.
            reading = segments[0].reading._replace(is_shouted=False) if segments else Reading()
            prefix_ids = self._prefix_ids(reading.mask(prefix), tagged.target_lang, config, number)
            first = [
                one._replace(prefix=prefix.strip(), prefix_ids=prefix_ids, reading=reading) for one in segments[:1]
            ]
            segments = first + segments[1:]
        return TextPlan(request, marks.original(text), segments, tagged, self._calibration(request, tagged))

    def _calibration(self, request: Request, languages: TaggedText) -> Calibration | None:
        """Return the calibration of the model in the languages of a text.

        Raises:
            ConfigError: the request needs one, and there is none.
        """
        source, target = languages.source_lang, languages.target_lang
        found = None if self._calibrations is None else self._calibrations.of(source, target)
        if found is None and request.needs_calibration:
            option = "--doubts" if request.min_confidence is None else "--min-confidence"
            if self._is_ensemble:
                problem = f"{option} needs a confidence, and an ensemble has none"
                raise ConfigError(problem, advice="translate with one model")
            problem = f"{option} needs a confidence, and the model is not calibrated from {source} to {target}"
            raise ConfigError(problem, advice=f"calibrate it: dragoman package --calibrate; or leave {option} out")
        return found

    def _segments(
        self, request: Request, tagged: TaggedText, marks: Marks, numbers: Sequence[Written]
    ) -> list[Segment]:
        """Cut a text; the ids of each segment begin with the tags.

        Args:
            numbers: those that are masked.
        """
        reader = self._reader(request, tagged, marks, numbers)

        readings: dict[str, Reading] = {}

        def read(segment: str) -> Reading:
            if segment not in readings:
                readings[segment] = self._read(segment, reader, request)
            return readings[segment]

        def encode(segment: str) -> list[int]:
            return self._encode(read(segment).text, tagged)

        def finished(segment: Segment) -> Segment:
            form = reader.written(segment.text) if segment.flag == "copied" else ""
            return segment._replace(
                text=reader.original(segment.text),
                flag=None if form else segment.flag,
                written=form or reader.original(segment.written),
                protected=reader.protected(segment.text),
                reading=Reading() if segment.is_copied or form else read(segment.text),
            )

        limits = segment_limits(request, self._learned, self._max_length - 1)
        limits = replace(limits, language=tagged.source_lang or UNKNOWN)
        start = self._tokenizers.target_ids("", tagged.target_lang)
        segments = [
            self._restricted(finished(segment)._replace(prefix_ids=start), tagged)
            for segment in with_own_quotes(cut(reader.text, encode, limits), tagged.target_lang)
        ]
        return self._in_context(segments, request.context, limits) if self._n_context else segments

    def _in_context(self, segments: Sequence[Segment], texts: Sequence[str], limits: SegmentLimits) -> list[Segment]:
        """Return the segments of a text with the ids of what the model reads before each.

        Args:
            texts: those before it.
        """
        encode, end = self._tokenizers.source.encode, self._tokenizers.source.special_ids.end
        most = MAX_CHARACTERS_PER_TOKEN * self._longest_read
        ends = (sanitize_paragraphs(text[-most:]) for text in texts[-MOST_CONTEXT:])
        earlier = [part for text in ends for part in cut(text, encode, limits)]
        before = deque((part.ids for part in earlier if not part.is_copied), self._n_context)
        found = []
        for segment in segments:
            if not segment.is_copied:
                n_fit = n_fitting(list(map(len, before)), self._longest_read - len(segment.ids))
                context = [ids for number, ids in enumerate(before) if number >= len(before) - n_fit]
                segment = segment._replace(context_ids=[id for ids in context for id in (*ids, end)])
                before.append(encode(segment.text))
            found.append(segment)
        return found

    def _read(self, segment: str, reader: TextReader | PlainReader, request: Request) -> Reading:
        """Return what the model reads of a segment, without words that look like its tags."""
        reading = reader.read(segment)
        text = without_tags(reading.text, self._tokenizers.source.tags if self._tokenizers.is_tagged else ())
        is_changed = request.off or text != reading.text
        return reading._replace(text=text, off=request.off) if is_changed else reading

    def _encode(self, text: str, tagged: TaggedText) -> list[int]:
        """Return the ids of a text with the tags before it."""
        return self._tokenizers.source.encode(with_tag(tagged.tags, text) if tagged.tags else text)

    def _restricted(self, segment: Segment, tagged: TaggedText) -> Segment:
        """Return a segment with the ids that its translation must not have, and those that alone it may have."""
        allowed = () if self._short_list is None else self._short_list.ids(segment.ids, tagged.target_lang)
        return segment._replace(forbidden_ids=self._forbidden_ids(segment.ids), allowed_ids=allowed)

    def _reader(
        self,
        request: Request,
        tagged: TaggedText,
        marks: Marks,
        numbers: Sequence[Written],
        *,
        masks_terms: bool = False,
    ) -> TextReader | PlainReader:
        """Return the reader of a text. Terms are read as they are, unless they are among the masked `numbers`."""
        if request.plain:
            return PlainReader(tagged.text, marks, self._tokenizers.reserved)
        found = request.terms.find(tagged.text) if request.terms and not masks_terms else []
        terms = [(start, end) for start, end, _ in found]
        language = tagged.source_lang or UNKNOWN

        def calmed(text: str) -> str:
            return calm(text, language, self._n_pieces)

        is_known, known = self._known_characters.in_language(language), KnownParts(numbers, terms)
        return TextReader(tagged.text, marks, self._tokenizers.reserved, calmed, is_known, known)

    def _n_pieces(self, word: str) -> int:
        """Return the number of a word's pieces; an unknown one counts as many."""
        ids = self._tokenizers.source.encode(word)
        return len(ids) + _UNKNOWN_COST * ids.count(self._tokenizers.source.special_ids.unknown)

    def _forbidden_ids(self, source_ids: Sequence[int]) -> Sequence[int]:
        """Return the ids of the reserved pieces that a source does not have, and its translation may not have."""
        if self._reserved.keys().isdisjoint(source_ids):
            return self._reserved_ids
        return tuple(self._reserved[id] for id in self._reserved.keys() - set(source_ids))

    def _prefix_ids(self, prefix: str, target_lang: str, config: SearchConfig, number: int) -> list[int]:
        ids = self._tokenizers.target_ids(prefix, target_lang)
        if self._tokenizers.target.special_ids.unknown in ids:
            raise ConfigError(f"the prefix of text {number} has what the vocabulary lacks", advice="leave it out")
        most = min(config.max_length or self._max_length, self._max_length)
        if len(ids) >= most:
            problem = f"the prefix of text {number} has {len(ids)} tokens, but its translation may have {most - 1}"
            raise ConfigError(problem, advice="shorten it, or raise max_length")
        return ids
