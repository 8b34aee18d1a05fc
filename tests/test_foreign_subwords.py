"""SentencePiece models from elsewhere: any numbering, normalisation, language tags, and Marian's two models."""

from __future__ import annotations

import io
import json
import pickle
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
from hypothesis import given
from hypothesis import strategies as st
from runs import settings, write_rows
from tiny import PAIRS, tiny_model

from dragoman.bundle.bundle import load_bundle, save_bundle
from dragoman.errors import BundleError
from dragoman.settings.recipe import read_recipe
from dragoman.settings.search_config import SearchConfig
from dragoman.settings.tokenizer_config import TokenizerConfig
from dragoman.text.sentence_pieces import SentencePieces
from dragoman.text.special_ids import SpecialIdPair, SpecialIds
from dragoman.text.subword import Subword
from dragoman.text.tokenizer import Tokenizers
from dragoman.text.tokenizer_files import load_tokenizers
from dragoman.text.vocabulary import Vocabulary
from dragoman.training.run import train
from dragoman.translator import Request, Translator

pytestmark = pytest.mark.torch

Processor = sentencepiece.SentencePieceProcessor
TEXTS = [text for pair in PAIRS for text in pair]
STRANGE = [
    "",
    " two  spaces ",
    "½ … ﬁ Ａ „Zitat“",
    "☃☃ é 猫 ☃",
    "<s> </s> <unk> <pad> <0x41>",
    ">>de<< a man",
    "a >>de<<",
]
NUMBERINGS: dict[str, dict[str, Any]] = {
    "SentencePiece's own": {},
    "T5's": {"pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1},
    "with tags": {"user_defined_symbols": [">>de<<", ">>fr<<"]},
    "unknown last": {"unk_id": 7, "bos_id": 5, "eos_id": 6, "pad_id": 4},
    "neither start nor end": {"bos_id": -1, "eos_id": -1},
    "over words": {"split_by_whitespace": False, "remove_extra_whitespaces": False},
}
USUAL_NAMES = {"bos_piece": "<sos>", "eos_piece": "<eos>"}


def learn_foreign(texts: list[str] = TEXTS, **options: Any) -> bytes:
    model = io.BytesIO()
    chosen = {"model_type": "unigram", "vocab_size": 100, "hard_vocab_limit": False, "minloglevel": 2, **options}
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(texts * 3), model_writer=model, **chosen)
    return model.getvalue()


def processor_of(model: bytes) -> Processor:
    processor = Processor()
    processor.LoadFromSerializedProto(model)
    return processor


