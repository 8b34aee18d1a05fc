"""The second search for segments whose translation fails a check: at most one for each, and never for the worse."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dragoman.translator.choosing import Choice, losses, rank
from dragoman.translator.cutting import Segment
from dragoman.translator.forced_decoding import ForcedDecoder
from dragoman.translator.padding import IdPair, pair_batches
from dragoman.translator.planning import Planner
from dragoman.translator.plans import Plan, SearchJob, TextPlan, job_of
from dragoman.translator.repairs.lost_numbers import Numbers
from dragoman.translator.repairs.lost_spans import Spans
from dragoman.translator.repairs.lost_terms import Terms
from dragoman.translator.repairs.phrase_book import PhraseBook
from dragoman.translator.repairs.repair import Repair
from dragoman.translator.searching import Candidate

#: What may be repaired, and how.
REPAIRS: Sequence[Repair] = (Terms(), Spans(), Numbers())
#: Hypotheses of a search that must write phrases, at least: room for some with and some without them.
_LEAST_BEAM = 4
#: The most by which the log-probability of a repaired translation may be lower than that of the best candidate, in
#: nats; beyond that, the model does not find it plausible. A term list is obeyed at any cost.
MOST_COST = 50.0


class Proposal(NamedTuple):
    """A second search for a segment."""

    text: TextPlan
    #: The segment as it was searched first, and the choice among its candidates.
    before: Segment
    choice: Choice
    #: The segment as the model reads it now: with masks for its numbers, or as before.
    segment: Segment
    job: SearchJob

    @property
    def is_masked(self) -> bool:
        """True if numbers are masked, so that the candidates of both searches cannot be compared as they are."""
        return self.segment is not self.before

    def chosen(self, found: Sequence[Candidate]) -> Choice:
        """Return the choice among the candidates of both searches, or of the second if they cannot be compared.

        Args:
            found: those of the second search.
        """
        pool = found if self.is_masked else [*self.choice.candidates, *found]
        return rank(self.segment.reading, pool, self.text.languages.pair)

    def is_repaired(self, found: Candidate) -> bool:
        """Return True if a candidate has fewer faults than the best of the first search, and no other ones.

        Args:
            found: the best of the second search.
        """
        return self._faults(self.segment, found) < self._faults(self.before, self.choice.candidates[0])

    def _faults(self, segment: Segment, candidate: Candidate) -> set[str]:
        """Return what a candidate has lost, and what is wrong with it otherwise.

        Args:
            segment: as it was searched for the candidate.
        """
        translation = segment.reading.unmask(candidate.text)
        lost = losses(self.before.reading, translation, self.text.languages.pair)
        unfinished = () if candidate.hypothesis.finished else ("unfinished",)
        return {*lost, *candidate.hypothesis.faults, *unfinished}


@dataclass(frozen=True)
class SecondSearch:
    """Maker and judge of second searches.

    Args:
        planner: of the model.
        decoder: the model, which judges translations whose numbers masks have hidden from it.
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
        required = self.phrases.demands([forms for each in wanted for forms in each.phrases])
        masked = self.planner.with_masks(text, segment) if any(each.masks_numbers for each in wanted) else None
        has_more = plan.config.n_best < plan.config.beam_size  # candidates that the first search did not return
        if not required and masked is None and not (has_more and {"span", "number"} & set(choice.flags)):
            return None
        size = max(plan.config.beam_size, _LEAST_BEAM) if required else plan.config.beam_size
        config = plan.config.model_copy(update={"beam_size": size, "n_best": size})
        job = job_of(masked or segment, config)._replace(required=required)
        return Proposal(text, segment, choice, masked or segment, job)

    def accepted(
        self,
        plan: Plan,
        choices: Sequence[Choice],
        proposals: Mapping[int, Proposal],
        found: Sequence[Sequence[Candidate]],
    ) -> tuple[Plan, list[Choice]]:
        """Return a plan and the choices of its jobs, with the segments that the second search made better.

        A segment is better if it has lost less than before and nothing else, and the model finds it plausible.

        Args:
            choices: of the plan's jobs.
            found: the candidates of the proposals.
        """
        chosen = {
            number: proposal.chosen(beam) for (number, proposal), beam in zip(proposals.items(), found, strict=True)
        }
        repaired = [number for number, each in chosen.items() if proposals[number].is_repaired(each.candidates[0])]
        costs = self.costs([(proposals[number], chosen[number].candidates[0]) for number in repaired])
        after, segments = list(choices), {}
        for number, cost in zip(repaired, costs, strict=True):
            if cost <= MOST_COST or proposals[number].before.reading.terms:
                segments[number] = proposals[number].segment
                kept = chosen[number].candidates[: plan.config.n_best]
                after[number] = chosen[number]._replace(candidates=kept)
        return plan.with_segments(segments), after

    def costs(self, repaired: Sequence[tuple[Proposal, Candidate]]) -> list[float]:
        """Return by how much each repaired candidate is less probable than the best one before, in nats."""
        pairs = [self._pair(*each) for each in repaired]
        log_probs = [candidate.hypothesis.log_prob for _, candidate in repaired]
        masked = [number for number, (proposal, _) in enumerate(repaired) if proposal.is_masked]
        for rows in pair_batches([pairs[number] for number in masked], self.batch_size):
            numbers = [masked[row] for row in rows]
            for number, values in zip(numbers, self.decoder.log_probs([pairs[each] for each in numbers]), strict=True):
                log_probs[number] = math.fsum(values)
        return [
            proposal.choice.candidates[0].hypothesis.log_prob - log_prob
            for (proposal, _), log_prob in zip(repaired, log_probs, strict=True)
        ]

    def _pair(self, proposal: Proposal, candidate: Candidate) -> IdPair:
        """Return the ids of a segment as it was read first, and of a translation of it."""
        translation = proposal.segment.reading.unmask(candidate.text)
        return proposal.before.ids, self.planner.target_ids(proposal.before.reading, translation)
