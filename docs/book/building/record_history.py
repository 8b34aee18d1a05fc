"""Write docs/book/data/history.json: what five translators from five decades learn from the captions of Multi30k.

python docs/book/building/record_history.py

It takes about a quarter of an hour on two cores.
"""

import json
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator

from chapters import BOOK

sys.path += [str(BOOK), str(BOOK / "history")]

import torch  # noqa: E402
from ibm_model_1 import NULL, IBMModel1  # noqa: E402
from ngram import NGramModel  # noqa: E402
from noisy_channel import NoisyChannel  # noqa: E402
from record_multi30k import SENTENCES  # noqa: E402
from rnn_attention import AttentiveRNNTranslator  # noqa: E402
from rnn_encoder_decoder import RNNTranslator  # noqa: E402
from transformer import END, START, Transformer, Vocabulary, padding_mask, rectangle, train  # noqa: E402

from dragoman.data.corpus import read_pairs  # noqa: E402
from dragoman.evaluation.metrics import corpus_bleu, corpus_chrf  # noqa: E402
from dragoman.settings.data_config import DataConfig  # noqa: E402

N_STEPS, N_ROWS, N_EM_STEPS, LONGEST = 1500, 64, 8, 50
#: A word that occurs less often in training is unknown to all.
LEAST_COUNT = 5
#: The fewest words of a source in each group but the first.
GROUPS = (9, 12, 15, 19)
WATCHED = "A little girl in a red coat is playing in the snow."
LOOKED_UP = ("dog", "girl", "riding", "street", "the")

Pairs = list[tuple[list[str], list[str]]]
Translate = Callable[[list[list[str]]], list[list[str]]]


def words(text: str) -> list[str]:
    """Cut a text into words and marks, in lower case."""
    return re.findall(r"\w+|[^\w\s]", text.lower())


def read(*splits: str) -> Pairs:
    """Return the pairs of splits as words."""
    settings = DataConfig(corpus="multi30k", source_lang="en", target_lang="de")
    return [(words(source), words(target)) for split in splits for source, target in read_pairs(settings, split)]


def frequent(sentences: list[list[str]]) -> set[str]:
    """Return the words that are known."""
    return {word for word, count in Counter(w for each in sentences for w in each).items() if count >= LEAST_COUNT}


def main(n_steps: int = N_STEPS) -> None:
    """Train each on the same words, and translate the same sentences with each."""
    torch.set_num_threads(2)
    training, held_out = read("train"), read("validation", "test")  # nothing is chosen by either
    known = frequent([source for source, _ in training]), frequent([target for _, target in training])
    pairs = [([w for w in s if w in known[0]], [w for w in t if w in known[1]]) for s, t in training]
    sources, references = zip(*held_out, strict=True)
    own = [words(text) for text in SENTENCES]
    systems: list[dict[str, object]] = []

    def add(name: str, translate: Translate, started: float, **more: object) -> None:
        """Record what one system is worth, and say it."""
        trained = time.process_time() - started
        output = translate([*sources, *own])
        written = [" ".join(each) for each in output[: len(sources)]]
        print(f"{name}: {trained:.0f} s to train, {time.process_time() - started - trained:.0f} s to translate")
        systems.append(
            {
                "name": name,
                "processor_s": round(trained),
                **more,
                "scores": scores(written, [" ".join(each) for each in references], range(len(sources))),
                "n_words": sum(map(len, output[: len(sources)])),
                "by_length": [
                    {"n": len(rows), **scores(written, [" ".join(each) for each in references], rows)}
                    for rows in groups(sources)
                ],
                "translations": [" ".join(each) for each in output[len(sources) :]],
            }
        )
        print(systems[-1])

    started = time.process_time()
    direct = IBMModel1(pairs)
    likelihoods, rows = [], []
    for _ in range(N_EM_STEPS):
        likelihoods.append(round(direct.train_step(pairs)))
        rows.append({word: best(direct, word) for word in LOOKED_UP})
    n_entries = sum(map(len, direct.table.values()))
    add("IBM model 1", lambda texts: [direct.translate(each) for each in texts], started, n_parameters=n_entries)

    started = time.process_time()
    channel = IBMModel1([(target, source) for source, target in pairs])
    for _ in range(N_EM_STEPS):
        channel.train_step([(target, source) for source, target in pairs])
    models = [NGramModel([target for _, target in pairs], order) for order in (1, 2, 3)]
    unseen = [[w for w in each if w in known[1]] for each in references]
    decoder = NoisyChannel(models[-1], channel)
    n_entries = sum(map(len, channel.table.values())) + sum(map(len, models[-1].counts.values()))
    add("noisy channel", lambda texts: [list(decoder.translate(each)) for each in texts], started, n_parameters=n_entries)

    source_words, target_words = (Vocabulary([" ".join(each) for each in side]) for side in zip(*pairs, strict=True))
    ids = [
        (source_words.ids(" ".join(s)), [START, *target_words.ids(" ".join(t))]) for s, t in training
    ]  # rare words are <unk> here
    sizes = len(source_words.words), len(target_words.words)
    losses = {}
    for name, build in (
        ("RNN", RNNTranslator),
        ("RNN with attention", AttentiveRNNTranslator),
        ("Transformer", lambda *sizes: Transformer(*sizes, d_model=256, d_ff=512, n_layers=2)),
    ):
        torch.manual_seed(1)
        random.seed(1)
        started = time.process_time()
        model = build(*sizes)
        losses[name] = []
        for loss in train(model, ids, n_steps, N_ROWS):
            losses[name].append(loss)
            if len(losses[name]) % 50 == 0:
                print(f"{len(losses[name])} {sum(losses[name][-50:]) / 50:.3f} {time.process_time() - started:.0f} s", flush=True)
        n_parameters = sum(each.numel() for each in model.parameters())
        add(name, lambda texts, model=model: greedy(model, source_words, target_words, texts), started, n_parameters=n_parameters)
        if isinstance(model, AttentiveRNNTranslator):
            attention = watched(model, source_words, target_words)

    record = {
        "training": {
            "n_pairs": len(pairs),
            "n_known": [len(each) for each in known],
            "n_steps": n_steps,
            "n_rows": N_ROWS,
            "n_em_steps": N_EM_STEPS,
        },
        "groups": [0, *GROUPS],
        "n_held_out": len(held_out),
        "n_reference_words": sum(map(len, references)),
        "perplexity": [round(each.perplexity(unseen), 1) for each in models],
        "log_likelihood": likelihoods,
        "table": [rows[0], rows[1], rows[-1]],
        "losses": {name: [round(sum(each[i : i + 50]) / 50, 3) for i in range(0, n_steps, 50)] for name, each in losses.items()},
        "sentences": SENTENCES,
        "systems": systems,
        "attention": attention,
    }
    path = BOOK / "data" / "history.json"
    lines = (f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}" for name, value in record.items())
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(f"{path}: {path.stat().st_size:,} bytes")


