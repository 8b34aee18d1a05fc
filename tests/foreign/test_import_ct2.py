"""Models that CTranslate2's own converters make, as bundles: what CTranslate2 writes, and its scores."""

import argparse
import io
import json
import os
import subprocess
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from extras import import_extra
from m2m_folders import write_m2m_folder
from sentencepiece import SentencePieceTrainer
from shapes import SHAPES, shaped_bundle
from tiny import tiny_model

from dragoman import Translator
from dragoman.bundle.bundle import Bundle, load_bundle, write_bundle
from dragoman.bundle.weights import weights_of
from dragoman.data.batches import collate
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.imports.argos import import_argos
from dragoman.imports.ctranslate2 import import_ctranslate2
from dragoman.runtime.position_table import sinusoidal_table
from dragoman.settings.search_config import SearchConfig
from dragoman.settings.tokenizer_config import TokenizerConfig
from dragoman.text.sentence_pieces import SentencePieces
from dragoman.text.sides import Learned, Side, sides_of
from dragoman.text.special_ids import SpecialIds
from dragoman.text.tokenizer import Tokenizer, Tokenizers
from dragoman.text.vocabulary import Vocabulary
from dragoman.translator.models import ComputeOptions
from dragoman.translator.plans import SearchJob

os.environ["HF_HUB_OFFLINE"] = "1"
ctranslate2 = import_extra("ctranslate2", "ctranslate2")
transformers = import_extra("transformers", "hf")

from ctranslate2.converters import OpenNMTPyConverter, TransformersConverter  # noqa: E402
from opus_mt import captions, random_model, teach, write_tokenizer  # noqa: E402

from dragoman.exchange.agreement import made_up_sources  # noqa: E402
from dragoman.exchange.ctranslate2_folder import export_ctranslate2  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:Recommended. pip install sacremoses", "ignore::DeprecationWarning")

#: Shapes that CTranslate2 cannot hold.
REFUSED = ("pre, std", "layerwise, rotary", "layerwise, std", "values wider than keys")
LIMIT = 30
#: Two tokens of random models may be equally probable but for the last digits.
FEWEST = 0.99


