"""Models in ONNX: at every length the logits are ours, translations too; in onnxruntime, Python and transformers.js."""

import gzip
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from extras import import_extra
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from shapes import SHAPES, shaped_bundle
from tiny import many_tokenizers, tiny_bundle, tiny_tokenizers, write_tiny_bundle

from dragoman import Translator
from dragoman.bundle.bundle import Bundle, load_bundle, write_bundle
from dragoman.cli import program
from dragoman.exchange.agreement import Agreement, made_up_sources
from dragoman.exchange.export_folder import Precision
from dragoman.exchange.obstacles import ONNX, load_without
from dragoman.text.tokenizer import Tokenizers

runtime = import_extra("onnxruntime", "onnx")
import_extra("onnx", "onnx")

from dragoman.exchange.onnx_folder import export_onnx, folder_files  # noqa: E402
from dragoman.exchange.onnx_heads import padded_width  # noqa: E402
from dragoman.exchange.tokenizer_json import tokenizer_json  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent.parent
#: A folder with transformers.js in its node_modules.
JAVASCRIPT = os.environ.get("DRAGOMAN_TRANSFORMERS_JS", "")
FEWEST_EQUAL = 198

Recorder = Callable[[str, object], None]


def exported(model: str | Path, folder: Path, precision: Precision = "float32") -> Agreement:
    return export_onnx(model, folder, precision, (), load_without(model, *ONNX))


def sessions(bundle: Bundle) -> list[Any]:
    files = folder_files(bundle, "float32")
    return [runtime.InferenceSession(files[f"onnx/{name}.onnx"]) for name in ("encoder_model", "decoder_model_merged")]


