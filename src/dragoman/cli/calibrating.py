"""The calibration of a model's confidence by validation text, with a line on how good it is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dragoman.cli.streams import say

if TYPE_CHECKING:
    from dragoman.bundle.bundle import Bundle
    from dragoman.translator.confidence import Calibrations

#: Pairs of a direction that are enough, spread evenly over the text.
_ENOUGH = 1_000


def calibrations(bundle: Bundle, folder: Path) -> Calibrations | None:
    """Calibrate a model in each direction that the validation text of a prepared corpus has.

    Returns:
        None if there is too little text.
    """
    from dragoman.data.prepared import validation_text
    from dragoman.evaluation.calibration import FEWEST, calibrate
    from dragoman.translator import ComputeOptions, ModelFacts, Translator
    from dragoman.translator.confidence import Calibrations, direction_key

    facts = ModelFacts.of_bundles([bundle], [folder])
    translator = Translator([bundle], bundle.tokenizers, bundle.search, ComputeOptions("cpu"), facts)
    found = {}
    for direction in translator.directions:
        pairs = list(validation_text(folder, direction if len(translator.directions) > 1 else None))
        if len(pairs) < FEWEST:
            say(f"no confidence {'-'.join(direction)}: {len(pairs)} validation pairs are too few to calibrate it")
            continue
        sources, references = zip(*pairs[:: max(1, len(pairs) // _ENOUGH)][:_ENOUGH], strict=True)
        calibration = calibrate(translator, sources, references, direction)
        found[direction_key(direction)] = calibration
        say(
            f"confidence {direction_key(direction)}: of {calibration.n_sentences:,} validation sentences, it differs "
            f"from chrF2 by {calibration.error:.3f} on average, and its correlation with it is "
            f"{calibration.correlation:.2f}"
        )
    return Calibrations(directions=found) if found else None
