"""A short card for a packaged model, written from its own facts."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from dragoman import __version__
from dragoman.errors import BundleError, counted

if TYPE_CHECKING:
    from dragoman.bundle.bundle import Bundle

#: Lines that count the pairs of a corpus, after its name and its languages if there are several.
_COUNTS = re.compile(r"(?:[\w+-]+, (?P<languages>[\w-]+ to [\w-]+: ))?(?P<counts>(?:kept|validation:|held out for) .*)")


def simple_card(bundle: Bundle, model: str, output: Path) -> str:
    """Return the card in Markdown: languages, use, scores and data of the model.

    Args:
        model: the origin of the bundle; a run folder has its data.
        output: the folder of the package.
    """
    from dragoman.text.tags import describe_directions

    directions = describe_directions(bundle.tokenizers.directions)
    into = " --source-lang CODE" if bundle.tokenizers.has_both_tags else ""
    into += " --target-lang CODE" if bundle.tokenizers.is_tagged else ""
    n_parameters = sum(weight.size for weight in bundle.weights.values())
    command = f"dragoman translate -m {shlex.quote(output.name)}{into} --input FILE --output FILE"
    languages = dict.fromkeys(language for direction in bundle.tokenizers.directions for language in direction)
    parts = [
        f"---\nlicense: unknown\nlanguage: [{', '.join(languages)}]\nlibrary_name: dragoman\n"
        "pipeline_tag: translation\n---",
        f"# {output.name}: {directions}",
        f"A Transformer of {n_parameters:,} parameters, made with dragoman {__version__}: {bundle.describe()}. "
        "Languages are given by their codes; und is an unknown language.",
        f"## Use\n\n    {command}",
        f"## Scores\n\n{_scores(bundle)}",
        f"## Data\n\n{_data(bundle, model)}",
        "`dragoman package` wrote this card from the facts of the model. Add its license (in the first "
        "lines: its name, and `commercial_use: true` or `false`), its purpose and its known failures.",
    ]
    return "\n\n".join(parts) + "\n"


def _scores(bundle: Bundle) -> str:
    facts, scores = bundle.facts, []
    if isinstance(loss := facts.get("loss"), int | float):
        scores.append(f"loss {loss:.3f} nats a token")
    if isinstance(bleu := facts.get("bleu"), int | float):
        scores.append(f"BLEU {bleu:.2f} (greedy search, before this package)")
    if not scores:
        return "Unknown. `dragoman evaluate` measures them on text that was not used for training."
    step = f", after step {facts['step']:,}" if isinstance(facts.get("step"), int) else ""
    return f"On its validation data{step}: {', '.join(scores)}. No other text was measured."


def _data(bundle: Bundle, model: str) -> str:
    """Return the numbers of the training text that the bundle and the run folder know, if `model` is a run folder.

    The run folder's other lines are left out: they may name or quote private files.
    """
    from dragoman.bundle.finding import model_path
    from dragoman.data.prepared import DATA_FOLDER, REPORT
    from dragoman.machine.json_files import read_json
    from dragoman.text.learned_text import LearnedText

    run = model_path(model)
    try:
        lines = read_json(run / DATA_FOLDER / REPORT).get("lines") if run is not None else None
    except BundleError:
        lines = None
    matches = map(_COUNTS.fullmatch, map(str, lines if isinstance(lines, list) else []))
    facts = [f"{match['languages'] or ''}{match['counts']}" for match in matches if match]
    if (learned := LearnedText.of_bundle(bundle.facts, model)) is not None:
        usual, median = learned.usual_tokens, learned.median_tokens
        facts.append(f"source lines of {counted(median, 'token')} (median); 99 of 100 have at most {usual:,}")
    request = "Please describe the training text here."
    return "\n".join(f"- {line}" for line in facts) + f"\n\n{request}" if facts else f"Unknown to this card. {request}"
