"""Write docs/book/data/multi30k.json: what the chapter on Multi30k shows of a run that takes half an hour.

dragoman train recipes/multi30k-en-de.yaml --output RUN
python docs/book/building/record_multi30k.py RUN
"""

import json
import sys
from pathlib import Path

from chapters import BOOK

from dragoman.alignment.capture import KINDS
from dragoman.bundle.bundle import load_bundle
from dragoman.data.corpus import read_pairs
from dragoman.data.multi30k import tokenised_references
from dragoman.evaluation.evaluation import evaluate, m30k_references
from dragoman.inspection import inspect_attention
from dragoman.inspection.curves import read_metrics
from dragoman.settings.data_config import DataConfig
from dragoman.translator import Translator

#: Our own, since the corpus is not ours to copy. The last one has words that its captions hardly ever do.
SENTENCES = [
    "A man is riding a horse.",
    "She is reading a book.",
    "The cat is sitting on the mat.",
    "A boy in a blue shirt is kicking a ball.",
    "Two women are talking in front of a shop.",
    "A dog is jumping over a wooden fence.",
    "The astronaut has repaired the telescope of the observatory.",
]


def main(run: Path) -> None:
    """Read the run's log, evaluate it on the test set, translate a few sentences, and look at one."""
    translator = Translator.load(run, device="cpu")
    settings = DataConfig(corpus="multi30k", source_lang="en", target_lang="de")
    pairs = list(read_pairs(settings, "test"))
    sources, references = [source for source, _ in pairs], [target for _, target in pairs]
    tokenised = m30k_references(references, "de", tokenised_references("test", "de"))
    result = evaluate(translator, sources, references, m30k_references=tokenised)
    greedy = evaluate(translator, sources, references, beam_size=1)
    record = {
        "n_parameters": sum(weight.numel() for weight in load_bundle(run).model.parameters()),
        "n_test": len(pairs),
        "curves": curves(run),
        "metrics": [
            {"name": each.name, "score": round(each.score, 2), "signature": each.signature} for each in result.metrics
        ],
        "perplexity": round(result.perplexity or 0.0, 3),
        "greedy": [{"name": each.name, "score": round(each.score, 2)} for each in greedy.metrics],
        "translations": [
            {
                "source": text,
                "beam": translator.translate(text).text,
                "greedy": translator.translate(text, beam_size=1).text,
            }
            for text in SENTENCES
        ],
        "attention": maps(translator, "A little girl in a red coat is playing in the snow."),
    }
    path = BOOK / "data" / "multi30k.json"
    lines = (f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}" for name, value in record.items())
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(f"{path}: {path.stat().st_size:,} bytes")


def curves(run: Path) -> dict[str, list[list[float]]]:
    """Every fifth logged training loss, and every validation: [step, ...]."""
    lines = read_metrics(run)
    logged = [each for each in lines if "training_loss" in each]
    validated = [each for each in lines if "validation_loss" in each]
    return {
        "training": [[each["step"], round(each["training_nll"], 4), round(each["lr"], 7)] for each in logged[::5]],
        "validation": [
            [each["step"], round(each["validation_loss"], 4), round(each["validation_bleu"], 2)] for each in validated
        ],
    }


def maps(translator: Translator, text: str) -> dict[str, object]:
    """The three attentions of the model while it translates a text, to three digits."""
    found = inspect_attention(translator, text)
    rounded = {kind: found.weights(kind).double().round(decimals=3).tolist() for kind in KINDS}
    return {**found.to_dict(), **rounded}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
