"""A trained model, updated in minutes with what people have translated since, without forgetting what it knew.

The model is trained on the new text and on replayed old text in equal parts. Then weights between the old and the new
ones are tried (Wortsman et al. 2022, Robust fine-tuning of zero-shot models), and those win that translate held-out
new text best, among those that lose little on held-out old text. If none do, the old weights stay; weights that were
better on the new text and lost more on the old are kept beside them, for a person to choose.
"""

from __future__ import annotations

import logging
import math
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dragoman.bundle.bundle import Bundle, load_bundle, write_bundle
from dragoman.errors import ConfigError, DataError, RunFolderError, counted
from dragoman.evaluation.metrics import corpus_chrf, paired_test
from dragoman.experiments.replaying import Pair, Translate, hold_out, replay
from dragoman.machine.devices import find_device
from dragoman.settings.corpus_config import MOST_TIMES
from dragoman.settings.duration import duration_text
from dragoman.text.cleaning import comparable
from dragoman.training.run import train
from dragoman.translator import ComputeOptions, TranslateOptions, Translator
from dragoman.translator.confidence import FACT
from dragoman.translator.model_facts import ModelFacts

#: Held-out sources of new text: a tenth, within these.
_LEAST_HELD, _MOST_HELD = 10, 200
#: Fewest new sources.
_FEWEST = 2 * _LEAST_HELD
#: Share of the time for translations to be replayed.
_REPLAY_SHARE = 0.25
#: Times that the training sees each new pair, and tokens of a step, of which half are new text.
_PASSES, _BATCH_TOKENS = 12, 1024
#: Characters of a token, roughly, and the bounds of the steps that follow from both.
_CHARACTERS, _FEWEST_STEPS, _MOST_STEPS = 3, 30, 800
#: Percent of the new weights that are tried.
_SHARES = (100, 85, 70, 55, 40, 30, 20, 10)
#: chrF2 that held-out old text may lose: below what chance changes.
MAX_LOSS = 0.2
#: Refused weights that are kept, at most.
_MOST_REFUSED = 3

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Candidate:
    """Weights between the old and the new ones on text that they were not trained on; chrF2 of greedy translations."""

    #: Percent of the new weights; 0 is the old model.
    share: int
    new: float
    #: None without old pairs.
    old: float | None
    #: Its translations of new text.
    texts: Sequence[str] = field(default=(), repr=False)

    def loss(self, before: Candidate) -> float:
        """Return the points that old text loses; 0 if there is none."""
        return 0.0 if self.old is None or before.old is None else before.old - self.old


@dataclass(frozen=True)
class Outcome:
    """An update: all candidates, the one that was written, and where refused ones are."""

    n_new: int
    n_held_out: int
    max_loss: float
    before: Candidate
    #: The largest share first.
    tried: Sequence[Candidate]
    refused: Mapping[int, Path] = field(default_factory=dict)
    #: The probability that chance alone gives such a gain; None if the old weights are written.
    p_value: float | None = None

    def allows(self, candidate: Candidate) -> bool:
        """Return True if old text loses no more than it may."""
        return round(candidate.loss(self.before), 2) <= self.max_loss

    @property
    def chosen(self) -> Candidate:
        """The candidate that is written: the best on new text of those that are allowed, or the old weights."""
        return max([self.before, *filter(self.allows, self.tried)], key=lambda one: one.new)

    @property
    def better(self) -> list[Candidate]:
        """Refused candidates that translate new text better than the chosen one, the best first; of two equals, and
        where one is worse on both texts, the other alone."""
        found, least = list[Candidate](), math.inf
        for one in sorted(self.tried, key=lambda one: (-one.new, one.loss(self.before))):
            if one.new > self.chosen.new and one.loss(self.before) < least:
                least = one.loss(self.before)
                found.append(one)
        return found


