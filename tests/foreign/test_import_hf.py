"""Models of transformers' Marian class as bundles: tokens, logits and translations are theirs."""

import gzip
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from extras import import_extra
from logits import logits_difference
from shapes import HF_REFUSED, SHAPES, shaped_bundle

from dragoman import Translator
from dragoman.bundle.bundle import Bundle, load_bundle, write_bundle
from dragoman.cli import program
from dragoman.exchange.export_folder import write_files
from dragoman.exchange.hugging_face_folder import folder_files
from dragoman.imports.hugging_face import import_hugging_face
from dragoman.settings.search_config import SearchConfig
from dragoman.translator.models import ComputeOptions
from dragoman.translator.plans import SearchJob

os.environ["HF_HUB_OFFLINE"] = "1"
transformers = import_extra("transformers", "hf")
from opus_mt import captions, random_model, teach, write_model, write_tokenizer  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:Recommended. pip install sacremoses", "ignore::DeprecationWarning")

STRANGE = [
    "",
    "½ … test",
    "☃☃ é 猫",
    "ﬁne  spaces ",
    "Ａ man",
    ">>deu<< A man.",
    ">>deu<<A man.",
    "A >>deu<< man",
    "a\tb",
]


class Opus(NamedTuple):
    """A folder as OPUS-MT's, its model and tokenizer in transformers, and its bundle."""

    folder: Path
    model: Any
    tokenizer: Any
    bundle: Bundle


def tokenizer_of(folder: Path) -> Any:
    return transformers.AutoTokenizer.from_pretrained(folder)


@pytest.fixture(scope="module")
def opus(tmp_path_factory: pytest.TempPathFactory) -> Opus:
    folder = tmp_path_factory.mktemp("opus") / "opus-mt-en-de"
    texts = captions(400)
    model, tokenizer = random_model(write_tokenizer(folder, texts)), tokenizer_of(folder)
    pairs = [
        (tokenizer(one).input_ids, tokenizer(text_target=other).input_ids) for one, other in zip(*texts, strict=True)
    ]
    teach(model, pairs, 80)
    model.save_pretrained(folder)
    return Opus(folder, model, tokenizer, import_hugging_face(folder))


def test_tokens_are_theirs(opus: Opus) -> None:
    texts = [*captions(50)[0], *STRANGE, *real_lines("val.en.gz", "val.de.gz")]
    tokenizers = opus.bundle.tokenizers
    for text in texts:
        assert [*tokenizers.source.encode(text), 0] == opus.tokenizer(text).input_ids
        if ">>" not in text:
            assert [*tokenizers.target.encode(text), 0] == opus.tokenizer(text_target=text).input_ids


def real_lines(*names: str) -> list[str]:
    """Captions of Multi30k, if they are there."""
    paths = [Path(os.environ.get("DRAGOMAN_DATA", "")) / "multi30k" / name for name in names]
    texts = [gzip.decompress(path.read_bytes()).decode() for path in paths if path.is_file()]
    return [line for text in texts for line in text.splitlines()]


@pytest.mark.parametrize("beam_size", [1, 4])
def test_translations_are_theirs(opus: Opus, beam_size: int) -> None:
    """Without a length penalty: theirs is another one. They are compared as ids, where ours end."""
    sources = captions(700)[0][600:]
    translator = Translator([opus.bundle], opus.bundle.tokenizers, compute=ComputeOptions("cpu"))
    search = SearchConfig(beam_size=beam_size, length_penalty=0)
    jobs = [SearchJob(opus.bundle.tokenizers.source.encode(source), (), search) for source in sources]
    found = [beam[0].hypothesis for beam in translator.pipeline.search(jobs)]
    options = {"num_beams": beam_size, "length_penalty": 0.0, "do_sample": False}
    n_finished, different = 0, {hypothesis.ids for hypothesis in found}
    for source, hypothesis in zip(sources, found, strict=True):
        inputs = opus.tokenizer(source, return_tensors="pt")
        _, *theirs = opus.model.generate(**inputs, **options)[0].tolist()
        if hypothesis.finished and len(theirs) < 100:
            assert list(hypothesis.ids) == theirs[: theirs.index(0)]
            assert translator.tokenizers.target.decode(hypothesis.ids) == opus.tokenizer.decode(
                theirs, skip_special_tokens=True
            )
            n_finished += 1
    assert n_finished > 80
    assert len(different) > 20


def test_tokens_are_theirs_with_sacremoses_too(opus: Opus) -> None:
    """Their tokenizer then has rules for punctuation, and leaves them to callers: `tokenizer.normalize`."""
    import_extra("sacremoses", "hf")
    tokenizer = transformers.AutoTokenizer.from_pretrained(opus.folder)
    assert tokenizer.normalize("“Yes”  a") == '"Yes" a'
    for text in [*captions(20)[0], "“Smart” ‘quotes’ – and …", 'He said "yes".', "a  b ;c"]:
        assert tokenizer(text).input_ids == [*opus.bundle.tokenizers.source.encode(text), 0]


