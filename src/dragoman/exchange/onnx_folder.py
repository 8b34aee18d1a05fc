"""A folder that transformers.js loads, and that onnxruntime runs from any language: two graphs and a tokenizer."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import onnx
import onnxruntime

from dragoman.bundle.bundle import Bundle
from dragoman.exchange.agreement import Agreement, compare, until_end
from dragoman.exchange.export_folder import Precision, sentencepiece_files, write_files
from dragoman.exchange.hugging_face_config import (
    generation_config,
    model_config,
    n_positions,
    tokenizer_config,
    warn_of_tags,
)
from dragoman.exchange.onnx_heads import padded_width
from dragoman.exchange.onnx_models import decoder_model, encoder_model
from dragoman.exchange.piece_names import never_written
from dragoman.exchange.tokenizer_json import tokenizer_json, tokenizer_problem
from dragoman.machine.folders import save_folder
from dragoman.machine.json_files import to_json
from dragoman.translator.padding import pad_sources

#: Ends of the names of graphs, as transformers.js expects them.
_ENDS: Mapping[Precision, str] = {"float32": ".onnx", "int8": "_quantized.onnx"}
#: Sentences that are translated at once when they are compared.
_BATCH = 20

_log = logging.getLogger(__name__)


def export_onnx(
    name: str | Path, folder: Path, precision: Precision, sentences: Sequence[str], bundle: Bundle
) -> Agreement:
    """Write a bundle in ONNX; run that, and compare translations with ours.

    Args:
        name: for messages.
        sentences: to compare; without any, made-up ones.
        bundle: as `load_without` has loaded it.

    Raises:
        RunFolderError: the folder exists, or cannot be written.
    """
    if problem := tokenizer_problem(bundle.tokenizers):
        _log.warning(f"{name}: {problem}: there is no tokenizer.json, and transformers.js cannot cut text for it")
    else:
        warn_of_tags(bundle.tokenizers, name)
    save_folder(folder, partial(write_files, contents=folder_files(bundle, precision)))
    return compare(bundle, partial(translate_ids, folder, bundle), sentences)


def folder_files(bundle: Bundle, precision: Precision) -> Mapping[str, bytes]:
    """Return the content of each file, by its path."""
    config, tokenizers = bundle.config, bundle.tokenizers
    # transformers.js makes caches of d_model / heads numbers, and knows no beams.
    width = {"d_model": padded_width(config) * config.n_heads}
    shape = model_config(bundle) | width | {"model_type": "marian", "architectures": ["MarianMTModel"]}
    files = {
        "config.json": to_json(shape),
        "generation_config.json": to_json(generation_config(bundle) | {"num_beams": 1}),
    }
    graphs = {"encoder_model": encoder_model, "decoder_model_merged": decoder_model}
    for name, make in graphs.items():
        graph = make(bundle, n_positions(config))
        files[f"onnx/{name}{_ENDS[precision]}"] = graph if precision == "float32" else _quantized(graph)
    files |= sentencepiece_files(tokenizers)
    if tokenizer_problem(tokenizers) is None:
        kind = {"tokenizer_class": "PreTrainedTokenizerFast"}
        files["tokenizer.json"] = to_json(tokenizer_json(tokenizers))
        files["tokenizer_config.json"] = to_json(kind | tokenizer_config(bundle))
    return files


def translate_ids(folder: Path, bundle: Bundle, sources: Sequence[Sequence[int]], max_length: int) -> list[list[int]]:
    """Translate by onnxruntime, greedily, on one thread: source ids, without special ones -> target ids."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    encoder, decoder = (
        onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        for name in ("encoder_model", "decoder_model_merged")
        for path in (folder / "onnx").glob(f"{name}*.onnx")
    )
    batches = (sources[first : first + _BATCH] for first in range(0, len(sources), _BATCH))
    return [ids for batch in batches for ids in _translate(encoder, decoder, bundle, batch, max_length)]


def _translate(
    encoder: Any, decoder: Any, bundle: Bundle, sources: Sequence[Sequence[int]], max_length: int
) -> list[list[int]]:
    """Translate one batch of sources into at most so many tokens."""
    ids = bundle.tokenizers.special_ids
    source_ids = pad_sources(sources, ids.source)
    mask = (source_ids != ids.source.pad).astype(np.int64)
    (memory,) = encoder.run(None, {"input_ids": source_ids, "attention_mask": mask})
    empty = np.zeros((len(sources), bundle.config.n_heads, 0, padded_width(bundle.config)), dtype=np.float32)
    feeds = {part.name: empty for part in decoder.get_inputs() if part.name.startswith("past_key_values")}
    names = [part.name.replace("present", "past_key_values") for part in decoder.get_outputs()[1:]]
    last, written = np.full((len(sources), 1), ids.target.start), np.empty((len(sources), 0), dtype=np.int64)
    silent = never_written(bundle.tokenizers)
    while written.shape[1] < max_length and not (written == ids.target.end).any(axis=1).all():
        step = {"input_ids": last, "encoder_attention_mask": mask, "encoder_hidden_states": memory}
        logits, *present = decoder.run(None, step | feeds)
        logits[:, -1, silent] = -np.inf
        last = logits[:, -1].argmax(axis=1)[:, None]
        written, feeds = np.concatenate((written, last), axis=1), dict(zip(names, present, strict=True))
    return [until_end(row, ids.target.end) for row in written.tolist()]


def _quantized(graph: bytes) -> bytes:
    """Return a graph whose matrices have 8-bit integers, with a scale for each column."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    model = onnx.load_from_string(graph)
    # Says that the graph needs no tidying, so that nobody is told to tidy it.
    onnx.helper.set_model_props(model, {"onnx.quant.pre_process": "onnxruntime.quant"})
    with TemporaryDirectory() as folder:
        path = Path(folder) / "int8.onnx"
        quantize_dynamic(model, path, weight_type=QuantType.QInt8, per_channel=True)
        return path.read_bytes()
