"""The second search for segments whose translation fails a check: at most one for each, and never for the worse."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple

from dragoman.content.before_vowels import fitted
from dragoman.content.language import language_of
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.text.sentences import more_beginnings, sentences
from dragoman.text.terms import GOES_ON, Term, repeated_terms
from dragoman.translator.choosing import Choice, allowed_letters, losses, rank, with_right_masks
from dragoman.translator.cutting import Segment
from dragoman.translator.forced_decoding import ForcedDecoder
from dragoman.translator.padding import batches
from dragoman.translator.planning import Planner
from dragoman.translator.plans import Plan, SearchJob, TextPlan, job_of
from dragoman.translator.reading import RESERVED, Reading
from dragoman.translator.repairs.all_repairs import REPAIRS
from dragoman.translator.repairs.phrase_book import PhraseBook
from dragoman.translator.searching import Candidate, candidate_of

#: Hypotheses of a search that must write phrases or reads masks, at least: room for some with and some without them.
_LEAST_BEAM = 4
#: The most by which the log-probability of a repaired translation may be lower than that of the best candidate, in
#: nats; beyond that, the model does not find it plausible. A term list is obeyed at any cost.
MOST_COST = 50.0
#: The least by which the first translation is more probable if the model reads a term's capital at the beginning of a
#: sentence, in nats; below that, the capital is the sentence's.
LEAST_NAME = 0.5
#: Most translations of a segment that the model reads again.
_MOST_READ = 12
#: Two words, or one, that may depend on the word after them.
_WORDS_BEFORE = (r"(?<![\w'’])(\w+ \w+['’]?) ?", r"(?<![\w'’])(\w+['’]?) ?")
#: What stands before a word that begins a sentence.
_BEGINNING = re.compile(r"(?:^|[.!?…。！？]\s)\W*\Z")


class Proposal(NamedTuple):
    """A second search for a segment."""

    text: TextPlan
    #: As it was searched first, and the choice among its candidates.
    segment: Segment
    choice: Choice
    job: SearchJob
    #: What the model reads in the second search, if it has masks in place of numbers or terms.
    masked: Reading | None
    #: The masked terms, by their words in the source.
    terms: Mapping[str, Term]

    def mended(self, found: Candidate) -> list[str]:
        """Return the names of the faults of the best candidate of the first search that another candidate has not.

        There are none if it has other faults. It has one if a term is glued on: in a sentence of its own, or once too
        often.
        """
        first = self.choice.candidates[0]
        before, after = self._faults(first), self._faults(found)
        is_better = after < before and not self.is_glued(found)
        return sorted({name for name, _ in before - after}) if is_better else []

    def is_glued(self, found: Candidate) -> bool:
        """Return True if a candidate has a term in a sentence of its own, also without a mark between them ("mai Nous
        voyons"), or more often than its source and the best of the first search."""
        first, terms = self.choice.candidates[0], self.segment.reading.terms
        if not terms:
            return False
        has_more = self.masked is None and len([*sentences(found.text)]) > len([*sentences(first.text)])
        ends = (end for term in terms for start, end in term.places_in(found.text) if start == 0)
        has_more |= any(more_beginnings().fullmatch(next(iter(found.text[end:].split()), "")) for end in ends)
        return has_more or not repeated_terms(terms, found.text) <= repeated_terms(terms, first.text)

    def _faults(self, candidate: Candidate) -> set[tuple[str, str]]:
        """Return what a candidate has lost, as `losses` has it, and what is wrong with it otherwise."""
        translation = self.segment.reading.unmask(candidate.text)
        lost = losses(self.segment.reading, translation, self.text.languages.pair)
        others = [*candidate.hypothesis.faults, *([] if candidate.hypothesis.finished else ["unfinished"])]
        return {*lost, *((name, "") for name in others)}

    def failing(self, found: Candidate) -> set[str]:
        """Return the names of what is wrong with a candidate."""
        return {name for name, _ in self._faults(found)}

    @property
    def pieces(self) -> dict[str, str]:
        """For each mask of the second search that the first one had too, the piece that it was there."""
        if self.masked is None:
            return {}
        left: dict[str, list[str]] = {}
        for piece, span in reversed(self.segment.reading.masks):
            left.setdefault(span, []).append(piece)
        return {piece: left[span].pop() for piece, span in self.masked.masks if left.get(span)}

    def texts(self, found: Sequence[Candidate]) -> dict[str, Candidate]:
        """Return what the candidates of a masked search say, as candidates of the first search would, each once.

        A term stands there in each of its forms, one term at a time. Candidates with a mask twice are left out.
        """
        assert self.masked is not None
        texts: dict[str, Candidate] = {}
        for candidate in found:
            text = with_right_masks(self.masked, candidate.text)
            if all(text.count(piece) <= 1 for piece, _ in self.masked.written):
                for whole in self._filled(text):
                    texts.setdefault(whole, candidate)
        return dict(islice(texts.items(), _MOST_READ))

    def _filled(self, text: str) -> Iterator[str]:
        """Yield a candidate with pieces of the first search, numbers, and terms in their forms in place of its masks.

        The first has each term in its first form, the others one term in another.
        """
        assert self.masked is not None
        terms = {piece: self.terms[span] for piece, span in self.masked.masks if span in self.terms}
        known = {**dict(self.masked.masks), **dict(self.masked.written), **self.pieces}
        forms = {
            piece: self._fitted(text, piece, self._forms(term, text, piece))
            for piece, term in terms.items()
            if piece in text
        }
        usual = {old: news[0] for old, news in forms.values()}
        with_numbers = _with_forms(text, known | {piece: piece for piece in terms})
        yield _replaced(with_numbers, usual)
        for old, news in forms.values():
            yield from (_replaced(with_numbers, {**usual, old: new}) for new in news[1:])

    def _fitted(self, text: str, piece: str, forms: Sequence[str]) -> tuple[str, list[str]]:
        """Return a mask of a text with the words before it that depend on what follows, and all that may stand there.

        "le ⟨1⟩" becomes "l'appartement".
        """
        language = language_of(self.text.languages.target_lang)
        if language is not None and language.before_vowels:
            for pattern in _WORDS_BEFORE:
                found = re.search(pattern + piece, text)
                words = found[1].replace("’", "'") if found else ""
                if found and words.lower() in {*language.before_vowels, *language.before_vowels.values()}:
                    return found[0], [start + form for form in forms for start in fitted(words, form, language)]
        return piece, list(forms)

    def _forms(self, term: Term, text: str, piece: str) -> list[str]:
        """Return the targets of a term, with a capital where its mask begins a sentence, unless the source has none."""
        targets = [target.removesuffix(GOES_ON) for target in term.targets]
        first = next(filter(str.isalpha, self.segment.text), "")
        assert self.masked is not None
        spans = {piece: "" if piece in self.masked.tags else span for piece, span in self.masked.masks}
        is_beginning = _BEGINNING.search(_with_forms(text[: text.find(piece)], spans))
        return targets if first.islower() or not is_beginning else [term.beginning(target) for target in targets]


@dataclass(frozen=True)
class SecondSearch:
    """Maker and judge of second searches.

    Args:
        planner: of the model.
        decoder: the model, which judges translations whose numbers and terms masks have hidden from it.
        phrases: those of the model.
        batch_size: tokens that are read at once.
    """

    planner: Planner
    decoder: ForcedDecoder
    phrases: PhraseBook
    batch_size: int

    def proposals(self, plan: Plan, choices: Sequence[Choice]) -> dict[int, Proposal]:
        """Return the second searches of a plan, by the numbers of its jobs; none if it draws its candidates.

        Args:
            choices: of the plan's jobs.
        """
        found = {}
        for number, ((text, segment), choice) in enumerate(zip(plan.searched, choices, strict=True)):
            is_repairable = choice.flags and not text.request.plain and not plan.config.sample
            if is_repairable and (proposal := self._proposal(plan, text, segment, choice)) is not None:
                found[number] = proposal
        return found

    def _proposal(self, plan: Plan, text: TextPlan, segment: Segment, choice: Choice) -> Proposal | None:
        wanted = [repair(text, segment, choice) for name, repair in REPAIRS.items() if name not in text.request.off]
        terms = {
            words: term
            for each in wanted
            for words, term in each.masked_terms.items()
            if not self._is_other_word(text, segment, words, term, choice)
        }
        masks_numbers = any(each.masks_numbers for each in wanted)
        masked = self.planner.with_masks(text, segment, terms, masks_numbers=masks_numbers)
        proposal = Proposal(text, segment, choice, job_of(segment, plan.config), masked and masked.reading, terms)
        pieces = {first: second for second, first in proposal.pieces.items()}
        phrases = [
            tuple(form._replace(text=pieces.get(form.text, form.text)) for form in forms)
            for each in wanted
            for forms in each.phrases
        ]
        required = self.phrases.demands(phrases)
        foreign = self._foreign_ids(text, segment) if any(each.forbids_letters for each in wanted) else ()
        has_more = plan.config.n_best < plan.config.beam_size  # candidates that the first search did not return
        may_have_better = has_more and not {"span", "number"}.isdisjoint(choice.flags)
        if not (required or masked or foreign or may_have_better):
            return None
        size = max(plan.config.beam_size, _LEAST_BEAM) if required or masked else plan.config.beam_size
        job = job_of(masked or segment, plan.config.model_copy(update={"beam_size": size, "n_best": size}))
        return proposal._replace(
            job=job._replace(
                required=required,
                is_sentence=len([*sentences(segment.text)]) == 1,
                forbidden_ids=(*job.forbidden_ids, *foreign),
            )
        )

    def _is_other_word(self, text: TextPlan, segment: Segment, words: str, term: Term, choice: Choice) -> bool:
        """Return True if the words of a term that is written in one case have a capital because they begin a sentence.

        "May I come in?" has no May: its translation is as probable if the model reads "may". Words that stand in the
        translation as in the source are a name: "Mark ist Lehrer."
        """
        if not (term.case and words.istitle()) or Term(words, (words,), case=True).n_in(choice.candidates[0].text):
            return False
        ids = self.planner.small_start_ids(text, segment, words)
        if ids is None:
            return False
        target_ids = self.planner.target_ids(choice.candidates[0].text, text.languages.target_lang)
        as_it_is, in_small = self.decoder.log_probs(
            [(segment.read_ids, target_ids), ([*segment.context_ids, *ids], target_ids)]
        )
        return sum(as_it_is) - sum(in_small) < LEAST_NAME

    def _foreign_ids(self, text: TextPlan, segment: Segment) -> list[int]:
        """Return the tokens with letters that the target language does not use, and that are not in the segment or in
        the targets of its terms."""
        allowed = {*allowed_letters(segment.reading), *segment.prefix}
        letters = self.phrases.foreign_letters(text.languages.target_lang)
        return [id for id, own in letters.items() if not own <= allowed]

    def accepted(
        self,
        plan: Plan,
        choices: Sequence[Choice],
        proposals: Mapping[int, Proposal],
        found: Sequence[Sequence[Candidate]],
    ) -> list[Choice]:
        """Return the choices of a plan's jobs, better ones in place of those that were searched again.

        A choice is better if it has lost less than before and nothing else, and the model finds it plausible. Its
        repairs are the checks that it did not pass before, and that no segment of its text fails now.

        Args:
            choices: of the plan's jobs.
            found: the candidates of the proposals.
        """
        after = list(choices)
        beams = self.read_again(plan, list(proposals.values()), found)
        for (number, proposal), beam in zip(proposals.items(), beams, strict=True):
            pool = [*proposal.choice.candidates, *(one for one in beam if not proposal.is_glued(one))]
            choice = rank(proposal.segment.reading, pool, proposal.text.languages.pair)
            is_plausible = cost(proposal, choice) <= MOST_COST or proposal.choice.missing_terms
            if is_plausible and (mended := proposal.mended(choice.candidates[0])):
                after[number] = choice._replace(candidates=choice.candidates[: plan.config.n_best], repairs=mended)
        failing: dict[int, set[str]] = {}
        for number, proposal in proposals.items():
            failing.setdefault(id(proposal.text), set()).update(proposal.failing(after[number].candidates[0]))
        for number, proposal in proposals.items():
            mended = [name for name in after[number].repairs if name not in failing[id(proposal.text)]]
            after[number] = after[number]._replace(repairs=mended)
        return after

    def read_again(
        self, plan: Plan, proposals: Sequence[Proposal], found: Sequence[Sequence[Candidate]]
    ) -> list[Sequence[Candidate]]:
        """Return the candidates of second searches as those of their segments as they were searched first.

        Where masks hid numbers and terms from the model, it reads each translation with them, and those that it finds
        most probable come first: so it chooses the article, and the form of a term.
        """
        beams, alpha = list(found), plan.config.length_penalty
        masked = [number for number, proposal in enumerate(proposals) if proposal.masked is not None]
        texts = [proposals[number].texts(found[number]) for number in masked]
        pairs = [
            [(one.segment.read_ids, self.planner.target_ids(text, one.text.languages.target_lang)) for text in own]
            for one, own in zip((proposals[number] for number in masked), texts, strict=True)
        ]
        # Translations of one source share its encoding and most of their beginnings, as the hypotheses of a beam do.
        costs = [max((1 + len(side) for pair in own for side in pair), default=0) for own in pairs]
        shares = [max(1, len(own) // plan.config.beam_size) for own in pairs]
        for some in batches([cost * share for cost, share in zip(costs, shares, strict=True)], self.batch_size):
            values = iter(self.decoder.log_probs([pair for each in some for pair in pairs[each]]))
            for each in some:
                read = [
                    self._read(text, candidate, ids, next(values), alpha)
                    for (text, candidate), (_, ids) in zip(texts[each].items(), pairs[each], strict=True)
                ]
                beams[masked[each]] = sorted(read, key=lambda one: -one.hypothesis.score)
        return beams

    def _read(
        self, text: str, masked: Candidate, ids: Sequence[int], log_probs: Sequence[float], alpha: float
    ) -> Candidate:
        """Return a candidate that the model has read without masks."""
        again = candidate_of(self.phrases.tokenizer, self._hypothesis(ids, log_probs, alpha, masked.hypothesis))
        return again._replace(text=text, masked=masked.hypothesis)

    def _hypothesis(self, ids: Sequence[int], values: Sequence[float], alpha: float, masked: Hypothesis) -> Hypothesis:
        """Return the hypothesis of ids whose log-probabilities are known, as finished and faulty as the masked one."""
        end = self.phrases.tokenizer.special_ids.end
        written = Hypothesis.of([*ids, end], values, alpha, finished=True)
        return replace(written, finished=masked.finished, faults=masked.faults)


def cost(proposal: Proposal, choice: Choice) -> float:
    """Return by how much the best of a choice is less probable than the best candidate of the first search, in nats."""
    return proposal.choice.candidates[0].hypothesis.log_prob - choice.candidates[0].hypothesis.log_prob


def _with_forms(text: str, forms: Mapping[str, str]) -> str:
    """Return a translation with something else in place of each of its pieces."""
    return RESERVED.sub(lambda match: forms.get(match[0], ""), text)


def _replaced(text: str, forms: Mapping[str, str]) -> str:
    """Return a text with other stretches in place of some, which do not overlap."""
    for old, new in forms.items():
        text = text.replace(old, new, 1)
    return text
