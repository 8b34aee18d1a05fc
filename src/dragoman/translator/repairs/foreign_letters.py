"""Letters that the target language does not use: "Öffne ein终端."."""

from __future__ import annotations

from dragoman.translator.choosing import Choice
from dragoman.translator.cutting import Segment
from dragoman.translator.plans import TextPlan
from dragoman.translator.repairs.repair import Wanted
from dragoman.translator.request import SCRIPT


class Letters:
    """A second search may not write them."""

    name = SCRIPT

    def wanted(self, text: TextPlan, segment: Segment, choice: Choice) -> Wanted:
        """See `Repair`."""
        return Wanted(forbids_letters="script" in choice.flags)
