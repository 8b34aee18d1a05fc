"""A trained model, updated in minutes with what people have translated since, without forgetting what it knew.

The model is trained on the new text and on replayed old text in equal parts. Then weights between the old and the new
ones are tried (Wortsman et al. 2022, Robust fine-tuning of zero-shot models), and those win that translate held-out
new text best, among those that translate held-out old text as well as before. If none do, the old weights stay.
"""

from __future__ import annotations

import hashlib
import logging
import math
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dragoman.bundle.bundle import Bundle, load_bundle, write_bundle
from dragoman.errors import DataError
from dragoman.evaluation.metrics import corpus_chrf
from dragoman.machine.devices import find_device
from dragoman.training.run import train
from dragoman.translator import ComputeOptions, Translator
from dragoman.translator.confidence import FACT
from dragoman.translator.model_facts import ModelFacts

Pair = tuple[str, str]

#: Held-out pairs of new text (a tenth, within these), and of old text.
_LEAST_HELD, _MOST_HELD, _OLD_HELD = 10, 200, 400
#: Fewest new pairs.
_FEWEST = 2 * _LEAST_HELD
#: Replayed pairs for each new one, and at least.
_REPLAYED, _LEAST_REPLAYED = 4, 1_000
#: Times that the training sees each new pair, and tokens of a step, of which half are new text.
_PASSES, _BATCH_TOKENS = 12, 1024
#: Characters of a token, roughly, and the bounds of the steps that follow from both.
_CHARACTERS, _FEWEST_STEPS, _MOST_STEPS = 3, 30, 800
#: Shares of the new weights that are tried.
_SHARES = (1.0, 0.75, 0.5, 0.25)
#: chrF2 that held-out old text may lose: below what chance changes.
_MOST_LOSS = 0.2

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Outcome:
    """An updated model on text that it was not trained on; chrF2 of greedy translations, in points."""

    #: Share of the new weights, 0 if the old ones stay.
    share: float
    n_new: int
    n_held_out: int
    new_before: float
    new_after: float
    #: None without old pairs.
    old_before: float | None
    old_after: float | None

    @property
    def is_better(self) -> bool:
        """True if there are new weights."""
        return self.share > 0