def test_an_imported_model_is_used_and_trained_like_any_other(opus: Opus, tmp_path: Path, capsys: Any) -> None:
    model, run = str(tmp_path / "en-de"), str(tmp_path / "run")
    assert program.run(["import", str(opus.folder), "-o", model]) == 0
    texts = captions(200)
    for name, lines in zip(("my.en", "my.de"), texts, strict=True):
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    files = [f"{tmp_path}/my.en", f"{tmp_path}/my.de"]
    settings = [
        "training.max_steps=20",
        "training.validate_every=20",
        "data.validation_size=40",
        "training.warmup_steps=1",
        "training.lr=0.0005",
        "training.label_smoothing=0",
    ]
    options = [word for setting in settings for word in ("--set", setting)]
    tuning = ["train", "--init-from", model, "--source", files[0], "--target", files[1], "-o", run, "--device", "cpu"]
    assert program.run([*tuning, *options]) == 0
    before, after = (Translator.load(path, device="cpu").score(*texts) for path in (model, run))
    assert np.mean([each.log_prob for each in after]) > np.mean([each.log_prob for each in before])
    for precision in ("float32", "bfloat16", "int8"):
        (found,) = Translator.load(run, device="cpu", precision=precision).translate(texts[0][:1], align=True)
        assert found.text
        assert found.alignment
    assert program.run(["inspect", "attention", "-m", run, texts[0][0]]) == 0
    for kind in ("web", "hf"):
        assert program.run(["export", kind, "-m", run, "-o", str(tmp_path / kind)]) == 0
    assert "of 200 sentences as dragoman does" in capsys.readouterr().err
    back = import_hugging_face(tmp_path / "hf")
    assert back.tokenizers.equals(load_bundle(run).tokenizers)
    assert all(np.array_equal(back.weights[name], weight) for name, weight in load_bundle(run).weights.items())


def test_a_pickled_model_is_read_without_running_it(opus: Opus, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(opus.folder, tmp_path / "opus"))
    (folder / "model.safetensors").unlink()
    torch.save(opus.model.state_dict(), folder / "pytorch_model.bin")
    assert program.run(["import", str(folder), "-o", str(tmp_path / "new")]) == 0
    back = load_bundle(tmp_path / "new")
    assert all(np.array_equal(back.weights[name], weight) for name, weight in opus.bundle.weights.items())


# -- every kind of folder ----------------------------------------------------------------------------------------------

KINDS: dict[str, dict[str, Any]] = {
    "OPUS-MT": {},
    "ReLU, unscaled": {"activation_function": "relu", "scale_embedding": False},
    "GELU, 1 + 3 layers": {"activation_function": "gelu", "encoder_layers": 1, "decoder_layers": 3},
    "output of its own": {"tie_word_embeddings": False},
    "two vocabularies": {"share_encoder_decoder_embeddings": False},
    "two vocabularies, nothing tied": {"share_encoder_decoder_embeddings": False, "tie_word_embeddings": False},
}


def make(folder: Path, kind: str, dtype: torch.dtype = torch.float32) -> Any:
    settings = KINDS[kind]
    separate = settings.get("share_encoder_decoder_embeddings") is False
    return write_model(folder, write_tokenizer(folder, captions(200), separate=separate), dtype, **settings)


@pytest.mark.parametrize("kind", KINDS)
def test_logits_are_theirs(kind: str, tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    model, tokenizer = make(tmp_path / "opus", kind), tokenizer_of(tmp_path / "opus")
    write_bundle(tmp_path / "bundle", import_hugging_face(tmp_path / "opus"))
    bundle = load_bundle(tmp_path / "bundle")
    difference = logits_difference(bundle, model)
    record_property("export", (f"import: {kind}", "transformers", f"logits {difference:.1g}"))
    assert difference < 1e-5
    tokenizers = bundle.tokenizers
    for text in [*captions(20)[1], *STRANGE]:
        assert [*tokenizers.source.encode(text), 0] == tokenizer(text).input_ids
        if ">>" not in text:
            assert [*tokenizers.target.encode(text), 0] == tokenizer(text_target=text).input_ids
    assert bundle.search.beam_size == 4
    assert tokenizers.source.special_ids.pad == tokenizers.target.special_ids.start == model.config.pad_token_id


@pytest.mark.parametrize("shape", SHAPES)
def test_our_exports_are_read_as_transformers_reads_them(
    shape: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    if shape in HF_REFUSED:
        record_property("export", (shape, "back from transformers", "not exported"))
        return
    write_files(tmp_path, folder_files(shaped_bundle(shape)))
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(tmp_path).eval()
    difference = logits_difference(import_hugging_face(tmp_path), model)
    record_property("export", (shape, "back from transformers", f"logits {difference:.1g}"))
    assert difference < 1e-5


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_weights_of_other_types_are_read(dtype: torch.dtype, tmp_path: Path) -> None:
    model = make(tmp_path, "OPUS-MT", dtype)
    assert logits_difference(import_hugging_face(tmp_path), model) < 1e-5


def test_shards_are_read(tmp_path: Path) -> None:
    model = make(tmp_path, "OPUS-MT")
    (tmp_path / "model.safetensors").unlink()
    model.save_pretrained(tmp_path, max_shard_size="30KB")
    assert len(list(tmp_path.glob("model-*.safetensors"))) > 2
    assert logits_difference(import_hugging_face(tmp_path), model) < 1e-5


def test_padding_has_no_probability_where_transformers_leaves_it_out(tmp_path: Path) -> None:
    model = make(tmp_path, "OPUS-MT")
    model.generation_config.renormalize_logits = True
    model.save_pretrained(tmp_path)
    bundle, pad = import_hugging_face(tmp_path), model.config.pad_token_id
    source, target = torch.tensor([[5, 6, 7, 0]]), torch.tensor([[pad, 9, 8]])
    with torch.no_grad():
        theirs = model(input_ids=source, decoder_input_ids=target).logits
        theirs[..., pad] = -torch.inf
        ours = bundle.model(source, target).log_softmax(-1)
    kept = np.arange(theirs.size(-1)) != pad
    torch.testing.assert_close(ours[..., kept], theirs.log_softmax(-1)[..., kept], atol=1e-5, rtol=0)
