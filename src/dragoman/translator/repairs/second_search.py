"""The second search for segments whose translation fails a check: at most one for each, and never for the worse."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from typing import NamedTuple

from dragoman.decoding.hypothesis import length_penalty
from dragoman.text.odd_characters import foreign_letters
from dragoman.text.sentences import sentences
from dragoman.text.terms import repeated_terms
from dragoman.translator.choosing import Choice, losses, rank, with_right_masks
from dragoman.translator.cutting import Segment
from dragoman.translator.forced_decoding import ForcedDecoder
from dragoman.translator.padding import IdPair, pair_batches
from dragoman.translator.planning import Planner
from dragoman.translator.plans import Plan, SearchJob, TextPlan, job_of
from dragoman.translator.reading import Reading
from dragoman.translator.repairs.foreign_letters import Letters
from dragoman.translator.repairs.lost_numbers import Numbers
from dragoman.translator.repairs.lost_spans import Spans
from dragoman.translator.repairs.lost_terms import Terms
from dragoman.translator.repairs.phrase_book import PhraseBook
from dragoman.translator.repairs.repair import Repair
from dragoman.translator.searching import Candidate, candidate_of

#: What may be repaired, and how.
REPAIRS: Sequence[Repair] = (Terms(), Spans(), Numbers(), Letters())
#: Hypotheses of a search that must write phrases or reads masks, at least: room for some with and some without them.
_LEAST_BEAM = 4
#: The most by which the log-probability of a repaired translation may be lower than that of the best candidate, in
#: nats; beyond that, the model does not find it plausible. A term list is obeyed at any cost.
MOST_COST = 50.0
#: Most translations that are made of one candidate, with other forms of its terms.
_MOST_FORMS = 8


class Proposal(NamedTuple):
    """A second search for a segment."""

    text: TextPlan
    #: As it was searched first, and the choice among its candidates.
    segment: Segment
    choice: Choice
    job: SearchJob
    #: What the model reads in the second search, if it has masks in place of numbers or terms.
    masked: Reading | None
    #: The forms of each masked term, by its words in the source.
    forms: Mapping[str, Sequence[str]]

    def mended(self, found: Candidate) -> list[str]:
        """Return the names of the faults that a candidate has not, unlike the best of the first search.

        There are none if it has other ones.
        A term that the search was made to write has a fault of its own where it is glued on: in a sentence of its own,
        or once too often.
        """
        first = self.choice.candidates[0]
        before, after = self._faults(first), self._faults(found)
        is_better = after < before and not self._is_glued(found, first)
        return sorted({name for name, _ in before - after}) if is_better else []

    def _is_glued(self, found: Candidate, first: Candidate) -> bool:
        if self.masked is not None or not self.segment.reading.terms:
            return False
        has_more = len([*sentences(found.text)]) > len([*sentences(first.text)])
        return has_more or bool(repeated_terms(self.segment.reading.terms, found.text))

    def _faults(self, candidate: Candidate) -> set[tuple[str, str]]:
        """Return what a candidate has lost, as `losses` has it, and what is wrong with it otherwise."""
        translation = self.segment.reading.unmask(candidate.text)
        lost = losses(self.segment.reading, translation, self.text.languages.pair)
        others = [*candidate.hypothesis.faults, *([] if candidate.hypothesis.finished else ["unfinished"])]
        return {*lost, *((name, "") for name in others)}

    def translations(self, found: Sequence[Candidate]) -> Iterator[tuple[Candidate, str]]:
        """Yield what candidates of a masked search say, each with the candidate, if it has no mask twice.

        A term stands there in each of its forms.
        """
        reading = self.masked
        assert reading is not None
        for candidate in found:
            text = with_right_masks(reading, candidate.text)
            if all(text.count(piece) <= 1 for piece, _ in reading.written):
                for written in islice(self._written(reading, text), _MOST_FORMS):
                    yield candidate, reading._replace(written=written).unmask(text)

    def _written(self, reading: Reading, text: str) -> Iterator[list[tuple[str, str]]]:
        """Yield what masks stand for in a translation, with each form of the terms; a capital begins a sentence."""
        words, is_capital = dict(reading.masks), self.segment.text[:1].isupper()
        forms = [
            [each[:1].upper() + each[1:] if is_capital and text.startswith(piece) else each for each in known]
            if (known := self.forms.get(words[piece]))
            else [form]
            for piece, form in reading.written
        ]
        pieces = [piece for piece, _ in reading.written]
        return (list(zip(pieces, chosen, strict=True)) for chosen in product(*forms))


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
        wanted = [each.wanted(text, segment, choice) for each in REPAIRS if each.name not in text.request.off]
        forms = {words: each for one in wanted for words, each in one.masked_terms.items()}
        masks_numbers = any(each.masks_numbers for each in wanted)
        masked = self.planner.with_masks(text, segment, forms, masks_numbers=masks_numbers)
        required = self.phrases.demands([forms for each in wanted for forms in each.phrases])
        has_more = plan.config.n_best < plan.config.beam_size  # candidates that the first search did not return
        foreign = self._foreign_ids(text, segment) if any(each.forbids_letters for each in wanted) else ()
        if (
            not required
            and masked is None
            and not foreign
            and not (has_more and {"span", "number"} & set(choice.flags))
        ):
            return None
        size = max(plan.config.beam_size, _LEAST_BEAM) if required or masked else plan.config.beam_size
        config = plan.config.model_copy(update={"beam_size": size, "n_best": size})
        is_sentence = len([*sentences(segment.text)]) == 1
        job = job_of(masked or segment, config)._replace(required=required, is_sentence=is_sentence)
        job = job._replace(forbidden_ids=(*job.forbidden_ids, *foreign))
        return Proposal(text, segment, choice, job, masked and masked.reading, forms)

    def _foreign_ids(self, text: TextPlan, segment: Segment) -> list[int]:
        """Return the tokens with letters that the target language does not use, and that the segment does not have."""
        language, pieces = text.languages.target_lang, self.phrases.surfaces.texts
        return [id for id, piece in enumerate(pieces) if foreign_letters(segment.text, piece, language)]

    def accepted(
        self,
        plan: Plan,
        choices: Sequence[Choice],
        proposals: Mapping[int, Proposal],
        found: Sequence[Sequence[Candidate]],
    ) -> list[Choice]:
        """Return the choices of a plan's jobs, better ones in place of those that were searched again.

        A choice is better if it has lost less than before and nothing else, and the model finds it plausible.

        Args:
            choices: of the plan's jobs.
            found: the candidates of the proposals.
        """
        after = list(choices)
        beams = self.read_again(plan, list(proposals.values()), found)
        for (number, proposal), beam in zip(proposals.items(), beams, strict=True):
            choice = rank(proposal.segment.reading, [*proposal.choice.candidates, *beam], proposal.text.languages.pair)
            is_plausible = cost(proposal, choice) <= MOST_COST or proposal.segment.reading.terms
            if is_plausible and (mended := proposal.mended(choice.candidates[0])):
                after[number] = choice._replace(candidates=choice.candidates[: plan.config.n_best], repairs=mended)
        return after

    def read_again(
        self, plan: Plan, proposals: Sequence[Proposal], found: Sequence[Sequence[Candidate]]
    ) -> list[Sequence[Candidate]]:
        """Return the candidates of second searches as those of their segments as they were searched first.

        Where masks hid numbers and terms from the model, it reads each translation with them, and those that it finds
        most probable come first: so it chooses the article, and the form of a term. The score stays that of the search.
        """
        beams, alpha = list(found), plan.config.length_penalty
        rows: list[tuple[int, Candidate, str, IdPair]] = []
        for number, (proposal, beam) in enumerate(zip(proposals, found, strict=True)):
            if proposal.masked is not None:
                beams[number] = []
                rows += [
                    (number, candidate, translation, self._pair(proposal, translation))
                    for candidate, translation in proposal.translations(beam)
                ]
        read: dict[int, list[Candidate]] = {}
        for some in pair_batches([pair for *_, pair in rows], self.batch_size):
            for row, values in zip(some, self.decoder.log_probs([rows[each][3] for each in some]), strict=True):
                number, candidate, translation, (_, ids) = rows[row]
                text = proposals[number].segment.reading.mask(translation)
                hypothesis = replace(candidate.hypothesis, ids=tuple(ids), token_log_probs=values)
                read.setdefault(number, []).append(candidate_of(self.phrases.tokenizer, hypothesis)._replace(text=text))
        for number, candidates in read.items():
            beams[number] = sorted(candidates, key=lambda one: -_score(one, alpha))
        return beams

    def _pair(self, proposal: Proposal, translation: str) -> IdPair:
        """Return the ids of a segment as it was read first, and of a translation of it."""
        return proposal.segment.ids, self.planner.target_ids(proposal.segment.reading, translation)


def cost(proposal: Proposal, choice: Choice) -> float:
    """Return by how much the best of a choice is less probable than the best candidate of the first search, in nats."""
    before, after = proposal.choice.candidates[0].hypothesis, choice.candidates[0].hypothesis
    return math.fsum(before.token_log_probs) - math.fsum(after.token_log_probs)


def _score(candidate: Candidate, alpha: float) -> float:
    """Return the score that a search would give to the tokens of a candidate."""
    values = candidate.hypothesis.token_log_probs
    return math.fsum(values) / length_penalty(len(values), alpha)
