"""Measure directions that a model was not trained for: directly, and in two steps through English.

    python benchmarks/zero_shot.py everyday

The test sets are validation text with an equal English side, which the model has not seen: a German sentence and a
Chinese one that translate the same sentence. BLEU is with all references, chrF2 with the first of each source, and so
is p, of the paired bootstrap: the probability of such a difference if both ways were equally good. Off target are
outputs in another language, in whole or in part. Into Chinese, these have Latin words that the source lacks; into the
others, they have Chinese characters, or a detector takes them for another language. Needs DRAGOMAN_DATA with its
folders tatoeba-*, and the extra `serve`, which has the detector.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence

from everyday_sets import LANGUAGES, Direction, bleu, validation_set

from dragoman.evaluation.metrics import corpus_chrf, paired_test
from dragoman.server.detection import Detector
from dragoman.translator import Pivot, Translator

DIRECTIONS: Sequence[Direction] = (("de", "zh"), ("zh", "de"), ("fr", "zh"), ("zh", "fr"))
#: A shorter text tells little of its language.
LEAST_LETTERS = 10
_HAN = re.compile(r"[\u3400-\u9fff]")
_LATIN_WORD = re.compile(r"[A-Za-zÀ-ÿ]{2,}")


def is_off_target(source: str, text: str, language: str, detector: Detector) -> bool:
    """Return True if a translation into `language` is in another one, in whole or in part."""
    if language == "zh":
        return any(word not in source for word in _LATIN_WORD.findall(text))
    if _HAN.search(text):
        return True
    is_long = len(re.findall(r"[^\W\d_]", text)) >= LEAST_LETTERS
    return is_long and detector.detect(text, LANGUAGES)[0].language != language


def main() -> None:
    """Print two rows of a table for each direction, then how probable the differences are by chance."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--sample", type=int, help="sources of each direction; all by default")
    arguments = parser.parse_args()
    detector = Detector()
    ways = {
        "directly": Translator.load(arguments.model),
        "through English": Pivot.load(arguments.model, middle="en"),
    }
    print("| direction | sources | | BLEU | chrF2 | off target |\n|---|---|---|---|---|---|")
    chances = []
    for source_lang, target_lang in DIRECTIONS:
        references = validation_set((source_lang, target_lang), arguments.sample)
        firsts = [texts[0] for texts in references.values()]
        outputs = {}
        for way, translator in ways.items():
            done = translator.translate(list(references), source_lang=source_lang, target_lang=target_lang)
            texts = outputs[way] = [translation.text for translation in done]
            n_off = sum(is_off_target(*pair, target_lang, detector) for pair in zip(references, texts, strict=True))
            scores = (
                f"{bleu(texts, list(references.values()), target_lang):.1f} | {corpus_chrf(texts, firsts).score:.1f}"
            )
            print(f"| {source_lang}-{target_lang} | {len(texts)} | {way} | {scores} | {n_off} |", flush=True)
        (chrf,) = (each for each in paired_test(*outputs.values(), firsts, target_lang) if each.name == "chrF2")
        chances.append(f"{source_lang}-{target_lang} {chrf.p_value:.3f}")
    print(f"\np of chrF2: {', '.join(chances)}")


if __name__ == "__main__":
    main()
