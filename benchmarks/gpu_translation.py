"""Translation on one GPU beside CTranslate2 and Hugging Face, with the same weights; a part of gpu.py.

The weights are random, and every translation is cut at one length, so that all systems do the same work: outputs of
random weights are harder to agree on than those of trained ones. The vocabulary is that of `everyday`. Our search in
Python, which a GPU used before it had the search on tensors, is beside the others.

    python benchmarks/gpu_translation.py --device cpu --tiny     # this part alone; on a CPU its figures say nothing
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from dragoman.bundle.bundle import Bundle, load_bundle
from dragoman.bundle.layout import Layout
from dragoman.bundle.weights import weights_of
from dragoman.decoding.search import search
from dragoman.decoding.state import TransformerScorer
from dragoman.machine.devices import find_device
from dragoman.model.transformer import Transformer
from dragoman.runtime.tensor_search import TensorSearch
from dragoman.runtime.torch_model import TorchModel
from dragoman.settings.model_config import ModelConfig
from dragoman.settings.presets import PRESETS
from dragoman.settings.search_config import SearchConfig
from dragoman.translator.padding import pad_sources

if TYPE_CHECKING:
    from gpu import Bench

Ids = Sequence[Sequence[int]]
#: Translates sources with a beam of a size: target ids.
System = Callable[[Ids, int], list[list[int]]]
N_SENTENCES, BATCH, LENGTH = 512, 512, 32


def translation(bench: Bench, results: dict[str, Any]) -> dict[str, Any]:
    """The speed of each system, and how many of its outputs are ours."""
    bundle = random_bundle("tiny" if bench.is_tiny else "base")
    n_sentences = 8 if bench.is_tiny else N_SENTENCES
    draw = np.random.default_rng(1)
    lengths = draw.integers(10, 40, n_sentences)
    sources = [draw.integers(10, bundle.config.source_vocab_size, length).tolist() for length in lengths]
    table: dict[str, Any] = {}
    with TemporaryDirectory() as folder:
        systems = {
            "dragoman": lambda: ours(bench, bundle),
            "dragoman, search in Python": lambda: ours(bench, bundle, in_python=True),
            "Hugging Face": lambda: hugging_face(bench, bundle, folder),
            "CTranslate2": lambda: ctranslate2(bench, bundle, folder),
        }
        made: dict[str, System] = {}
        for name, make in systems.items():
            try:
                made[name] = make()
            except Exception as error:  # the peer is missing, or cannot have these weights
                table[name] = f"{type(error).__name__}: {error}"
        for beam_size in (1, 4):
            table[f"beam {beam_size}"] = _compared(bench, made, sources, beam_size)
        for beam_size in (1, 4):
            table[f"ms for one sentence, beam {beam_size}"] = {
                name: round(
                    1000 / bench.rate(partial(_translated, run, sources[:1], beam_size), _seconds(bench, 20)), 2
                )
                for name, run in made.items()
            }
    return table


def _compared(bench: Bench, systems: dict[str, System], sources: Ids, beam_size: int) -> dict[str, Any]:
    mine = systems["dragoman"](sources, beam_size)
    row: dict[str, Any] = {}
    for name, run in systems.items():
        equal = sum(one == other for one, other in zip(mine, run(sources, beam_size), strict=True))
        speed = bench.rate(partial(_translated, run, sources, beam_size), _seconds(bench, 12), n_warm=1)
        row[name] = {"sentences/s": round(speed, 1), f"equal of {len(sources)}": equal}
    return row


def _seconds(bench: Bench, n_parts: int) -> float:
    return max(0.1, min(10.0, bench.seconds_left / n_parts))


def _translated(run: System, sources: Ids, beam_size: int) -> float:
    """Translate sources, and return how many they are."""
    return float(len(run(sources, beam_size)))


def random_bundle(preset: str) -> Bundle:
    """A bundle of random weights with the vocabulary of `everyday`."""
    everyday = load_bundle("everyday")
    sizes = {name: getattr(everyday.config, name) for name in ("source_vocab_size", "target_vocab_size")}
    config = ModelConfig.model_validate({**PRESETS[preset], **sizes})
    torch.manual_seed(1)
    model = Transformer(config, everyday.tokenizers.special_ids)
    weights = weights_of(model)
    assert weights.keys() == Layout(config).shapes().keys()
    return Bundle(config, weights, everyday.tokenizers, SearchConfig(), facts={})


def ours(bench: Bench, bundle: Bundle, *, in_python: bool = False) -> System:
    """Our search on tensors, or in Python with the model in PyTorch; in bfloat16 on a GPU."""
    model = bundle.model.to(bench.device)
    if bench.device.type == "cuda":
        model = model.to(torch.bfloat16)
    scorer, special = TransformerScorer([TorchModel(model)]), bundle.tokenizers.special_ids
    on_tensors = TensorSearch(scorer, model)

    def translate(sources: Ids, beam_size: int) -> list[list[int]]:
        config = SearchConfig(beam_size=beam_size, min_length=LENGTH - 1, max_length=LENGTH, length_penalty=0.0)
        found = []
        for first in range(0, len(sources), BATCH):
            padded = pad_sources(sources[first : first + BATCH], special.source)
            beams = search(scorer, padded, config) if in_python else on_tensors.search(padded, config)
            found += [list(beam[0].ids)[: LENGTH - 1] for beam in beams]
        return found

    return translate


def hugging_face(bench: Bench, bundle: Bundle, folder: str) -> System:
    """Hugging Face's generate, in float16 on a GPU."""
    from transformers import AutoModelForSeq2SeqLM

    from dragoman.exchange.hugging_face_folder import folder_files

    place = Path(folder) / "hf"
    place.mkdir()
    for name, content in folder_files(bundle).items():
        (place / name).write_bytes(content)
    dtype = torch.float16 if bench.device.type == "cuda" else torch.float32
    model = AutoModelForSeq2SeqLM.from_pretrained(place, local_files_only=True).to(bench.device, dtype).eval()
    special = bundle.tokenizers.special_ids

    def translate(sources: Ids, beam_size: int) -> list[list[int]]:
        found = []
        for first in range(0, len(sources), BATCH):
            padded = torch.from_numpy(pad_sources(sources[first : first + BATCH], special.source)).to(bench.device)
            mask = (padded != special.source.pad).long()
            lengths = {"min_new_tokens": LENGTH - 1, "max_new_tokens": LENGTH - 1, "length_penalty": 0.0}
            with torch.no_grad():
                rows = model.generate(
                    input_ids=padded, attention_mask=mask, num_beams=beam_size, do_sample=False, **lengths
                )
            found += [row[1:LENGTH] for row in rows.tolist()]
        return found

    return translate


