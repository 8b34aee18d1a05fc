"""Write docs/book/data/history.json: what five translators from three decades learn from the captions of Multi30k.

python docs/book/building/record_history.py

It takes about a quarter of an hour of processor time. With `counted` or `neural` it records only the first two or only
the last three anew.
"""

import json
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from chapters import BOOK

sys.path += [str(BOOK), str(BOOK / "history")]

import torch
from ibm_model_1 import IBMModel1
from ngram import NGramModel
from noisy_channel import NoisyChannel
from record_multi30k import SENTENCES
from rnn_attention import AttentiveRNNTranslator
from rnn_encoder_decoder import RNNTranslator
from transformer import (
    END,
    START,
    Transformer,
    Vocabulary,
    learning_rate,
    mean_loss,
    padding_mask,
    rectangle,
)

from dragoman.data.corpus import read_pairs
from dragoman.evaluation.metrics import corpus_bleu
from dragoman.settings.data_config import DataConfig

N_STEPS, N_ROWS, N_EM_STEPS, WIDTH, LONGEST = 2000, 32, 6, 128, 50
#: A word that occurs less often in training is unknown to all.
LEAST_COUNT = 5
#: The fewest words of a source in each group.
GROUPS = (0, 9, 12, 15, 19)
WATCHED = "A little girl in a red coat is playing in the snow."
LOOKED_UP = ("dog", "girl", "riding", "the")
PATH = BOOK / "data" / "history.json"

Words = list[str]
IdPair = tuple[list[int], list[int]]
Translate = Callable[[list[Words]], list[Words]]


@dataclass(frozen=True)
class Captions:
    """The words of Multi30k: pairs to learn from, pairs to be measured on, and the known words of both languages."""

    training: list[tuple[Words, Words]]
    held_out: list[tuple[Words, Words]]
    known: tuple[set[str], set[str]]

    def known_words(self) -> list[tuple[Words, Words]]:
        """Return the pairs to learn from without their rare words."""
        source_known, target_known = self.known
        return [([w for w in s if w in source_known], [w for w in t if w in target_known]) for s, t in self.training]

    def record(self, name: str, translate: Translate, started_s: float, n_parameters: int) -> dict[str, Any]:
        """Return what one system is worth."""
        trained_s = time.process_time()
        output = translate([*(source for source, _ in self.held_out), *map(words, SENTENCES)])
        output, own = output[: len(self.held_out)], output[len(self.held_out) :]
        found = {
            "name": name,
            "n_parameters": n_parameters,
            "training_s": round(trained_s - started_s),
            "translating_s": round(time.process_time() - trained_s),
            "bleu": self.bleu(output, list(range(len(output)))),
            "bleu_by_length": [self.bleu(output, rows) for rows in self.groups()],
            "words_per_reference_word": round(sum(map(len, output)) / sum(len(t) for _, t in self.held_out), 2),
            "translations": [" ".join(each) for each in own],
        }
        print(json.dumps(found, ensure_ascii=False), flush=True)
        return found

    def bleu(self, output: list[Words], rows: list[int]) -> float:
        """Return BLEU of some sentences, in lower case and cut into words."""
        references = [" ".join(self.held_out[i][1]) for i in rows]
        return round(corpus_bleu([" ".join(output[i]) for i in rows], references).score, 1)

    def groups(self) -> Iterator[list[int]]:
        """Yield the indices of the sentences of each group of lengths."""
        for lowest, end in zip(GROUPS, (*GROUPS[1:], 1000), strict=True):
            yield [i for i, (source, _) in enumerate(self.held_out) if lowest <= len(source) < end]


def words(text: str) -> Words:
    """Cut a text into words and marks, in lower case."""
    return re.findall(r"\w+|[^\w\s]", text.lower())


def read_captions() -> Captions:
    """Read the corpus; both other splits are held out."""
    settings = DataConfig(corpus="multi30k", source_lang="en", target_lang="de")
    training, *held_out = (
        [(words(source), words(target)) for source, target in read_pairs(settings, split)]
        for split in ("train", "validation", "test")
    )
    counts = [Counter(w for pair in training for w in pair[side]) for side in (0, 1)]
    source_known, target_known = ({w for w, count in each.items() if count >= LEAST_COUNT} for each in counts)
    return Captions(training, [*held_out[0], *held_out[1]], (source_known, target_known))


def counted(captions: Captions) -> dict[str, Any]:
    """Record the n-gram model, IBM model 1, and both as a noisy channel."""
    pairs = captions.known_words()
    started_s = time.process_time()
    direct = IBMModel1(pairs)
    log_likelihoods, tables = [], []
    for _ in range(N_EM_STEPS):
        log_likelihoods.append(round(direct.train_step(pairs)))
        tables.append({word: best(direct, word) for word in LOOKED_UP})
    n_entries = sum(map(len, direct.table.values()))
    systems = [captions.record("IBM model 1", lambda texts: list(map(direct.translate, texts)), started_s, n_entries)]

    started_s = time.process_time()
    inverted = [(target, source) for source, target in pairs]
    channel = IBMModel1(inverted)
    for _ in range(N_EM_STEPS):
        channel.train_step(inverted)
    models = [NGramModel([target for _, target in pairs], order) for order in (1, 2, 3)]
    decoder = NoisyChannel(models[-1], channel)
    n_entries = sum(map(len, channel.table.values())) + sum(map(len, models[-1].counts.values()))
    systems.append(
        captions.record(
            "noisy channel", lambda texts: [list(decoder.translate(each)) for each in texts], started_s, n_entries
        )
    )
    of_known_words = [[w for w in target if w in captions.known[1]] for _, target in captions.held_out]
    return {
        "counted": systems,
        "perplexity": [round(each.perplexity(of_known_words), 1) for each in models],
        "log_likelihood": log_likelihoods,
        "tables": [tables[0], tables[1], tables[-1]],
    }


