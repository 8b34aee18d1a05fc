"""The speed of a training on this machine: a few real steps of it, and a few translations, that are then forgotten."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from itertools import repeat

from dragoman.data.batches import Batch
from dragoman.data.prepared import Prepared
from dragoman.training.time_plan import Speed
from dragoman.training.trainer import Trainer
from dragoman.training.validation import requests_for, spread, validated
from dragoman.translator import ComputeOptions, Translator

#: Steps made, at least and at most.
FEWEST_STEPS, MOST_STEPS = 2, 1000
#: The same on a GPU, which calls the first step and captures the second.
FEWEST_STEPS_ON_GPU = 4
#: Validation sentences translated.
SAMPLE_SENTENCES = 40
#: A pass forwards takes about a third of a step, which goes backwards too.
FORWARD_SHARE = 1 / 3


def measure_speed(trainer: Trainer, prepared: Prepared, seconds: float) -> Speed:
    """Make steps for about so many seconds, and translate a few sentences.

    Args:
        trainer: a new one; its weights are spent afterwards.
        prepared: its corpus.
        seconds: for the steps; the translations take about as long at most.
    """
    step = seconds_of_step(trainer, seconds)
    store = prepared.validation
    costs = max(int(store.read_lengths.sum()), int(store.target_lengths.sum())) + len(store)
    loss = FORWARD_SHARE * step * costs / trainer.training.batch_tokens
    return Speed(step, loss + _seconds_of_translations(trainer, prepared))


def seconds_of_step(trainer: Trainer, seconds: float) -> float:
    """Make steps for about so many seconds, and return the mean of the later half: the first ones fill caches.

    On a GPU, it is the first batch again and again, since each new shape takes time to capture.
    """
    is_on_gpu = trainer.device.type == "cuda"
    fewest = FEWEST_STEPS_ON_GPU if is_on_gpu else FEWEST_STEPS

    def batches() -> Iterator[list[Batch]]:
        upcoming = trainer.micro_batches.upcoming(MOST_STEPS)
        return repeat(next(upcoming)) if is_on_gpu else upcoming

    with trainer.micro_batches:
        upcoming, started, taken = batches(), time.perf_counter(), list[float]()
        while len(taken) < fewest or (time.perf_counter() - started < seconds and len(taken) < MOST_STEPS):
            began = time.perf_counter()
            try:
                trainer.train_step(next(upcoming))
                trainer.step.outcome()  # when the device has made it
            except (MemoryError, RuntimeError) as error:
                trainer.micro_batches.halve(error)
                upcoming = batches()
                continue
            taken.append(time.perf_counter() - began)
    return statistics.fmean(taken[len(taken) // 2 :])


def _seconds_of_translations(trainer: Trainer, prepared: Prepared) -> float:
    """Return about how long the translations of a validation will take.

    A model that has learned nothing writes as long as it may, so the time is scaled to the length of the references.
    """
    store, tokenizers = prepared.validation, prepared.tokenizers
    pairs = [(direction, index) for direction, own in validated(store, tokenizers).values() for index in own]
    n_sentences = min(len(pairs), SAMPLE_SENTENCES) if trainer.device.type == "cpu" else len(pairs)  # a GPU: at once
    chosen = [pairs[number] for number in spread(range(len(pairs)), n_sentences)]
    requests = [
        request for direction, index in chosen for request in requests_for(store, [index], direction, tokenizers)
    ]
    translator = Translator([trainer.state.model.eval()], tokenizers, compute=ComputeOptions(trainer.device))
    started = time.perf_counter()
    translations = translator.answering(beam_size=1)(requests)
    seconds = time.perf_counter() - started
    n_written = sum(len(each.tokens) + 1 for each in translations)
    n_wanted = sum(int(store.target_lengths[index]) + 1 for _, index in chosen)
    return seconds * len(pairs) / n_sentences * min(1.0, n_wanted / n_written)
