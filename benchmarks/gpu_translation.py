"""Translation on one GPU beside CTranslate2 and Hugging Face, with the same weights; a part of gpu.py.

The weights are random, and every translation is cut at one length, so that all systems do the same work: outputs of
random weights are harder to agree on than those of trained ones. The vocabulary is that of `everyday`.

    python benchmarks/gpu_translation.py --device cpu --tiny     # this part alone; on a CPU its figures say nothing
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
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
from dragoman.runtime.torch_model import TorchModel
from dragoman.settings.model_config import ModelConfig
from dragoman.settings.presets import PRESETS
from dragoman.settings.search_config import SearchConfig
from dragoman.translator.padding import pad_sources

try:
    from dragoman.runtime.tensor_search import TensorSearch
except ImportError:
    TensorSearch = None

if TYPE_CHECKING:
    from gpu import Bench

Ids = Sequence[Sequence[int]]
#: Translates sources with a beam of a size: target ids.
System = Callable[[Ids, int], list[list[int]]]
N_SENTENCES, BATCH, LENGTH = 512, 512, 32
#: The model of a trial of this script.
SMALLEST = {"d_model": 64, "d_ff": 128, "n_heads": 4, "n_encoder_layers": 1, "n_decoder_layers": 1}


def translation(bench: Bench) -> Iterator[dict[str, Any]]:
    """The speed of each system, and how many of its outputs are ours: a row for each when it is known."""
    bundle = random_bundle(SMALLEST if bench.is_tiny else PRESETS["base"])
    n_sentences, longest = (2, 6) if bench.is_tiny else (N_SENTENCES, LENGTH)
    draw = np.random.default_rng(1)
    lengths = draw.integers(10, 40, n_sentences)
    sources = [draw.integers(10, bundle.config.source_vocab_size, length).tolist() for length in lengths]
    with TemporaryDirectory() as folder:
        systems: dict[str, System] = {"dragoman": ours(bench, bundle, longest)}
        # An older version, which is measured beside a newer one, leaves the peers to that.
        peers = {"Hugging Face": hugging_face, "CTranslate2": ctranslate2} if TensorSearch else {}
        for name, make in peers.items():
            try:
                systems[name] = make(bench, bundle, longest, Path(folder))
            except Exception as error:  # it is not installed, or cannot have these weights
                yield {"system": name, "is missing": f"{type(error).__name__}: {error}"}
        wanted = [(n, beam_size, name) for n in (n_sentences, 1) for beam_size in (1, 4) for name in systems]
        expected: dict[tuple[int, int], list[list[int]]] = {}
        for index, (n, beam_size, name) in enumerate(wanted):
            run = partial(systems[name], sources[:n], beam_size)
            outputs = run()
            ours_are = expected.setdefault((n, beam_size), outputs)
            row: dict[str, Any] = {"system": name, "sentences": n, "beam": beam_size}
            row["equal to ours"] = sum(one == other for one, other in zip(ours_are, outputs, strict=True))
            # The first calls, which load and capture, take as long again.
            seconds = bench.seconds_left / (2 * (len(wanted) - index))
            rate = bench.rate(lambda run=run: len(run()), 0.1 if bench.is_tiny else max(0.1, min(5.0, seconds)))
            yield row | ({"sentences/s": round(rate, 1)} if n > 1 else {"ms": round(1000 / rate, 2)})


def random_bundle(shape: Mapping[str, Any]) -> Bundle:
    """A bundle of random weights with the vocabulary of `everyday`."""
    everyday = load_bundle("everyday")
    sizes = {name: getattr(everyday.config, name) for name in ("source_vocab_size", "target_vocab_size")}
    config = ModelConfig.model_validate({**shape, **sizes})
    torch.manual_seed(1)
    model = Transformer(config, everyday.tokenizers.special_ids)
    weights = weights_of(model)
    assert weights.keys() == Layout(config).shapes().keys()
    return Bundle(config, weights, everyday.tokenizers, SearchConfig(), facts={})


def ours(bench: Bench, bundle: Bundle, longest: int) -> System:
    """Our search on tensors, in bfloat16 on a GPU; in an older version that in Python, with the model in PyTorch."""
    model = bundle.model.to(bench.device)
    if bench.device.type == "cuda":
        model = model.to(torch.bfloat16)
    scorer, special = TransformerScorer([TorchModel(model)]), bundle.tokenizers.special_ids
    on_tensors = TensorSearch(scorer, model) if TensorSearch else None

    def translate(sources: Ids, beam_size: int) -> list[list[int]]:
        config = SearchConfig(beam_size=beam_size, min_length=longest - 1, max_length=longest, length_penalty=0.0)
        found = []
        for first in range(0, len(sources), BATCH):
            padded = pad_sources(sources[first : first + BATCH], special.source)
            beams = on_tensors.search(padded, config) if on_tensors else search(scorer, padded, config)
            found += [list(beam[0].ids)[: longest - 1] for beam in beams]
        return found

    return translate


def hugging_face(bench: Bench, bundle: Bundle, longest: int, folder: Path) -> System:
    """Hugging Face's generate, in float16 on a GPU."""
    from transformers import AutoModelForSeq2SeqLM

    from dragoman.exchange.hugging_face_folder import folder_files

    place = folder / "hf"
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
            lengths = {"min_new_tokens": longest - 1, "max_new_tokens": longest - 1, "length_penalty": 0.0}
            with torch.no_grad():
                rows = model.generate(
                    input_ids=padded, attention_mask=mask, num_beams=beam_size, do_sample=False, **lengths
                )
            found += [row[1:longest] for row in rows.tolist()]
        return found

    return translate


def ctranslate2(bench: Bench, bundle: Bundle, longest: int, folder: Path) -> System:
    """CTranslate2, in float16 on a GPU."""
    import ctranslate2

    from dragoman.exchange.ctranslate2_folder import write_model
    from dragoman.exchange.ctranslate2_spec import names_of

    place = folder / "ct2"
    place.mkdir()
    write_model(bundle, "float32", place)
    kind = "float16" if bench.device.type == "cuda" else "float32"
    translator: Any = ctranslate2.Translator(str(place), device=bench.device.type, compute_type=kind)
    names = names_of(bundle.tokenizers)
    ids = {piece: id for id, piece in enumerate(names.target)}

    def translate(sources: Ids, beam_size: int) -> list[list[int]]:
        pieces = [[names.source[id] for id in source] for source in sources]
        lengths = {"min_decoding_length": longest - 1, "max_decoding_length": longest - 1, "length_penalty": 0.0}
        results = translator.translate_batch(pieces, beam_size=beam_size, max_batch_size=BATCH, **lengths)
        return [[ids[piece] for piece in result.hypotheses[0]] for result in results]

    return translate


def main() -> None:
    """Run this part alone, and print its rows."""
    from gpu import Bench

    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--minutes", type=float, default=3)
    options.add_argument("--device", default="cuda")
    options.add_argument("--tiny", action="store_true", help="small sizes, to try the script")
    given = options.parse_args()
    deadline = time.monotonic() + 60 * given.minutes
    for row in translation(Bench(torch.device(find_device(given.device)), given.tiny, deadline)):
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