@pytest.mark.parametrize("name", NUMBERINGS)
@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_a_model_of_any_numbering_reads_and_writes_as_sentencepiece_does(kind: str, name: str, tmp_path: Path) -> None:
    size = {"vocab_size": 90} if kind == "bpe" else {}
    model = learn_foreign(model_type=kind, **size, **NUMBERINGS[name])
    processor, tokenizer = processor_of(model), Subword(SentencePieces(model), "unigram")
    special_ids = tokenizer.special_ids
    known = {
        special_ids.unknown: processor.unk_id(),
        special_ids.end: processor.eos_id(),
        special_ids.pad: processor.pad_id(),
    }
    assert all(given in (id, -1) for id, given in known.items())
    assert set(tokenizer.pieces(range(tokenizer.vocab_size))) >= {"<pad>", "<unk>", "<eos>"}
    assert tokenizer.segmenter.cuts_words == (name != "over words")
    for text in [*TEXTS, *STRANGE]:
        assert tokenizer.encode(text) == processor.encode(text)
        assert tokenizer.split(text) == processor.encode(text, out_type=str)
        assert tokenizer.decode(processor.encode(text)) == " ".join(processor.decode(processor.encode(text)).split())
        assert not special_ids.marks & set(tokenizer.encode(text))
    config = TokenizerConfig.model_validate({"kind": kind, "joint": True})
    Tokenizers(tokenizer, tokenizer, config, (("en", "de"),)).save(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["joint.model", "tokenizer.json"]
    loaded = load_tokenizers(tmp_path)
    assert loaded.source.special_ids == special_ids
    for text in [*TEXTS, *STRANGE]:
        assert (
            loaded.source.encode(text)
            == pickle.loads(pickle.dumps(loaded)).source.encode(text)
            == processor.encode(text)
        )


@given(text=st.text(st.sampled_from("aenr .½…☃é>"), max_size=20))
def test_words_are_cut_as_sentencepiece_cuts_the_text(text: str) -> None:
    assert MARIAN.source.split(text) == SOURCE.encode(text, out_type=str)
    assert MARIAN.source.encode(text) == [VOCAB.get(piece, 1) for piece in SOURCE.encode(text, out_type=str)]


# -- Marian: one SentencePiece model for each side, and one table of ids for both ------------------------------------


def marian_table(source: Processor, target: Processor) -> dict[str, int]:
    """What `vocab.json` has: the end, the unknown token, the pieces of both models, a tag, padding last."""
    pieces = sorted({each.id_to_piece(id) for each in (source, target) for id in range(3, each.get_piece_size())})
    names = ["</s>", "<unk>", *pieces, ">>de<<", "<pad>"]
    return {name: id for id, name in enumerate(names)}


def marian_tokenizers(models: tuple[bytes, bytes], table: dict[str, int]) -> Tokenizers:
    special_ids = SpecialIds(pad=table["<pad>"], unknown=1, start=table["<pad>"], end=0)
    vocabulary = Vocabulary.from_ids(table, special_ids)
    source, target = (Subword(SentencePieces(model), "unigram", vocabulary=vocabulary) for model in models)
    return Tokenizers(source, target, TokenizerConfig(kind="unigram", joint=False), (("en", "de"),))


MODELS = (
    learn_foreign([source for source, _ in PAIRS], vocab_size=60),
    learn_foreign([target for _, target in PAIRS], vocab_size=60),
)
SOURCE, TARGET = map(processor_of, MODELS)
VOCAB = marian_table(SOURCE, TARGET)
MARIAN = marian_tokenizers(MODELS, VOCAB)


def test_marians_models_read_and_write_as_sentencepiece_and_their_table() -> None:
    names = {id: name for name, id in VOCAB.items()}
    for text in [*TEXTS, "½ … test", "☃☃ é", "zwei  Hunde "]:
        for tokenizer, processor in ((MARIAN.source, SOURCE), (MARIAN.target, TARGET)):
            pieces = processor.encode(text, out_type=str)
            ids = [VOCAB.get(piece, VOCAB["<unk>"]) for piece in pieces]
            assert (tokenizer.encode(text), tokenizer.split(text)) == (ids, pieces)
            written = processor.decode_pieces([names[id] for id in ids])
            assert tokenizer.decode([VOCAB["<pad>"], *ids, 0, VOCAB["<pad>"]]) == " ".join(written.split())
    assert astuple(MARIAN.source.special_ids) == (len(VOCAB) - 1, 1, len(VOCAB) - 1, 0)


def test_a_tag_that_only_the_table_has_is_read_at_the_beginning() -> None:
    encode = MARIAN.source.encode
    assert encode(">>de<< A man") == [VOCAB[">>de<<"], *encode("A man")]
    assert MARIAN.source.split(">>de<< A man")[0] == ">>de<<"
    assert VOCAB[">>de<<"] not in encode("A >>de<< man")
    assert MARIAN.source.lowercasing().encode(">>de<< A MAN") == [VOCAB[">>de<<"], *encode("a man")]


def test_every_segment_of_a_text_has_its_tag() -> None:
    translator = Translator([tiny_model(MARIAN, max_length=64, tie="decoder")], MARIAN)
    encode = MARIAN.source.encode
    request = Request(" >>de<< A man rides. She reads.", sentences=True, align=True)
    plan = translator.pipeline.plan([request, Request(">>de<<"), Request("A >>de<< man.")])
    assert [job.ids for job in plan.jobs] == [
        encode(">>de<< A man rides."),
        encode(">>de<< She reads."),
        encode("A >>de<< man."),
    ]
    (links,) = (each.alignment or () for each in translator.pipeline.translate([request]))
    assert links
    assert all(1 <= source <= 5 for source, _ in links)  # word 0 is the tag
    limits = [len(job.ids) for job in translator.pipeline.plan([Request(">>de<< " + "A man. " * 99)]).jobs]
    assert max(limits) <= 63 < sum(limits)


def test_marians_tokenizers_are_saved_and_damage_is_noticed(tmp_path: Path) -> None:
    MARIAN.save(tmp_path)
    loaded = load_tokenizers(tmp_path, (len(VOCAB), len(VOCAB)))
    assert loaded.fingerprint() == MARIAN.fingerprint()
    assert loaded.equals(MARIAN)
    assert loaded.special_ids == MARIAN.special_ids
    for text in TEXTS:
        assert loaded.source.encode(f">>de<< {text}") == MARIAN.source.encode(f">>de<< {text}")
    (tmp_path / "target.json").write_text('{"words": ["a"]}')
    with pytest.raises(BundleError, match="special id"):
        load_tokenizers(tmp_path)
    (tmp_path / "target.json").unlink()
    with pytest.raises(BundleError, match=r"file not found.*target\.json"):
        load_tokenizers(tmp_path)


def test_one_side_may_have_a_table_and_the_other_none(tmp_path: Path) -> None:
    tokenizers = replace(MARIAN, target=Subword(SentencePieces(MODELS[1]), "unigram"))
    assert_saved(tokenizers, tmp_path)


def test_a_table_with_the_usual_special_ids_is_saved(tmp_path: Path) -> None:
    model = SentencePieces(learn_foreign(pad_id=0, unk_id=1, bos_id=2, eos_id=3, **USUAL_NAMES))
    words = model.vocabulary().words[::-1]
    tokenizer = Subword(model, "unigram", vocabulary=Vocabulary(words))
    assert_saved(Tokenizers(tokenizer, tokenizer, TokenizerConfig(kind="unigram"), (("en", "de"),)), tmp_path)


def assert_saved(tokenizers: Tokenizers, folder: Path) -> None:
    tokenizers.save(folder)
    loaded = load_tokenizers(folder)
    assert loaded.fingerprint() == tokenizers.fingerprint()
    assert loaded.equals(tokenizers)
    for text in TEXTS:
        assert loaded.source.encode(text) == tokenizers.source.encode(text)
        assert loaded.target.encode(text) == tokenizers.target.encode(text)


def test_a_table_with_gaps_is_refused() -> None:
    with pytest.raises(ValueError, match="not 0, 1, 2"):
        Vocabulary.from_ids({"a": 0, "b": 2}, SpecialIds())


def test_ordinary_pieces_are_no_special_ids(tmp_path: Path) -> None:
    model = learn_foreign()
    with pytest.raises(ValueError, match="not all special"):
        Subword(SentencePieces(model), "unigram", special_ids=SpecialIds(pad=9, unknown=0, start=1, end=2))
    tokenizer = Subword(SentencePieces(model), "unigram")
    Tokenizers(tokenizer, tokenizer, TokenizerConfig(kind="unigram"), (("en", "de"),)).save(tmp_path)
    description = json.loads((tmp_path / "tokenizer.json").read_text())
    description["special_ids"]["source"]["end"] = 9
    (tmp_path / "tokenizer.json").write_text(json.dumps(description))
    with pytest.raises(BundleError, match="not all special"):
        load_tokenizers(tmp_path)


@pytest.mark.parametrize("name", ["Marian's", "T5's", "over words"])
def test_a_model_with_foreign_subwords_trains_and_translates(name: str, tmp_path: Path) -> None:
    corpus = write_rows(tmp_path)
    rows = [(corpus / file).read_text().splitlines() for file in ("rows.low", "rows.up")]
    options = NUMBERINGS.get(name, {})
    models = tuple(learn_foreign(texts, vocab_size=30, **options) for texts in rows)
    if name == "Marian's":
        source, target = map(processor_of, models)
        tokenizers = marian_tokenizers((models[0], models[1]), marian_table(source, target))
    else:
        sides = [Subword(SentencePieces(model), "unigram") for model in models]
        tokenizers = Tokenizers(*sides, TokenizerConfig(kind="unigram", joint=False), (("en", "de"),))
    model = tiny_model(tokenizers, max_length=64, tie="decoder", d_model=32, d_ff=64)
    save_bundle(tmp_path / "start", model, tokenizers, SearchConfig(beam_size=2), facts={})
    recipe = {
        "data": settings(corpus)["data"],
        "training": settings(corpus, max_steps=60, lr=0.02, validate_every=60, save_every=60)["training"],
    }
    train(recipe, tmp_path / "run", init_from=tmp_path / "start", device="cpu")
    assert read_recipe(tmp_path / "run" / "config.yaml")["tokenizer"]["joint"] is False
    bundle = load_bundle(tmp_path / "run")
    assert bundle.tokenizers.special_ids == tokenizers.special_ids != SpecialIdPair()
    translator = Translator.load(tmp_path / "run", device="cpu")
    found = translator.translate(rows[0][:20], align=True)
    assert {letter for each in found for letter in each.text} <= set(" ABCDEFGH")
    assert all(each.text for each in found)