def scores(written: list[str], references: list[str], rows: range | list[int]) -> dict[str, float]:
    """Return chrF and BLEU of some sentences, in lower case and cut into words."""
    chosen = [written[i] for i in rows], [references[i] for i in rows]
    return {"chrf": round(corpus_chrf(*chosen).score, 1), "bleu": round(corpus_bleu(*chosen).score, 1)}


def groups(sources: tuple[list[str], ...]) -> Iterator[list[int]]:
    """Yield the indices of the sentences of each group of lengths."""
    for lowest, end in zip((0, *GROUPS), (*GROUPS, 1000), strict=True):
        yield [i for i, source in enumerate(sources) if lowest <= len(source) < end]


def best(model: IBMModel1, word: str) -> list[tuple[str, float]]:
    """Return the three most probable words that a word makes."""
    row = sorted(model.table[word].items(), key=lambda item: -item[1])
    return [(target, round(p, 3)) for target, p in row[:3]]


@torch.no_grad()
def greedy(
    model: torch.nn.Module, source_words: Vocabulary, target_words: Vocabulary, texts: list[list[str]]
) -> list[list[str]]:
    """Translate as `translate` of the book's transformer.py does, but a hundred sentences at a time."""
    model.eval()
    output: list[list[str]] = []
    for i in range(0, len(texts), 100):
        source_ids = rectangle([source_words.ids(" ".join(each)) for each in texts[i : i + 100]])
        memory = model.encode(source_ids)
        written = torch.full((len(source_ids), 1), START)
        while written.size(1) < LONGEST and not (written == END).any(dim=1).all():
            logits = model.decode(written, memory, padding_mask(source_ids))
            written = torch.cat((written, logits[:, -1:].argmax(dim=-1)), dim=1)
        for ids in written[:, 1:].tolist():
            n_words = ids.index(END) if END in ids else len(ids)
            output.append([target_words.words[id] for id in ids[:n_words] if id > END])  # without <unk>
    return output


@torch.no_grad()
def watched(
    model: AttentiveRNNTranslator, source_words: Vocabulary, target_words: Vocabulary
) -> dict[str, object]:
    """Return where the model looks as it writes each word of one translation."""
    source = words(WATCHED)
    (target,) = greedy(model, source_words, target_words, [source])
    weights = []
    hook = model.attention.register_forward_hook(lambda module, given, result: weights.append(result[1][0]))
    source_ids = rectangle([source_words.ids(" ".join(source))])
    model(source_ids, rectangle([[START, *target_words.ids(" ".join(target))[:-1]]]))
    hook.remove()
    return {
        "source": [*source, "<eos>"],
        "target": [*target, "<eos>"],
        "weights": torch.stack(weights).double().round(decimals=3).tolist(),
    }


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