class Theirs:
    """A folder in CTranslate2, asked in our ids, which are theirs.

    Args:
        ends: the mark that callers put after a source.
    """

    def __init__(self, folder: Path, ends: Sequence[str] = (), starts: Sequence[str] = ()) -> None:
        self._translator = ctranslate2.Translator(str(folder), device="cpu", intra_threads=1)
        shared = folder / "shared_vocabulary.json"
        files = [shared if shared.exists() else folder / f"{side}_vocabulary.json" for side in ("source", "target")]
        self.source, self.target = (json.loads(file.read_text()) for file in files)
        self._ends, self._starts = [*ends], [*starts]

    def pieces(self, ids: Sequence[int]) -> list[str]:
        return [*(self.source[id] for id in ids), *self._ends]

    def translate(self, sources: Sequence[Sequence[int]], beam_size: int) -> list[list[int]]:
        numbers = {piece: id for id, piece in enumerate(self.target)}
        results = self._translator.translate_batch(
            [self.pieces(source) for source in sources],
            target_prefix=[self._starts] * len(sources) if self._starts else None,
            beam_size=beam_size,
            length_penalty=0,
            max_decoding_length=LIMIT - 1,
        )
        return [[numbers[piece] for piece in result.hypotheses[0]] for result in results]

    def scores(self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> list[list[float]]:
        results = self._translator.score_batch(
            [self.pieces(source) for source in sources], [[self.target[id] for id in target] for target in targets]
        )
        return [result.log_probs for result in results]


def translated(
    bundle: Bundle, sources: Sequence[Sequence[int]], beam_size: int, prefix: tuple[int, ...] = ()
) -> list[Hypothesis]:
    translator = Translator([bundle], bundle.tokenizers, compute=ComputeOptions("cpu"))
    search = SearchConfig(beam_size=beam_size, length_penalty=0, max_length=LIMIT)
    beams = translator.pipeline.search([SearchJob(each, prefix, search) for each in sources])
    return [beam[0].hypothesis for beam in beams]


def score_difference(bundle: Bundle, theirs: Theirs, sources: Sequence[Sequence[int]]) -> float:
    ids, model = bundle.tokenizers.special_ids, bundle.model
    targets = list(made_up_sources(bundle.tokenizers.target, 30, ""))[-len(sources) :]
    worst = 0.0
    for source, target, scores in zip(sources, targets, theirs.scores(sources, targets), strict=True):
        with torch.no_grad():
            logits = model(torch.tensor([ids.source.ended(source)]), torch.tensor([[ids.target.start, *target]]))[0]
        expected = logits.log_softmax(-1)[range(len(target) + 1), [*target, ids.target.end]]
        worst = max(worst, float(np.abs(expected.numpy() - np.array(scores)).max()))
    return worst


def require_equal(
    bundle: Bundle,
    theirs: Theirs,
    sources: Sequence[Sequence[int]],
    fewest: float = 0.0,
    prefix: tuple[int, ...] = (),
) -> None:
    assert score_difference(bundle, theirs, sources[:20]) < 1e-4
    for beam_size in (1, 4) if fewest else (1,):
        found, others = translated(bundle, sources, beam_size, prefix), theirs.translate(sources, beam_size)
        # ours ranks what has no end, or repeats itself, after the rest
        pairs = [
            ([*one.ids], other)
            for one, other in zip(found, others, strict=True)
            if beam_size == 1 or (one.finished and not one.faults and len(other) < LIMIT - 1)
        ]
        assert sum(one == other for one, other in pairs) >= FEWEST * len(pairs)
        assert len(pairs) >= fewest * len(sources)
        assert len({tuple(one) for one, _ in pairs}) > 3


def sources_of(bundle: Bundle, count: int = 200) -> list[list[int]]:
    return list(made_up_sources(bundle.tokenizers.source, LIMIT, ""))[:count]


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape not in REFUSED])
def test_what_was_exported_comes_back(shape: str, tmp_path: Path) -> None:
    bundle = shaped_bundle(shape)
    write_bundle(tmp_path / "bundle", bundle)
    export_ctranslate2("model", tmp_path / "ct2", "float32", (), load_bundle(tmp_path / "bundle"))
    again = import_ctranslate2(tmp_path / "ct2", ("en", "de"))
    changed = {"max_length", "bias", "dropout"}
    assert again.config.model_dump(exclude=changed) == bundle.config.model_dump(exclude=changed) | {
        "final_norm": bundle.config.has_final_norm
    }
    require_equal(again, Theirs(tmp_path / "ct2"), sources_of(again))


# -- the converters ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def marian(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as OPUS-MT's, whose model ends its translations."""
    folder = tmp_path_factory.mktemp("opus") / "opus-mt-en-de"
    texts = captions(400)
    model = random_model(write_tokenizer(folder, texts))
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    pairs = [
        (tokenizer(one).input_ids, tokenizer(text_target=other).input_ids) for one, other in zip(*texts, strict=True)
    ]
    teach(model, pairs, 80)
    model.save_pretrained(folder)
    return folder


def converted(folder: Path, output: Path, **options: Any) -> Path:
    files = ["source.spm", "target.spm"] if (folder / "source.spm").exists() else ["sentencepiece.bpe.model"]
    return Path(TransformersConverter(str(folder), copy_files=files).convert(str(output), **options))


def caption_ids(bundle: Bundle) -> list[list[int]]:
    return [bundle.tokenizers.source.encode(text) for text in captions(600)[0][400:]]


