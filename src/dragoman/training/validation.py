"""Loss on sentences that the model does not train on, and BLEU through the users' own search."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Literal, NamedTuple

import torch
from rich.cells import cell_len, set_cell_size

from dragoman.data.batches import Batches
from dragoman.data.store import PairStore
from dragoman.evaluation.metrics import corpus_bleu
from dragoman.model.transformer import Transformer
from dragoman.text.learned_text import LearnedText
from dragoman.text.tags import Direction, split_tags
from dragoman.text.tokenizer import Tokenizer, Tokenizers
from dragoman.training.loss import batch_loss, n_target_tokens
from dragoman.translator import ComputeOptions, ModelFacts, Request, Translator
from dragoman.translator.options import LanguageOptions

#: Sentences translated in a validation, spread over all; the loss uses all.
MAX_SENTENCES = 1000
#: The same for each direction, if there are several.
MAX_OF_DIRECTION = 250
#: Below this, BLEU says nothing about which model is better.
MEANINGFUL_BLEU = 5.0
#: Sentences translated at a time; in between, a validation can be called off. On a GPU, all take about as long as some.
CHUNK, GPU_CHUNK = 100, MAX_SENTENCES


#: Sample translations of a validation, and the columns of a terminal line that they fit.
N_SAMPLES, COLUMNS = 3, 80
#: Columns of texts that make good samples; longer ones are cut.
GOOD_COLUMNS = range(15, 61)


class Sample(NamedTuple):
    """A validation sentence with its translation."""

    source: str
    translation: str
    reference: str

    def lines(self) -> list[str]:
        """Return a line for each text, at most `COLUMNS` wide."""
        return [f"  {name:11}  {_cut(text, COLUMNS - 15)}" for name, text in self._asdict().items()]


@dataclass(frozen=True)
class Validation:
    """The figures of one validation."""

    loss: float  # nats a target token, without label smoothing
    bleu: float  # the mean of all directions
    #: BLEU of each direction, such as "en-de", of a model that has several.
    bleu_by_direction: Mapping[str, float] = field(default_factory=dict)
    #: Of the same sentences each time.
    samples: Sequence[Sample] = ()

    def score(self, by: Literal["bleu", "loss"]) -> float:
        """Return a number that is larger for a better model. Low BLEU is chance, so there the loss decides."""
        return self.bleu if by == "bleu" and self.bleu >= MEANINGFUL_BLEU else -self.loss

    @property
    def perplexity(self) -> float:
        """exp(loss), infinite beyond the largest float."""
        return math.exp(self.loss) if self.loss < 700 else math.inf

    @property
    def perplexity_text(self) -> str:
        """The perplexity as people read it."""
        return f"{self.perplexity:.2f}" if self.perplexity < 1e6 else f"{self.perplexity:.0e}"


def validate(
    model: Transformer,
    store: PairStore,
    tokenizers: Tokenizers,
    batch_tokens: int,
    is_stopped: Callable[[], bool],
    learned: LearnedText | None = None,
) -> Validation | None:
    """Score and translate (greedily) the validation pairs; None if called off on the way.

    If the loss is not finite, nothing is translated, and BLEU is 0. Each direction is scored by itself. Lines are cut
    as for users of a model that learned from text like `learned`.
    """
    device = next(model.parameters()).device
    model.eval()
    batches = Batches(store, tokenizers, batch_tokens=batch_tokens, seed=0)
    nlls, count = list[torch.Tensor](), 0  # read when all are computed: a GPU need not wait in between
    with torch.no_grad():
        for index in range(batches.epochs.n_batches):
            if is_stopped():
                return None
            for batch in batches.micro_batches(index):
                _, nll = batch_loss(model, batch.to(device), smoothing=0.0)
                nlls.append(nll)
                count += n_target_tokens(batch, model.special_ids.target.pad)
    total = sum(map(float, nlls))
    if not math.isfinite(total):
        return Validation(total, 0.0)
    translator = Translator([model], tokenizers, compute=ComputeOptions(device), facts=ModelFacts(learned=learned))
    found = _translate(translator, store, is_stopped, CHUNK if device.type == "cpu" else GPU_CHUNK)
    if found is None:
        return None
    scores, samples = found
    by_direction = scores if len(scores) > 1 else {}
    return Validation(total / count, sum(scores.values()) / len(scores), by_direction, samples)


def _translate(
    translator: Translator, store: PairStore, is_stopped: Callable[[], bool], n_at_once: int
) -> tuple[dict[str, float], list[Sample]] | None:
    """Return the BLEU of each direction, and samples of all in turn; None if called off on the way."""
    tokenizers = translator.tokenizers
    scores: dict[str, float] = {}
    samples: list[list[Sample]] = []
    answer = translator.answering(beam_size=1)
    for name, (direction, indices) in validated(store, tokenizers).items():
        requests = requests_for(store, indices, direction, tokenizers)
        references = [store.target_text(index) for index in indices]
        if tokenizers.has_both_tags:
            references = _without_tags(references, tokenizers.target)
        written = list[str]()
        for start in range(0, len(requests), n_at_once):
            if is_stopped():
                return None
            written += [each.text for each in answer(requests[start : start + n_at_once])]
        lowercase = tokenizers.config.lowercase  # a translator that cannot write capitals is not scored on them
        scores[name] = corpus_bleu(written, references, direction[1], lowercase=lowercase).score
        shown = _without_tags([each.text for each in requests], tokenizers.source)
        samples.append(_good_samples(list(map(Sample, shown, written, references))))
    in_turn = [sample for group in zip_longest(*samples) for sample in group if sample is not None]
    return scores, in_turn[:N_SAMPLES]


def requests_for(
    store: PairStore, indices: Sequence[int], direction: Direction, tokenizers: Tokenizers
) -> list[Request]:
    """Return what a user would ask for to have the sources of some pairs of a direction translated, with context."""
    sources, languages = [store.source_text(index) for index in indices], LanguageOptions()
    if tokenizers.has_both_tags:
        sources = _without_tags(sources, tokenizers.source)
        languages = LanguageOptions(source_lang=direction[0], target_lang=direction[1])
    return [
        Request(source, context=_context(store, index, tokenizers.source), **languages)
        for source, index in zip(sources, indices, strict=True)
    ]


def _context(store: PairStore, index: int, tokenizer: Tokenizer) -> list[str]:
    return _without_tags([store.source_text(number) for number in store.before(index)], tokenizer)


def _without_tags(texts: Sequence[str], tokenizer: Tokenizer) -> list[str]:
    return [split_tags(text, tokenizer.tags)[1] for text in texts]


def _good_samples(samples: Sequence[Sample]) -> list[Sample]:
    """Return the samples to show: short ones, spread over all, and the same ones whatever the translations are."""
    good = [
        index
        for index, sample in enumerate(samples)
        if all(cell_len(text) in GOOD_COLUMNS for text in (sample.source, sample.reference))
    ]
    return [samples[index] for index in spread(good or range(len(samples)), N_SAMPLES)]


def _cut(text: str, columns: int) -> str:
    """Return a text that takes at most so many columns of a terminal."""
    return text if cell_len(text) <= columns else set_cell_size(text, columns - 1).rstrip() + "…"


def validated(store: PairStore, tokenizers: Tokenizers) -> dict[str, tuple[Direction, list[int]]]:
    """Return the languages and the pairs to translate of each direction, by its name."""
    if not store.parts:
        return {"": (tokenizers.languages, spread(range(len(store)), MAX_SENTENCES))}
    indices = {
        "-".join(direction): (
            direction,
            [index for rows in store.rows_of(direction) for index in range(rows.start, rows.stop)],
        )
        for direction in store.directions
    }
    most = MAX_OF_DIRECTION if len(indices) > 1 else MAX_SENTENCES
    return {name: (direction, spread(pairs, most)) for name, (direction, pairs) in indices.items()}


def spread(indices: Sequence[int], most: int) -> list[int]:
    """Return at most so many indices, evenly spread."""
    size = min(len(indices), most)
    return [indices[number * len(indices) // size] for number in range(size)]
