"""`dragoman package`: a trained model as one small folder to give to others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from dragoman.cli.card import simple_card
from dragoman.cli.options import BeamSize, LengthPenalty, NewFolder, OneModel, Stored, option
from dragoman.cli.streams import megabytes, say, translate_command
from dragoman.cli.training_settings import require_folder
from dragoman.errors import DataError, DragomanError, reading_problem

if TYPE_CHECKING:
    from dragoman.bundle.bundle import Bundle
    from dragoman.translator.confidence import Calibrations

#: Pairs of a direction that are enough to calibrate it, spread evenly over the text.
_ENOUGH = 1_000


def package(
    model: OneModel,
    output: NewFolder,
    precision: Stored = "float16",
    card: Annotated[
        Path | None, option("Markdown that describes the model; it becomes README.md in the bundle.")
    ] = None,
    short_list: Annotated[
        Path | None,
        option(
            "Learn from the training text of this run which tokens translate which, and score only these (faster).",
            metavar="RUN",
        ),
    ] = None,
    calibrate: Annotated[
        Path | None,
        option(
            "Calibrate the confidence on the validation text of this run; default: the model's own run.", metavar="RUN"
        ),
    ] = None,
    beam_size: BeamSize = None,
    length_penalty: LengthPenalty = None,
) -> None:
    """Make a model ready to give to others.

    The new folder has all that is needed to translate, at half the size, and a card (README.md): --card, else the
    model's own, else a short new one. You may edit it later. --beam-size and --length-penalty become the
    model's defaults. With --short-list, the model translates faster on a CPU. The model of a run learns from the
    run's validation text how sure it may be of a translation (its confidence); another one does by --calibrate.

    \b
    dragoman package -m runs/my -o my-model --card card.md --length-penalty 1.0
    dragoman package -m runs/my -o my-model --precision int8 --short-list runs/my
    """
    text = _read_card(card)
    require_folder(output, new=True)
    from dragoman.bundle.bundle import load_bundle, write_bundle
    from dragoman.bundle.finding import card_of

    bundle = _with_search(load_bundle(model), {"beam_size": beam_size, "length_penalty": length_penalty})
    if short_list is not None:
        bundle = _with_short_list(bundle, short_list)
    bundle = _with_confidence(bundle, model, calibrate)
    written = text if text is not None else card_of(model) or simple_card(bundle, model, output)
    write_bundle(output, bundle, precision, written)
    if text is None:
        kind = f"the card of {model}; check it" if card_of(model) else "a short card; add to it"
        say(f"with {kind}: {output}/README.md")
    _say_packaged(model, output, bundle)


def _with_search(bundle: Bundle, options: dict[str, float | None]) -> Bundle:
    from dragoman.settings.search_config import SearchConfig
    from dragoman.settings.sections import parse_section

    changes = {name: value for name, value in options.items() if value is not None}
    return replace(bundle, search=parse_section(SearchConfig, {**bundle.search.model_dump(), **changes}))


def _with_confidence(bundle: Bundle, model: str, folder: Path | None) -> Bundle:
    """Return the bundle with calibrations, if there is text to learn them from; else as it is.

    Args:
        folder: the run to learn from; None is the model's own run, which may have no corpus, or a damaged one.
    """
    from dragoman.bundle.finding import model_path
    from dragoman.data.prepared import is_prepared
    from dragoman.translator.confidence import FACT

    run = folder or model_path(model)
    if run is None or (folder is None and not is_prepared(run)):
        return bundle
    try:
        _require_prepared(run)
        found = _calibrations(bundle, run)
    except DragomanError as error:
        if folder is not None:
            raise
        say(f"no confidence: {error.message}")
        return bundle
    return bundle if found is None else replace(bundle, facts={**bundle.facts, FACT: found.model_dump(mode="json")})


def _calibrations(bundle: Bundle, folder: Path) -> Calibrations | None:
    """Calibrate a model in each direction that the validation text of a prepared corpus has.

    Returns:
        None if there is too little text.
    """
    from dragoman.data.prepared import validation_directions, validation_text
    from dragoman.evaluation.calibration import FEWEST, calibrate
    from dragoman.translator import ComputeOptions, ModelFacts, Translator
    from dragoman.translator.confidence import Calibrations, direction_key

    facts = ModelFacts.of_bundles([bundle], [folder])
    translator = Translator([bundle], bundle.tokenizers, bundle.search, ComputeOptions("cpu"), facts)
    found = {}
    named = validation_directions(folder)
    for direction in translator.directions:
        if named and direction not in named:
            say(f"no confidence {'-'.join(direction)}: no validation text is in this direction")
            continue
        pairs = list(validation_text(folder, direction if named else None))
        if len(pairs) < FEWEST:
            say(f"no confidence {'-'.join(direction)}: {len(pairs)} validation pairs are too few to calibrate it")
            continue
        sources, references = zip(*pairs[:: max(1, len(pairs) // _ENOUGH)][:_ENOUGH], strict=True)
        calibration = calibrate(translator, sources, references, direction)
        found[direction_key(direction)] = calibration
        say(
            f"confidence {direction_key(direction)}, learned from {calibration.n_sentences:,} validation sentences: it "
            f"differs from chrF2 by {calibration.error:.3f} on average, and the two have a correlation of "
            f"{calibration.correlation:.2f}"
        )
    return Calibrations(directions=found) if found else None


def _require_prepared(folder: Path) -> None:
    from dragoman.data.prepared import is_prepared

    if not is_prepared(folder):
        advice = "give the run folder of the model's training, or what `dragoman prepare` wrote"
        raise DataError("no prepared training text", folder, advice=advice)


def _with_short_list(bundle: Bundle, folder: Path) -> Bundle:
    from dragoman.alignment.lexicon import learn_short_list
    from dragoman.data.prepared import open_prepared

    _require_prepared(folder)
    prepared = open_prepared(folder)
    if not prepared.tokenizers.equals(bundle.tokenizers):
        raise DataError("its text was prepared for a model with other tokenizers", folder, advice="give its own run")
    return replace(bundle, short_list=learn_short_list(prepared.train, bundle.tokenizers))


def _say_packaged(model: str, output: Path, bundle: Bundle) -> None:
    from dragoman.bundle.finding import find_bundle

    if (old := megabytes(find_bundle(model))) < megabytes(output) / 1.2:
        say(f"larger than {model} ({old:.1f} MB), whose weights have fewer bits; --precision int8 makes the smallest")
    say(f"packaged into {output}, {megabytes(output):.1f} MB; use it: {translate_command(output, bundle)}")


def _read_card(path: Path | None) -> str | None:
    try:
        return None if path is None else path.read_text(encoding="utf-8")
    except OSError as error:
        raise DataError(reading_problem(error, "card"), path, advice="check the path") from None
    except UnicodeDecodeError as error:
        raise DataError(f"the card is not UTF-8 ({error})", path, advice="convert it") from None
