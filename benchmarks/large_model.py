"""RAM of a model of the shape of NLLB-200-distilled-600M, with random weights, in int8.

    python benchmarks/large_model.py FOLDER

It writes the model into FOLDER, unless it is there (2.5 GB of RAM, 600 MB of disk). Then a process that does nothing
else loads it and translates with a beam of 4. It prints its RAM in MiB, as JSON: at the start, and after loading; then
the peak so far, after loading, after single sentences, after a batch of 64 tokens, and after one of 512.
"""

import argparse
import json
import struct
import subprocess
import sys
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from dragoman import Translator
from dragoman.bundle.bundle import Bundle, write_bundle
from dragoman.bundle.layout import Layout
from dragoman.imports.m2m import m2m_tokenizers
from dragoman.settings.model_config import ModelConfig
from dragoman.settings.search_config import SearchConfig
from dragoman.text.sentence_pieces import SentencePieces
from dragoman.text.special_ids import SpecialIds

SENTENCES = [f"{number} men walk past a red house and talk about dogs." for number in range(32)]
LANGUAGES = ("eng_Latn", "deu_Latn")
N_PIECES = 256_204
SHAPE = ModelConfig(
    source_vocab_size=N_PIECES + len(LANGUAGES),
    target_vocab_size=N_PIECES + len(LANGUAGES),
    d_model=1024,
    d_ff=4096,
    n_heads=16,
    n_encoder_layers=12,
    n_decoder_layers=12,
    norm="pre",
    tie="all",
    positions="halves",
    max_length=1024,
)


class RandomWeights(Mapping[str, np.ndarray]):
    """Weights that are made when they are asked for."""

    def __init__(self) -> None:
        self._shapes = Layout(SHAPE).shapes()

    def __getitem__(self, name: str) -> np.ndarray:
        shape = self._shapes[name]
        if len(shape) == 1:
            return np.full(shape, float("norm" in name and name.endswith("weight")), dtype=np.float32)
        return np.random.default_rng(zlib.crc32(name.encode())).normal(0, shape[-1] ** -0.5, shape).astype(np.float32)

    def __iter__(self) -> Iterator[str]:
        return iter(self._shapes)

    def __len__(self) -> int:
        return len(self._shapes)


def pieces_model() -> bytes:
    """Return a SentencePiece model with `N_PIECES` - 1 pieces: a few of `SENTENCES`, and many that no text has."""
    import io

    import sentencepiece

    output = io.BytesIO()
    options = {"model_writer": output, "vocab_size": 60, "model_type": "bpe", "minloglevel": 2}
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(SENTENCES), **options)
    model = bytearray(output.getvalue())
    for number in range(N_PIECES - 1 - len(SentencePieces(output.getvalue()).pieces)):
        piece = b"".join(chr(0x4E00 + digit).encode() for digit in (number // 400, number % 400, 500))
        entry = b"\x0a" + bytes([len(piece)]) + piece + b"\x15" + struct.pack("<f", -100.0 - number)
        model += b"\x0a" + bytes([len(entry)]) + entry
    return bytes(model)


def write_model(folder: Path) -> None:
    """Write the model, in int8."""
    model = pieces_model()
    first = ["<s>", "<pad>", "</s>", "<unk>"]
    names = [*first, *SentencePieces(model).pieces[3:]]
    tokens = {name: N_PIECES + number for number, name in enumerate(LANGUAGES)}
    table = {name: number for number, name in enumerate(names)}
    ids = SpecialIds(pad=1, unknown=3, start=2, end=2)
    tokenizers = m2m_tokenizers(model, table, tokens, ids, (None, None))
    bundle = Bundle(SHAPE, RandomWeights(), tokenizers, SearchConfig(beam_size=4, max_length=20), {})
    write_bundle(folder, bundle, "int8")


def mebibytes(entry: str) -> int:
    """Return a number of /proc/self/status in MiB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith(f"{entry}:"))


def measure(folder: Path) -> None:
    """Print the figures of this process."""
    report = {"program": mebibytes("VmRSS")}
    translator = Translator.load(folder, precision="int8", device="cpu")
    report |= {"loaded": mebibytes("VmRSS"), "loading": mebibytes("VmHWM")}
    for sentence in SENTENCES[:2]:
        translator.translate(sentence, source_lang="en", target_lang="de", plain=True)
    report["sentences"] = mebibytes("VmHWM")
    translator.translate(SENTENCES[:4], source_lang="en", target_lang="de", plain=True, batch_size=64)
    report["batch of 64"] = mebibytes("VmHWM")
    translator.translate(SENTENCES[:12], source_lang="en", target_lang="de", plain=True)
    print(json.dumps(report | {"batch of 512": mebibytes("VmHWM")}))


def main() -> None:
    """Write the model, and measure it in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        measure(arguments.folder)
        return
    if not arguments.folder.exists():
        write_model(arguments.folder)
    subprocess.run([sys.executable, __file__, str(arguments.folder), "--measure"], check=True)


if __name__ == "__main__":
    main()
