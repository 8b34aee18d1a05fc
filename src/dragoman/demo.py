"""`dragoman demo`: from nothing to a translator in a few minutes, and a sentence by a larger one that is shipped."""

from __future__ import annotations

import logging
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_log = logging.getLogger(__name__)

#: A sentence for the model `everyday`.
EVERYDAY = "Could you tell me where the station is?"
#: Small enough for two minutes on two cores, large enough for the grammar of the captions.
SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "tokenizer": {"kind": "bpe", "joint": True, "vocab_size": 2000},
    "model": {
        "d_model": 128,
        "d_ff": 256,
        "n_heads": 4,
        "n_encoder_layers": 2,
        "n_decoder_layers": 2,
        "dropout": 0.0,
        "tie": "all",
        "max_length": 128,
    },
    "training": {
        "batch_tokens": 1024,
        "max_steps": 900,
        "lr": 0.003,
        "warmup_steps": 150,
        "schedule": "cosine",
        "label_smoothing": 0.1,
        "ema": 0.99,
        "validate_every": 300,
        "save_every": 300,
        "log_every": 50,
    },
    "search": {"beam_size": 1},
}


def show(output: Path, device: str, program: str = "dragoman") -> None:
    """Make a corpus, train on it, evaluate, translate, and log each step.

    Args:
        output: the run folder; finished steps are not repeated.
        device: as for `train`.
        program: the name of this program in the proposed commands.
    """
    from dragoman.bundle.named_models import PRETRAINED
    from dragoman.corpora.synthetic import SHOWCASE, standard_corpus
    from dragoman.evaluation.evaluation import evaluate
    from dragoman.training.run import train
    from dragoman.translator import Translator

    _log.info(
        "1. A corpus of captions, English and German, made by a small grammar (`dragoman data captions` writes it)"
    )
    test = standard_corpus("captions").test
    _log.info(f"2. A small Transformer, trained on it in {output} (Ctrl-C stops; the same command continues)")
    train({**SETTINGS, "data": {"corpus": "captions"}}, output, device=device, progress_bar=True)
    translator = Translator.load(output, device=device)
    _log.info(f"3. Its translations of {len(test):,} sentences that it has never seen")
    sources, references = map(list, zip(*test, strict=True))
    results = evaluate(translator, sources, references)
    _log.info(f"   exactly as the grammar translates them: {results.exact_match:.1%}")
    _log.info(
        "   About half of them combine words that never meet in training: a subject and a verb, a colour and a thing."
    )
    _log.info("4. Three more that it has not seen:")
    for source, _ in SHOWCASE:
        _log.info(f"   {source}  ->  {translator.translate(source).text}")
    _log.info("   It knows the words and the grammar of its captions, nothing else.")
    _log.info("5. A sentence of another kind, by `everyday`, a model that comes with dragoman:")
    everyday = Translator.load(PRETRAINED / "everyday", device=device)
    _log.info(f"   {EVERYDAY}  ->  {everyday.translate(EVERYDAY, source_lang='en', target_lang='de').text}")
    _say_next(shlex.quote(program), shlex.quote(str(output)))


def _say_next(program: str, folder: str) -> None:
    """Log commands to try after the demo."""
    _log.info("Try next:")
    commands = {
        f"{program} translate -m everyday --source-lang en --target-lang de": "type your own sentences",
        f"{program} translate -m {folder}": "captions, for the model of this demo",
        f"{program} evaluate -m {folder} --corpus captions": "the usual scores",
        f"{program} train --corpus multi30k": "real captions, 29,000 of them; about an hour on a CPU",
        f"{program} train --source my.en --target my.de": "your own text, one sentence a line",
    }
    width = max(map(len, commands))
    for command, purpose in commands.items():
        _log.info(f"   {command:<{width}}  {purpose}")