def ctranslate2(bench: Bench, bundle: Bundle, folder: str) -> System:
    """CTranslate2, in float16 on a GPU."""
    import ctranslate2

    from dragoman.exchange.ctranslate2_folder import write_model
    from dragoman.exchange.ctranslate2_spec import names_of

    place = Path(folder) / "ct2"
    place.mkdir()
    write_model(bundle, "float32", place)
    kind = "float16" if bench.device.type == "cuda" else "float32"
    translator: Any = ctranslate2.Translator(str(place), device=bench.device.type, compute_type=kind)
    names = names_of(bundle.tokenizers)
    ids = {piece: id for id, piece in enumerate(names.target)}

    def translate(sources: Ids, beam_size: int) -> list[list[int]]:
        pieces = [[names.source[id] for id in source] for source in sources]
        lengths = {"min_decoding_length": LENGTH - 1, "max_decoding_length": LENGTH - 1, "length_penalty": 0.0}
        results = translator.translate_batch(pieces, beam_size=beam_size, max_batch_size=BATCH, **lengths)
        return [[ids[piece] for piece in result.hypotheses[0]] for result in results]

    return translate


def main() -> None:
    """Run this part alone, and print its table."""
    from gpu import Bench

    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--minutes", type=float, default=3)
    options.add_argument("--device", default="cuda")
    options.add_argument("--tiny", action="store_true", help="small sizes, to try the script")
    given = options.parse_args()
    deadline = time.monotonic() + 60 * given.minutes
    print(json.dumps(translation(Bench(torch.device(find_device(given.device)), given.tiny, deadline), {}), indent=2))


if __name__ == "__main__":
    main()