@pytest.mark.parametrize("kind", [None, "float16", "bfloat16", "int16"])
def test_models_of_marian_are_theirs(kind: str | None, marian: Path, tmp_path: Path) -> None:
    """Whole numbers and 16 bits are the weights of the file, and CTranslate2 computes with them as it likes."""
    folder = converted(marian, tmp_path / "ct2", quantization=kind)
    bundle = import_ctranslate2(folder, ("en", "de"))
    if kind is None:
        require_equal(bundle, Theirs(folder, ends=["</s>"]), caption_ids(bundle), fewest=0.9)
        return
    whole = import_ctranslate2(converted(marian, tmp_path / "whole"), ("en", "de"))
    for name, weight in whole.weights.items():
        assert np.allclose(bundle.weights[name], weight, 0, 0.01 * max(1.0, float(np.abs(weight).max())))
    ours, others = (translated(each, caption_ids(each), 1) for each in (bundle, whole))
    assert sum(one.ids == other.ids for one, other in zip(ours, others, strict=True)) > 0.9 * len(ours)


def test_int8_stays_as_it_is(marian: Path, tmp_path: Path, record_property: Any) -> None:
    folder = converted(marian, tmp_path / "ct2", quantization="int8")
    bundle = import_ctranslate2(folder, ("en", "de"))
    write_bundle(tmp_path / "int8", bundle, "int8")
    for name, weight in load_bundle(tmp_path / "int8").weights.items():
        assert np.allclose(weight, bundle.weights[name], 1e-5, 1e-7), name
    theirs = Theirs(folder, ends=["</s>"]).translate(caption_ids(bundle), 1)
    ours = translated(bundle, caption_ids(bundle), 1)
    assert sum([*one.ids] == other for one, other in zip(ours, theirs, strict=True)) > 0.9 * len(ours)


@pytest.mark.parametrize("family", ["m2m", "nllb"])
def test_models_of_many_languages_are_theirs(family: Any, tmp_path: Path) -> None:
    folder = write_m2m_folder(tmp_path / "model", family)
    tokens = list(json.loads((folder / "special_tokens_map.json").read_text())["additional_special_tokens"])
    size = json.loads((folder / "config.json").read_text())["vocab_size"]
    own = [*json.loads((folder / "vocab.json").read_text())] if family == "m2m" else None
    model = transformers.M2M100ForConditionalGeneration.from_pretrained(folder)
    output = tmp_path / "ct2"
    write_m2m_as_ct2(model, folder, output, tokens, size, own)
    bundle = import_ctranslate2(output)
    ours = bundle.tokenizers
    assert ours.config.tags == "both"
    source, target = ("eng_Latn", "deu_Latn") if family == "nllb" else ("__en__", "__de__")
    theirs = Theirs(output, ends=["</s>"], starts=[target])
    first, then = theirs.source.index(source), theirs.target.index(target)
    sources = [[first, *ids] for ids in sources_of(bundle)]
    require_equal(bundle, theirs, sources, prefix=(then,))
    assert ours.source.encode(">>en<< A man.")[0] == first
    assert ours.start_ids("de") == (then,)


@pytest.mark.parametrize("has_end", [False, True])
def test_models_of_opennmt_are_theirs(has_end: bool, tmp_path: Path) -> None:
    """Nothing ends a source of theirs, except where a setting of the model says so."""
    folder = opennmt_folder(tmp_path, has_end=has_end)
    bundle = import_ctranslate2(folder, ("en", "de"))
    assert bundle.tokenizers.source.special_ids.has_end == has_end
    write_bundle(tmp_path / "bundle", bundle)
    bundle = load_bundle(tmp_path / "bundle")
    sources = [bundle.tokenizers.source.encode(text) for text in captions(600)[0][400:]]
    require_equal(bundle, Theirs(folder), sources, fewest=0.9)
    if not has_end:  # the engine has a way for single sentences, which must not add a mark
        single = [translated(bundle, [source], 1)[0].ids for source in sources[:20]]
        assert single == [one.ids for one in translated(bundle, sources[:20], 1)]
    export_ctranslate2("model", tmp_path / "again", "float32", (), bundle)
    assert Theirs(tmp_path / "again").translate(sources[:50], 1) == Theirs(folder).translate(sources[:50], 1)


