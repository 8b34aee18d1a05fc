"""Note in a shipped model the kind of text that it learned from, counted on the training pairs of Multi30k:

    python benchmarks/learned_text.py [NAME...]

NAME is such as multi30k-en-de; without any, the caption models. Rewrites the folder of the installed model: the
weights, the tokenizer and all settings stay as they are. A model that is trained now has the fact from its training.
Needs DRAGOMAN_DATA or the network; some seconds.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path

import numpy as np

from dragoman.bundle.bundle import load_bundle
from dragoman.bundle.format import CONFIG
from dragoman.bundle.named_models import CAPTION_MODELS, named_models
from dragoman.data.corpus import read_pairs
from dragoman.machine.folders import MANIFEST, save_folder, verify_folder
from dragoman.machine.json_files import read_json, to_json
from dragoman.settings.data_config import DataConfig
from dragoman.text.learned_text import FACT, LearnedText
from dragoman.text.tokenizer import Tokenizers


def count(tokenizers: Tokenizers) -> LearnedText:
    """Count all training pairs of Multi30k in the languages of a model."""
    corpus = DataConfig(corpus="multi30k", source_lang=tokenizers.source_lang, target_lang=tokenizers.target_lang)
    pairs = list(read_pairs(corpus, "train"))
    sides = zip((tokenizers.source, tokenizers.target), zip(*pairs, strict=True), strict=True)
    lengths = [np.array([len(tokenizer.encode(line)) for line in lines]) for tokenizer, lines in sides]
    return LearnedText.count((source for source, _ in pairs), *lengths)


def note(folder: Path, learned: LearnedText) -> None:
    """Write a bundle again with the fact, and nothing else changed."""
    settings = read_json(folder / CONFIG)
    settings["facts"][FACT] = learned.model_dump(mode="json")

    def write(made: Path) -> None:
        shutil.copytree(folder, made, dirs_exist_ok=True, ignore=shutil.ignore_patterns(MANIFEST))
        (made / CONFIG).write_bytes(to_json(settings))

    with tempfile.TemporaryDirectory() as place:
        made = Path(place) / folder.name
        save_folder(made, write, facts={"format_version": settings["format_version"]})
        verify_folder(made)
        for name in (CONFIG, MANIFEST):
            shutil.copyfile(made / name, folder / name)


def main() -> None:
    """Read the arguments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", default=CAPTION_MODELS)
    for name in parser.parse_args().names:
        learned = count(load_bundle(name, verify=False).tokenizers)
        note(named_models()[name], learned)
        print(name, learned)


if __name__ == "__main__":
    main()
