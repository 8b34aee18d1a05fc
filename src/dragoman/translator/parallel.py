"""Many requests, translated by worker processes: each takes a portion of them from the plan to the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from dragoman.errors import DeadlineError
from dragoman.machine.workers import Workers
from dragoman.settings.search_config import SearchConfig
from dragoman.translator.checking import positive
from dragoman.translator.request import Request, checked_request
from dragoman.translator.results import Translation
from dragoman.translator.searching import StopCondition

#: Characters of a token, about.
_CHARACTERS = 4
#: The most batches in a portion: enough that its segments can be sorted by length.
_MOST_BATCHES = 4
#: Portions for each worker, if these fill a batch: enough that all workers end at about the same time.
_EACH = 4


class Portion(NamedTuple):
    """Requests that a worker translates at once."""

    requests: Sequence[Request]
    config: SearchConfig
    batch_size: int
    stop: StopCondition | None


@dataclass(frozen=True)
class Portions:
    """The requests of a call, shared among workers.

    Args:
        workers: those of a translator; each returns the translations of a `Portion`, or the error of one that was
            late.
        batch_size: source tokens that are searched at once unless a call says otherwise.
    """

    workers: Workers[Any, Any]
    batch_size: int

    def translate(
        self,
        requests: Sequence[Request],
        config: SearchConfig,
        *,
        batch_size: int | None = None,
        stop: StopCondition | None = None,
    ) -> list[Translation] | None:
        """Translate requests without looking into their memories; None if there is too little to share.

        Raises:
            ConfigError: `batch_size` is no whole number of one or more, or a request has a value that plans refuse.
            DeadlineError: the deadline of `stop` passed.
            ResourceError: a worker was killed.
        """
        batch_size = self.batch_size if batch_size is None else positive(batch_size, "batch_size")
        sizes = [len(checked_request(request, number).text) + 1 for number, request in enumerate(requests, 1)]
        portions = self._shared(sizes, batch_size)
        if len(portions) < 2:
            return None
        sent = [[replace(requests[number], memory=None) for number in numbers] for numbers in portions]
        outcomes = self.workers.map([Portion(some, config, batch_size, stop) for some in sent])
        found: dict[int, Translation] = {}
        for numbers, outcome in zip(portions, outcomes, strict=True):
            if isinstance(outcome, DeadlineError):
                raise outcome
            found.update(zip(numbers, outcome, strict=True))
        return [found[number] for number in range(len(requests))]

    def _shared(self, sizes: Sequence[int], batch_size: int) -> list[list[int]]:
        """Return the numbers of the texts of each portion, the longest first; none if the workers share batches better.

        Args:
            sizes: characters of each text.
        """
        n_workers, total = self.workers.n_workers, sum(sizes)
        if n_workers == 1 or n_workers * max(sizes, default=0) > total:  # a long text would keep one worker busy
            return []
        batch = _CHARACTERS * batch_size
        most = min(max(total // (_EACH * n_workers), batch), _MOST_BATCHES * batch)
        portions: list[list[int]] = []
        filled = most
        for number in sorted(range(len(sizes)), key=lambda number: -sizes[number]):
            if filled + sizes[number] > most:
                portions.append([])
                filled = 0
            portions[-1].append(number)
            filled += sizes[number]
        return portions