def opennmt_folder(place: Path, *, has_end: bool) -> Path:
    """A folder that CTranslate2's converter makes of a file of OpenNMT-py's: a model that has learned captions."""
    texts = captions(400)
    output = io.BytesIO()
    SentencePieceTrainer.train(
        sentence_iterator=(line for lines in texts for line in lines), model_writer=output, vocab_size=65, minloglevel=2
    )
    content = output.getvalue()
    table = ["<unk>", "<blank>", "<s>", "</s>", *reversed(SentencePieces(content).pieces[3:])]
    config = TokenizerConfig(kind="unigram", joint=False)
    sides = [
        _opennmt_tokenizer(side, content, table, has_end=has_end or side.index == 1)
        for side in sides_of(config, (("en", "de"),))
    ]
    tokenizers = Tokenizers(*sides, config, (("en", "de"),))
    shape = {"d_model": 32, "d_ff": 64, "n_heads": 4, "norm": "pre", "tie": "none"}
    model = tiny_model(tokenizers, n_encoder_layers=2, n_decoder_layers=2, max_length=60, **shape)
    pairs = [(sides[0].encode(one), sides[1].encode(other)) for one, other in zip(*texts, strict=True)]
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    model.train()
    for step in range(120):
        chosen = [pairs[(step * 32 + number) % len(pairs)] for number in range(32)]
        batch = collate([pair[0] for pair in chosen], [pair[1] for pair in chosen], tokenizers.special_ids)
        logits = model(batch.source_ids, batch.target_ids[:, :-1])
        loss = torch.nn.functional.cross_entropy(
            logits.flatten(0, 1), batch.target_ids[:, 1:].flatten(), ignore_index=1
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    torch.save(opennmt_checkpoint(weights_of(model.eval()), table), place / "model.pt")
    folder = Path(OpenNMTPyConverter(str(place / "model.pt"), unsafe_deserialization=True).convert(str(place / "ct2")))
    (folder / "sentencepiece.model").write_bytes(content)
    settings = json.loads((folder / "config.json").read_text()) | {"add_source_eos": has_end}
    (folder / "config.json").write_text(json.dumps(settings))
    return folder


def _opennmt_tokenizer(side: Side, content: bytes, table: list[str], *, has_end: bool) -> Tokenizer:
    ids = SpecialIds(pad=1, unknown=0, start=2, end=3 if has_end else 1)
    words = [f"{id} {word}" if id < 4 else word for id, word in enumerate(table) if id not in ids.names]
    return side.tokenizer(Learned(content, Vocabulary(words, ids), ids))


def opennmt_checkpoint(weights: Any, table: list[str]) -> dict[str, Any]:
    """Our weights by OpenNMT-py's names."""
    parts = {
        "query_projection": "linear_query",
        "key_projection": "linear_keys",
        "value_projection": "linear_values",
        "output_projection": "final_linear",
        "feed_forward.inner": "feed_forward.w_1",
        "feed_forward.outer": "feed_forward.w_2",
        "feed_forward_residual.norm": "feed_forward.layer_norm",
        "cross_attention": "context_attn",
        "self_attention": "self_attn",
        "attention_residual.norm": "layer_norm",
        "self_residual.norm": "layer_norm_1",
        "cross_residual.norm": "layer_norm_2",
        "encoder_layers": "encoder.transformer",
        "decoder_layers": "decoder.transformer_layers",
        "encoder_norm": "encoder.layer_norm",
        "decoder_norm": "decoder.layer_norm",
    }
    named, generator = {}, {}
    for name, weight in weights.items():
        tensor = torch.from_numpy(weight)
        if name.startswith("output_projection"):
            generator[name.rpartition(".")[2]] = tensor
            continue
        if "embedding" in name:
            side = "encoder" if name.startswith("source") else "decoder"
            named[f"{side}.embeddings.make_embedding.emb_luts.0.weight"] = tensor
            continue
        for ours, theirs in parts.items():
            name = name.replace(ours, theirs)
        named[name] = tensor
    for side in ("encoder", "decoder"):
        sines = sinusoidal_table(range(5_000), 32, halves=False)
        named[f"{side}.embeddings.make_embedding.pe.pe"] = torch.from_numpy(sines)[:, None]
    options = {
        "encoder_type": "transformer",
        "decoder_type": "transformer",
        "position_encoding": True,
        "enc_layers": 2,
        "dec_layers": 2,
        "heads": 4,
    }
    return {
        "model": named,
        "generator": generator,
        "opt": argparse.Namespace(**options),
        "vocab": {"src": table, "tgt": table},
    }


def write_m2m_as_ct2(
    model: Any, folder: Path, output: Path, tokens: list[str], size: int, own: list[str] | None
) -> None:
    """Convert by CTranslate2's own code, with a tokenizer that has a table of pieces alone."""
    from ctranslate2.converters.transformers import M2M100Loader

    content = (folder / "sentencepiece.bpe.model").read_bytes()
    pieces = own or ["<s>", "<pad>", "</s>", "<unk>", *SentencePieces(content).pieces[3:]]
    table = [*pieces, *tokens]

    class Tokenizer:
        bos_token, eos_token, unk_token, unk_token_id = "<s>", "</s>", "<unk>", 3

        @property
        def special_tokens_map(self) -> dict[str, list[str]]:
            return {"additional_special_tokens": tokens}

        num_madeup_words = size - len(table)

        def get_vocab(self) -> dict[str, int]:
            return {piece: id for id, piece in enumerate(table)}

        def convert_ids_to_tokens(self, id: int) -> str:
            return table[id]

    with torch.no_grad():
        spec = M2M100Loader()(model, Tokenizer())
    spec.validate()
    spec.optimize()
    output.mkdir()
    spec.save(str(output))
    (output / "sentencepiece.bpe.model").write_bytes(content)


# -- Argos Translate ---------------------------------------------------------------------------------------------------

#: A Python with Argos Translate, which needs no Stanza here: each text is one sentence.
ARGOS = os.environ.get("DRAGOMAN_ARGOS", "")
PROGRAM = """
import sys, types
sys.modules.setdefault("stanza", types.ModuleType("stanza"))
import ctranslate2
from argostranslate import package, translate
package.install_from_path(sys.argv[1])
(installed,) = package.get_installed_packages()
class Whole:
    def split_sentences(self, text):
        return [text]
model = ctranslate2.Translator(str(installed.package_path / "model"), device="cpu")
for line in sys.stdin.read().splitlines():
    print(translate.apply_packaged_translation(installed, line, model, Whole())[0].value)
"""


@pytest.mark.skipif(not ARGOS, reason="pip install argostranslate elsewhere, and set DRAGOMAN_ARGOS to that Python")
def test_packages_of_argos_are_theirs(tmp_path: Path) -> None:
    """Its length penalty is a power of the length, and ours of (5 + length) / 6, so few translations may differ."""
    folder, package = opennmt_folder(tmp_path, has_end=False), tmp_path / "en_de.argosmodel"
    metadata = {"package_version": "1.0", "argos_version": "1.5", "from_code": "en", "to_code": "de"}
    with zipfile.ZipFile(package, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in folder.iterdir():
            name = path.name if path.suffix == ".model" else f"model/{path.name}"
            archive.write(path, f"translate-en_de-1_0/{name}")
        archive.writestr("translate-en_de-1_0/metadata.json", json.dumps(metadata))
    lines = captions(600)[0][400:]
    homes = {f"XDG_{kind}_HOME": str(tmp_path / "home") for kind in ("DATA", "CONFIG", "CACHE")}
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [ARGOS, "-c", PROGRAM, package], input="\n".join(lines), env=kept | homes, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    bundle = import_argos(package)
    found = Translator([bundle], bundle.tokenizers, compute=ComputeOptions("cpu")).translate(lines)
    assert sum(one.text == other for one, other in zip(found, done.stdout.splitlines(), strict=True)) >= 196