def best(model: IBMModel1, word: str) -> list[tuple[str, float]]:
    """Return the three most probable words that a word makes."""
    row = sorted(model.table[word].items(), key=lambda item: -item[1])
    return [(target, round(p, 3)) for target, p in row[:3]]


def neural(captions: Captions, n_steps: int = N_STEPS) -> dict[str, Any]:
    """Record the three that are trained by gradient descent: the same steps on the same batches."""
    torch.set_num_threads(1)  # models as small as these gain nothing from a second
    source_words, target_words = (
        Vocabulary([" ".join(each) for each in side]) for side in zip(*captions.known_words(), strict=True)
    )
    pairs = [(source_words.ids(" ".join(s)), [START, *target_words.ids(" ".join(t))]) for s, t in captions.training]
    sizes = len(source_words.words), len(target_words.words)
    builders: dict[str, Callable[[], Any]] = {
        "RNN": lambda: RNNTranslator(*sizes, width=WIDTH),
        "RNN with attention": lambda: AttentiveRNNTranslator(*sizes, width=WIDTH),
        "Transformer": lambda: Transformer(*sizes, d_model=WIDTH, d_ff=2 * WIDTH, n_layers=2),
    }
    systems, models = [], {}
    for name, build in builders.items():
        torch.manual_seed(1)
        random.seed(1)
        started_s = time.process_time()
        models[name] = model = build()
        losses: list[float] = []
        for loss in train(model, pairs, n_steps):
            losses.append(loss)
            if len(losses) % 100 == 0:
                print(f"{len(losses)}: {sum(losses[-100:]) / 100:.3f}", flush=True)

        def translate(texts: list[Words], model: Any = model) -> list[Words]:
            return greedy(model, source_words, target_words, texts)

        n_parameters = sum(weight.numel() for weight in model.parameters())
        systems.append(captions.record(name, translate, started_s, n_parameters))
    return {
        "neural": systems,
        "attention": watched(models["RNN with attention"], source_words, target_words),
    }


def train(model: Any, pairs: Sequence[IdPair], n_steps: int) -> Iterator[float]:
    """Train as the book's transformer.py does, but on pairs of similar length, which need little padding."""
    optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9)
    batches: list[list[IdPair]] = []
    for step in range(1, n_steps + 1):
        if not batches:
            drawn = sorted(random.sample(pairs, min(50 * N_ROWS, len(pairs))), key=lambda pair: len(pair[1]))
            batches = [drawn[i : i + N_ROWS] for i in range(0, len(drawn), N_ROWS)]
            random.shuffle(batches)
        source_rows, target_rows = zip(*batches.pop(), strict=True)
        loss = mean_loss(model, rectangle(source_rows), rectangle(target_rows))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, n_steps, highest=0.003)
        optimizer.step()
        yield loss.item()


@torch.no_grad()
def greedy(model: Any, source_words: Vocabulary, target_words: Vocabulary, texts: list[Words]) -> list[Words]:
    """Translate as `translate` of the book's transformer.py does, but a hundred sentences at a time."""
    model.eval()
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    output: list[Words] = [[] for _ in texts]
    for first in range(0, len(order), 100):
        indices = order[first : first + 100]
        source_ids = rectangle([source_words.ids(" ".join(texts[i])) for i in indices])
        memory, mask = model.encode(source_ids), padding_mask(source_ids)
        written = torch.full((len(indices), 1), START)
        while written.size(1) < LONGEST and not (written == END).any(dim=1).all():
            logits = model.decode(written, memory, mask)
            written = torch.cat((written, logits[:, -1:].argmax(dim=-1)), dim=1)
        for i, ids in zip(indices, written[:, 1:].tolist(), strict=True):
            n_words = ids.index(END) if END in ids else len(ids)
            output[i] = [target_words.words[id] for id in ids[:n_words] if id > END]  # without <unk>
    return output


@torch.no_grad()
def watched(model: AttentiveRNNTranslator, source_words: Vocabulary, target_words: Vocabulary) -> dict[str, Any]:
    """Return where the model looks as it writes each word of one translation."""
    source = words(WATCHED)
    (target,) = greedy(model, source_words, target_words, [source])
    weights: list[torch.Tensor] = []
    hook = model.attention.register_forward_hook(lambda module, given, result: weights.append(result[1][0]))
    model(
        rectangle([source_words.ids(" ".join(source))]), rectangle([[START, *target_words.ids(" ".join(target))[:-1]]])
    )
    hook.remove()
    return {
        "source": [*source, "<eos>"],
        "target": [*target, "<eos>"],
        "weights": torch.stack(weights).double().round(decimals=3).tolist(),
    }


def main(*parts: str) -> None:
    """Record both parts, or those that are named, and keep the others."""
    captions = read_captions()
    record = json.loads(PATH.read_text(encoding="utf-8")) if parts else {}
    record["corpus"] = {
        "n_pairs": len(captions.training),
        "n_known": [len(each) for each in captions.known],
        "n_held_out": [len(rows) for rows in captions.groups()],
        "fewest_words": list(GROUPS),
    }
    record["training"] = {"n_steps": N_STEPS, "n_rows": N_ROWS, "n_em_steps": N_EM_STEPS}
    record["sentences"] = SENTENCES
    for name, make in (("counted", counted), ("neural", neural)):
        if not parts or name in parts:
            record.update(make(captions))
            lines = (f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}" for name, value in record.items())
            PATH.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