def logits_difference(bundle: Bundle, encoder: Any, decoder: Any, lengths: tuple[int, ...], width: int) -> float:
    """The largest difference of a logit, where the decoder reads so many tokens in each step."""
    ids, draw = bundle.tokenizers.special_ids, np.random.default_rng(width)
    source_ids = draw.integers(4, bundle.config.source_vocab_size, (3, width))
    target_ids = draw.integers(4, bundle.config.target_vocab_size, (3, sum(lengths)))
    source_ids[1, width // 2 :] = ids.source.pad
    mask = (source_ids != ids.source.pad).astype(np.int64)
    (memory,) = encoder.run(None, {"input_ids": source_ids, "attention_mask": mask})
    empty = np.zeros((3, bundle.config.n_heads, 0, padded_width(bundle.config)), dtype=np.float32)
    past = {part.name: empty for part in decoder.get_inputs() if part.name.startswith("past")}
    logits = []
    for tokens in np.split(target_ids, np.cumsum(lengths)[:-1], axis=1):
        feeds = {"input_ids": tokens, "encoder_attention_mask": mask, "encoder_hidden_states": memory}
        some, *present = decoder.run(None, feeds | past)
        past = {
            part.name.replace("present", "past_key_values"): each
            for part, each in zip(decoder.get_outputs()[1:], present, strict=True)
        }
        logits.append(some)
    with torch.no_grad():
        ours = bundle.model(torch.tensor(source_ids), torch.tensor(target_ids)).numpy()
    return float(np.abs(np.concatenate(logits, axis=1) - ours).max())


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_is_exported_and_equal_at_every_length(
    shape: str, tmp_path: Path, record_property: Recorder
) -> None:
    bundle = shaped_bundle(shape)
    write_bundle(tmp_path / "bundle", bundle)
    agreement = exported(tmp_path / "bundle", tmp_path / "onnx")
    both = sessions(bundle)
    steps = [((1, 1, 1), 2), ((5,), 7), ((3, 1, 4), 40), ((40,), 9), ((1,) * 20, 31)]
    difference = max(logits_difference(bundle, *both, lengths, width) for lengths, width in steps)
    record_property("export", (shape, "ONNX", f"{agreement}, {difference:.1e}"))
    assert agreement.n_sentences == 200
    assert agreement.n_equal >= FEWEST_EQUAL
    assert difference < 1e-5


def test_a_sequence_beyond_the_model_is_an_error() -> None:
    bundle = shaped_bundle("pre")
    encoder, decoder = sessions(bundle)
    with pytest.raises(Exception, match="Add"):
        logits_difference(bundle, encoder, decoder, (1,), bundle.config.max_length + 1)


def test_int8_is_smaller_and_runs(tmp_path: Path) -> None:
    write_bundle(tmp_path / "bundle", shaped_bundle("pre, RMS, SwiGLU, rotary", d_model=64, d_ff=128))
    exported(tmp_path / "bundle", tmp_path / "float32")
    agreement = exported(tmp_path / "bundle", tmp_path / "int8", "int8")
    assert agreement.n_equal > 20  # of random sentences, which have no clear translation
    for name in ("encoder_model", "decoder_model_merged"):
        sizes = [
            (tmp_path / path).stat().st_size
            for path in (f"float32/onnx/{name}.onnx", f"int8/onnx/{name}_quantized.onnx")
        ]
        assert sizes[1] < 0.5 * sizes[0]


def test_a_tokenizer_that_has_no_json_is_told(tmp_path: Path, log_lines: list[str]) -> None:
    write_tiny_bundle(tmp_path / "bundle", kind="characters")
    assert exported(tmp_path / "bundle", tmp_path / "onnx").n_equal >= FEWEST_EQUAL
    assert not (tmp_path / "onnx" / "tokenizer.json").exists()
    assert "its tokens are characters" in "".join(log_lines)


TOKENIZERS: dict[str, Tokenizers] = {
    "bpe": tiny_tokenizers(),
    "lower case": tiny_tokenizers().lowercasing_source(),
    "many languages": many_tokenizers(reserved=2),
    "unigram": many_tokenizers(kind="unigram", vocab_size=330),
    "everyday": load_bundle("everyday").tokenizers,
}


@pytest.mark.parametrize("name", TOKENIZERS)
@hypothesis_settings(max_examples=100)
@given(
    st.lists(
        st.one_of(
            st.sampled_from(
                ["A man is riding", "a horse.", "Zwei  Hunde", "über", "3.5", "骑马。", "😀", "É", "\u3000"]
            ),
            st.text("aábcdefghij ABC.,!?0123一男", max_size=12),
        ),
        max_size=6,
    ).map(" ".join)
)
def test_tokenizer_json_has_our_tokens(name: str, text: str) -> None:
    ours, theirs = TOKENIZERS[name].source, loaded_json(name)
    ids = ours.encode(text)
    assert theirs.encode(text).ids == [*ids, ours.special_ids.end]
    assert theirs.decode(ids) == ours.decode(ids)


@cache
def loaded_json(name: str) -> Any:
    tokenizers = import_extra("tokenizers", "hf")
    return tokenizers.Tokenizer.from_str(json.dumps(tokenizer_json(TOKENIZERS[name])))


def test_a_tag_is_read_by_tokenizer_json() -> None:
    ours = TOKENIZERS["everyday"].source
    text = ">>de<< Where is the station?"
    assert loaded_json("everyday").encode(text).ids == [*ours.encode(text), ours.special_ids.end]


@pytest.mark.captions
def test_the_loop_of_the_guide_translates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.chdir(tmp_path)
    assert program.run(["export", "onnx", "-m", "multi30k-en-de", "-o", "multi30k-onnx"]) == 0
    assert "200 of 200 sentences as dragoman does" in capsys.readouterr().err
    page = (ROOT / "docs" / "guide" / "export.md").read_text(encoding="utf-8")
    (code,) = [each for each in re.findall(r"```python\n(.*?)```", page, re.S) if "onnxruntime" in each]
    exec(code, {})
    assert capsys.readouterr().out == "Ein Mann reitet auf einem Pferd.\n"


@pytest.mark.skipif(
    not JAVASCRIPT, reason="npm install @huggingface/transformers, and set DRAGOMAN_TRANSFORMERS_JS to that folder"
)
@pytest.mark.parametrize(
    ("model", "text", "languages", "dtype"),
    [
        pytest.param(
            "multi30k-en-de", "multi30k/test_2016_flickr.en.gz", ("en", "de"), "fp32", marks=pytest.mark.captions
        ),
        pytest.param(
            "multi30k-en-fr", "multi30k/test_2016_flickr.en.gz", ("en", "fr"), "fp32", marks=pytest.mark.captions
        ),
        ("everyday", "tatoeba-zh-en/val.zh.gz", ("zh", "en"), "fp32"),
        ("everyday", "tatoeba-en-de/val.en.gz", ("en", "de"), "q8"),
    ],
)
def test_transformers_js_translates(
    model: str, text: str, languages: tuple[str, str], dtype: str, tmp_path: Path
) -> None:
    bundle = load_bundle(model)
    exported(model, tmp_path / "model", "int8" if dtype == "q8" else "float32")
    with gzip.open(Path(os.environ["DRAGOMAN_DATA"]) / text, "rt", encoding="utf-8") as file:
        lines = [next(file).strip() for _ in range(50)]
    tag = bundle.tokenizers.tag(languages[1])
    sources = [f"{tag} {line}" if tag else line for line in lines]
    driver = Path(JAVASCRIPT) / "dragoman_pipeline.mjs"
    shutil.copy(Path(__file__).with_name("pipeline_driver.mjs"), driver)
    try:
        done = subprocess.run(
            ["node", driver, tmp_path, "model", dtype], input=json.dumps(sources), capture_output=True, text=True
        )
    finally:
        driver.unlink()
    assert done.returncode == 0, done.stderr
    codes: Any = {"source_lang": languages[0], "target_lang": languages[1]} if tag else {}
    ours = [each.text for each in Translator.load(model).translate(lines, beam_size=1, sentences=False, **codes)]
    n_equal = sum(one == other for one, other in zip(json.loads(done.stdout), ours, strict=True))
    print(f"transformers.js | {model} {'-'.join(languages)} {dtype} | {n_equal} of {len(lines)}")
    assert n_equal >= (45 if dtype == "q8" else 49)


def test_made_up_sources_fit_the_model() -> None:
    bundle = tiny_bundle(tiny_tokenizers(), max_length=6)
    assert max(map(len, made_up_sources(bundle.tokenizers.source, 5, ""))) == 5