def update(
    model: str | Path,
    new: Sequence[Pair],
    output: Path,
    languages: tuple[str, str],
    *,
    old: Sequence[Pair | str] = (),
    max_loss: float = MAX_LOSS,
    seconds: float | None = None,
    device: str = "auto",
) -> Outcome:
    """Write a bundle that translates text like the new pairs better, and old text about as well as before.

    Args:
        model: a bundle, a run folder or an installed model.
        new: text and translations, such as those of a memory.
        output: the new bundle.
        languages: codes of source and target.
        old: pairs of the text that the model must not forget, or sources only, whose translations the model writes
            itself. Without any, the model's own translations of the new sources are replayed, and nothing says what
            else it forgets.
        max_loss: points of chrF2 that held-out old text may lose. Weights that lose more and translate new text better
            are written beside the output, to folders whose names end in their share, such as -share-70.
        seconds: for all of it; None is as long as the new text needs, some minutes.

    Raises:
        ConfigError: the time is too short.
        DataError: there are too few new sources, or too few old ones that are not new.
        RunFolderError: a folder for refused weights exists.
        DragomanError: as `train`.
    """
    pairs = {(one.strip(), other.strip()) for one, other in new if one.strip() and other.strip()}
    sources = {comparable(source) for source, _ in pairs}
    if len(sources) < _FEWEST:
        problem = f"{counted(len(sources), 'different source')}, and an update needs {_FEWEST}"
        raise DataError(problem, advice="wait for more, or use them as they are: translate --memory")
    for share in _SHARES:
        if _refused_path(output, share).exists():
            raise RunFolderError("the output exists", _refused_path(output, share), advice="choose another --output")
    began = time.monotonic()
    held, learned = hold_out(pairs, min(_MOST_HELD, max(_LEAST_HELD, len(sources) // 10)))
    trial = _Trial(load_bundle(model), languages, device)
    replay_limit = None if seconds is None else seconds * _REPLAY_SHARE
    learned_sources = [source for source, _ in learned]
    old_held, replayed = replay(old, learned_sources, sources, lambda: trial.translate(trial.start), replay_limit)
    judged = time.monotonic()
    before = trial.candidate(trial.start, 0, held, old_held)
    judging = len(_SHARES) * (time.monotonic() - judged)
    with tempfile.TemporaryDirectory(prefix="dragoman-update-") as folder:
        corpora = {"new": learned, "replayed": replayed}
        settings = _settings(Path(folder), corpora, held, languages, has_time=seconds is not None)
        limit = None if seconds is None else seconds - judging - (time.monotonic() - began)
        if limit is not None and limit <= 0:
            needed = duration_text(math.ceil((seconds or 0) - limit) + 60)
            raise ConfigError("the time is too short to judge the new weights", advice=f"give --time {needed} or more")
        best = load_bundle(train(settings, Path(folder) / "run", init_from=model, device=device, time_limit=limit))
    outcome = Outcome(len(pairs), len(held), max_loss, before, trial.candidates(best, held, old_held))
    return trial.write(best, replace(outcome, p_value=_p_value(outcome, held, languages[1])), output)


def _p_value(outcome: Outcome, held: Sequence[Pair], target_lang: str) -> float | None:
    """Return the probability of the gain on held-out new text by chance: a paired bootstrap of chrF2."""
    before, chosen = outcome.before, outcome.chosen
    if chosen is before:
        return None
    tests = paired_test(before.texts, chosen.texts, [target for _, target in held], target_lang)
    return next(test.p_value for test in tests if test.name == "chrF2")


@dataclass(frozen=True)
class _Trial:
    """A model, and the direction in which it is updated."""

    start: Bundle
    languages: tuple[str, str]
    device: str

    def candidate(self, bundle: Bundle, share: int, held: Sequence[Pair], old: Sequence[Pair]) -> Candidate:
        """Return a bundle's scores."""
        translate = self.translate(bundle)
        texts, new = _scored(translate, held)
        return Candidate(share, new, _scored(translate, old)[1] if old else None, texts)

    def candidates(self, best: Bundle, held: Sequence[Pair], old: Sequence[Pair]) -> list[Candidate]:
        """Return the scores of weights between the old and the new ones."""
        found = []
        for share in _SHARES:
            found.append(one := self.candidate(self._between(best, share), share, held, old))
            told = "" if one.old is None else f", of old text {one.old:.2f}"
            _log.info(f"{share} % of the new weights: chrF of new text {one.new:.2f}{told}")
        return found

    def write(self, best: Bundle, outcome: Outcome, output: Path) -> Outcome:
        """Write the chosen weights, and those that were refused though better on new text; return where these are."""
        chosen, better = outcome.chosen.share, outcome.better
        write_bundle(output, self._between(best, chosen) if chosen else self.start)
        n_kept = min(_MOST_REFUSED, len(better))
        kept = [better[index * len(better) // n_kept].share for index in range(n_kept)]
        refused = {share: _refused_path(output, share) for share in kept}
        for share, path in refused.items():
            write_bundle(path, self._between(best, share))
        if chosen or refused:
            self._tell_lost()
        return replace(outcome, refused=refused)

    def _tell_lost(self) -> None:
        """Warn of what new weights cannot take over from the old ones."""
        parts = {
            "short-list (--short-list)": self.start.short_list,
            "confidence (--calibrate)": self.start.facts.get(FACT),
        }
        if lost := [name for name, part in parts.items() if part is not None]:
            _log.warning(f"the new weights have no {' and no '.join(lost)}; run dragoman package to learn it again")

    def _between(self, best: Bundle, percent: int) -> Bundle:
        """Return weights between the old ones and the new ones."""
        share = percent / 100
        weights = {
            name: ((1 - share) * weight + share * best.weights[name]).astype(weight.dtype)
            for name, weight in self.start.weights.items()
        }
        facts = {**self.start.lasting_facts, "updated": share, "step": best.facts.get("step")}
        return replace(self.start, weights=weights, facts=facts, short_list=None)

    def translate(self, bundle: Bundle) -> Translate:
        """Return a function that translates texts with a bundle's weights."""
        compute = ComputeOptions(find_device(self.device))
        facts = ModelFacts.of_bundles([bundle], ["the model"])
        translator = Translator([bundle], bundle.tokenizers, bundle.search, compute, facts)
        options = TranslateOptions(beam_size=1, source_lang=self.languages[0], target_lang=self.languages[1])
        return lambda sources: [one.text for one in translator.translate(list(sources), **options)]


def _scored(translate: Translate, pairs: Sequence[Pair]) -> tuple[list[str], float]:
    """Return translations of the sources of pairs, and their chrF2."""
    texts = translate([source for source, _ in pairs])
    return texts, corpus_chrf(texts, [target for _, target in pairs]).score


def _settings(
    folder: Path,
    corpora: Mapping[str, Sequence[Pair]],
    held: Sequence[Pair],
    languages: tuple[str, str],
    *,
    has_time: bool,
) -> dict[str, Any]:
    """Write the text of a training, and return its settings; its length is left open if a time says it.

    Only new text is validated: old text is judged at the end.
    """
    new, replayed = corpora.values()
    n_characters = sum(max(map(len, pair)) for pair in new)
    n_steps = math.ceil(2 * _PASSES * n_characters / _CHARACTERS / _BATCH_TOKENS)
    n_steps = min(_MOST_STEPS, max(_FEWEST_STEPS, n_steps))
    length = {"max_steps": n_steps, "warmup_steps": n_steps // 10, "validate_every": max(10, n_steps // 4)}
    ratio = len(replayed) / len(new)
    weights = {"new": max(1.0, ratio), "replayed": max(1.0, 1 / ratio)}
    return {
        "data": {
            "corpora": [
                {
                    "name": name,
                    "source_lang": languages[0],
                    "target_lang": languages[1],
                    "weight": min(MOST_TIMES, weights[name]),
                    **_write(folder, name, "", pairs),
                    **(_write(folder, name, "validation_", held) if name == "new" else {}),
                }
                for name, pairs in corpora.items()
            ]
        },
        "training": {
            **({} if has_time else length),
            "batch_tokens": _BATCH_TOKENS,
            "optimizer": "adam",
            "lr": 2e-4,
            "schedule": "linear",
            "best_by": "loss",
            "ema": 0.0,
        },
    }


def _write(folder: Path, name: str, kind: str, pairs: Sequence[Pair]) -> dict[str, str]:
    """Write pairs as two files, and return the settings that name them."""
    paths = {f"{kind}{side}": folder / f"{name}.{kind}{side}" for side in ("source", "target")}
    for path, texts in zip(paths.values(), zip(*pairs, strict=True), strict=True):
        path.write_text("".join(f"{' '.join(text.split())}\n" for text in texts), encoding="utf-8")
    return {key: str(path) for key, path in paths.items()}


def _refused_path(output: Path, share: int) -> Path:
    return output.with_name(f"{output.name}-share-{share}")