def update(
    model: str | Path,
    new: Sequence[Pair],
    output: Path,
    languages: tuple[str, str],
    *,
    old: Sequence[Pair | str] = (),
    device: str = "auto",
) -> Outcome:
    """Write a bundle that translates text like the new pairs better, and old text as well as before.

    Args:
        model: a bundle, a run folder or an installed model.
        new: text and translations, such as those of a memory.
        output: the new bundle.
        languages: codes of source and target.
        old: pairs of the text that the model must not forget, or sources only, whose translations the model writes
            itself. Without any, the model's own translations of the new sources are replayed, and nothing says what
            else it forgets.

    Raises:
        DataError: there are too few new pairs.
        DragomanError: as `train`.
    """
    pairs = _shuffled(
        dict.fromkeys((one.strip(), other.strip()) for one, other in new if one.strip() and other.strip())
    )
    if len(pairs) < _FEWEST:
        problem = f"{len(pairs)} different pairs, and an update needs {_FEWEST}"
        raise DataError(problem, advice="wait for more, or use them as they are: translate --memory")
    n_held = min(_MOST_HELD, max(_LEAST_HELD, len(pairs) // 10))
    held, learned = pairs[:n_held], pairs[n_held:]
    start = load_bundle(model)
    trial = _Trial(start, languages, device)
    old_held, replayed = trial.replay(old, [source for source, _ in learned])
    with tempfile.TemporaryDirectory(prefix="dragoman-update-") as folder:
        corpora = {"new": (learned, held), "replayed": (replayed, held)}  # old text is judged at the end
        settings = _settings(Path(folder), corpora, languages)
        best = load_bundle(train(settings, Path(folder) / "run", init_from=model, device=device))
    return trial.choose(best, held, old_held, output, len(pairs))


@dataclass(frozen=True)
class _Trial:
    """A model, and the direction in which it is updated."""

    start: Bundle
    languages: tuple[str, str]
    device: str

    def replay(self, old: Sequence[Pair | str], sources: Sequence[str]) -> tuple[list[Pair], list[Pair]]:
        """Return old pairs to hold out, and pairs to replay."""
        pairs = _shuffled(dict.fromkeys(one for one in old if not isinstance(one, str)))
        held = pairs[: min(_OLD_HELD, len(pairs) // 2)]
        n_replayed = max(_LEAST_REPLAYED, _REPLAYED * len(sources))
        if pairs:
            return held, pairs[len(held) :][:n_replayed]
        texts = _shuffled(dict.fromkeys(one for one in old if isinstance(one, str) and one.strip()))
        texts = texts[:n_replayed] or list(sources)
        _log.info(f"the model translates {len(texts):,} old texts, to be replayed")
        return [], list(zip(texts, self._translate(self.start, texts), strict=True))

    def choose(self, best: Bundle, held: Sequence[Pair], old: Sequence[Pair], output: Path, n_new: int) -> Outcome:
        """Write the best weights between the old and the new ones."""
        before, old_before = self._score(self.start, held), self._score(self.start, old) if old else None
        outcome = Outcome(0.0, n_new, len(held), before, before, old_before, old_before)
        chosen = self.start
        for share in _SHARES:
            between = self._between(best, share)
            after, old_after = self._score(between, held), self._score(between, old) if old else None
            told = "" if old_after is None or old_before is None else f", old text {old_before:.2f} to {old_after:.2f}"
            _log.info(f"{share:.0%} of the new weights: chrF of new text {before:.2f} to {after:.2f}{told}")
            is_kept = old_after is None or old_before is None or old_after >= old_before - _MOST_LOSS
            if is_kept and after > outcome.new_after:
                chosen, outcome = between, replace(outcome, share=share, new_after=after, old_after=old_after)
        write_bundle(output, chosen)
        if outcome.is_better:
            self._tell_lost()
        return outcome

    def _tell_lost(self) -> None:
        """Warn of what new weights cannot take over from the old ones."""
        parts = {
            "short-list (--short-list)": self.start.short_list,
            "confidence (--calibrate)": self.start.facts.get(FACT),
        }
        if lost := [name for name, part in parts.items() if part is not None]:
            _log.warning(f"the new weights have no {' and no '.join(lost)}; run dragoman package to learn it again")

    def _between(self, best: Bundle, share: float) -> Bundle:
        """Return weights between the old ones and the new ones."""
        weights = {
            name: ((1 - share) * weight + share * best.weights[name]).astype(weight.dtype)
            for name, weight in self.start.weights.items()
        }
        facts = {**self.start.lasting_facts, "updated": share, "step": best.facts.get("step")}
        return replace(self.start, weights=weights, facts=facts, short_list=None)

    def _score(self, bundle: Bundle, pairs: Sequence[Pair]) -> float:
        translations = self._translate(bundle, [source for source, _ in pairs])
        return corpus_chrf(translations, [target for _, target in pairs]).score

    def _translate(self, bundle: Bundle, sources: Sequence[str]) -> list[str]:
        compute = ComputeOptions(find_device(self.device))
        facts = ModelFacts.of_bundles([bundle], ["the model"])
        translator = Translator([bundle], bundle.tokenizers, bundle.search, compute, facts)
        source_lang, target_lang = self.languages
        found = translator.translate(list(sources), beam_size=1, source_lang=source_lang, target_lang=target_lang)
        return [one.text for one in found]


def _settings(
    folder: Path, corpora: Mapping[str, tuple[Sequence[Pair], Sequence[Pair]]], languages: tuple[str, str]
) -> dict[str, Any]:
    """Write the text of a training, and return its settings."""
    (new, _), (replayed, _) = corpora.values()
    n_characters = sum(max(map(len, pair)) for pair in new)
    n_steps = math.ceil(2 * _PASSES * n_characters / _CHARACTERS / _BATCH_TOKENS)
    n_steps = min(_MOST_STEPS, max(_FEWEST_STEPS, n_steps))
    weights = {"new": min(1000.0, max(1.0, len(replayed) / len(new))), "replayed": max(1.0, len(new) / len(replayed))}
    return {
        "data": {
            "corpora": [
                {
                    "name": name,
                    "source_lang": languages[0],
                    "target_lang": languages[1],
                    "weight": weights[name],
                    **_write(folder, name, "", pairs),
                    **_write(folder, name, "validation_", held),
                }
                for name, (pairs, held) in corpora.items()
            ]
        },
        "training": {
            "max_steps": n_steps,
            "batch_tokens": _BATCH_TOKENS,
            "optimizer": "adam",
            "lr": 2e-4,
            "schedule": "linear",
            "warmup_steps": n_steps // 10,
            "best_by": "loss",
            "validate_every": max(10, n_steps // 4),
            "ema": 0.0,
        },
    }


def _write(folder: Path, name: str, kind: str, pairs: Sequence[Pair]) -> dict[str, str]:
    """Write pairs as two files, and return the settings that name them."""
    paths = {f"{kind}{side}": folder / f"{name}.{kind}{side}" for side in ("source", "target")}
    for path, texts in zip(paths.values(), zip(*pairs, strict=True), strict=True):
        path.write_text("".join(f"{' '.join(text.split())}\n" for text in texts), encoding="utf-8")
    return {key: str(path) for key, path in paths.items()}


def _shuffled(items: Iterable[Any]) -> list[Any]:
    """Return items in an order that depends on nothing but themselves."""
    return sorted(items, key=lambda item: hashlib.sha256(repr(item).encode(errors="replace")).digest())
