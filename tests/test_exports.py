"""Exports to other programs, without these: what is refused, what is compared. tests/foreign runs the programs."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load
from shapes import HF_REFUSED, settings_in_the_way, shaped_bundle
from tiny import many_tokenizers, tiny_bundle, tiny_tokenizers

from dragoman.bundle.bundle import write_bundle
from dragoman.cli import program
from dragoman.cli.export import compared_lines
from dragoman.errors import ConfigError, DataError, install_advice
from dragoman.exchange import hugging_face_folder
from dragoman.exchange.agreement import N_SENTENCES, compare, made_up_sources
from dragoman.exchange.hugging_face_folder import export_hugging_face, folder_files
from dragoman.exchange.hugging_face_weights import stock_obstacles
from dragoman.exchange.obstacles import (
    Obstacle,
    argos_obstacles,
    ctranslate2_obstacles,
    load_without,
    onnx_obstacles,
)
from dragoman.exchange.piece_names import never_written, piece_names
from dragoman.exchange.tokenizer_json import tokenizer_json, tokenizer_problem
from dragoman.settings.search_config import SearchConfig
from dragoman.text.segmenter import Characters
from dragoman.text.special_ids import SpecialIds
from dragoman.text.tokenizer import Tokenizer, Tokenizers
from dragoman.text.vocabulary import Vocabulary
from dragoman.translator import SearchJob, Translator
from dragoman.translator.models import ComputeOptions

USUAL = ("<s>", "<pad>", "<unk>", "</s>")


def test_a_recurrent_decoder_is_refused_by_its_setting() -> None:
    bundle = tiny_bundle(tiny_tokenizers(), decoder_layer="ssru")
    for obstacles in (ctranslate2_obstacles, argos_obstacles, onnx_obstacles, stock_obstacles):
        found = [each for each in obstacles(bundle) if each.value == "ssru"]
        assert [(each.setting, each.instead) for each in found] == [("model.decoder_layer", "attention")]


def test_all_obstacles_are_told_at_once(tmp_path: Path) -> None:
    my = tmp_path / "my"
    write_bundle(my, tiny_bundle(many_tokenizers()))
    obstacles = [
        Obstacle("model.memory", "layerwise", "there is one memory", "last"),
        Obstacle("model.bias", False, "every map has one", True),
        Obstacle("tokenizer.kind", "words", "it has no SentencePiece model"),
    ]
    with pytest.raises(ConfigError) as caught:
        load_without(my, lambda _: obstacles, "Abacus")
    head, *lines = str(caught.value).splitlines()
    assert head.startswith(
        f"Abacus cannot hold this model: {my}; train one that fits with dragoman train --portable, or"
    )
    assert head.endswith("from this one with dragoman distill --portable")
    assert [line.strip() for line in lines] == [
        "model.memory=layerwise: there is one memory (--set model.memory=last)",
        "model.bias=false: every map has one (--set model.bias=true)",
        "tokenizer.kind=words: it has no SentencePiece model",
    ]
    with pytest.raises(ConfigError, match="export another model"):
        load_without(my, lambda _: obstacles[2:], "Abacus")
    assert load_without(my, lambda _: [], "Abacus").config.max_length


def test_reserved_pieces_and_marks_are_never_written() -> None:
    tokenizers = many_tokenizers(reserved=2)
    names = tokenizers.target.pieces(never_written(tokenizers))
    assert names == ["<pad>", "<sos>", "⟨1⟩", "⟨2⟩"]


@given(st.sets(st.sampled_from(["<s>", "<s>_", "</s>", "<unk>", "a", "b"])), st.booleans())
def test_each_id_has_a_name_of_its_own(words: set[str], starts_with_pad: bool) -> None:
    ids = SpecialIds(pad=0, unknown=1, start=0, end=2) if starts_with_pad else SpecialIds()
    side = Tokenizer(Characters(), Vocabulary(sorted(words), ids))
    config = tiny_tokenizers("characters").config
    names = piece_names(Tokenizers(side, side, config, (("en", "de"),)), USUAL)
    assert len({*names.target}) == side.vocab_size
    assert words <= {*names.target}
    assert [names.target[id] for id in (ids.start, ids.pad, ids.unknown, ids.end)] == [
        names.start,
        names.pad,
        names.unknown,
        names.end,
    ]


def test_made_up_sentences_have_ordinary_pieces_only() -> None:
    tokenizer = many_tokenizers(reserved=2).source
    sources = list(made_up_sources(tokenizer, 12, ">>zh<<"))
    assert sources == list(made_up_sources(tokenizer, 12, ">>zh<<"))
    assert len(sources) == N_SENTENCES
    assert {len(source) for source in sources} == set(range(2, 13))
    for source in sources:
        first, *pieces = tokenizer.pieces(source)
        assert first == ">>zh<<"
        assert not {*pieces} & {"<pad>", "<unk>", "<sos>", "<eos>", ">>de<<", ">>en<<", ">>zh<<", "⟨1⟩", "⟨2⟩"}


def test_equal_translations_are_counted() -> None:
    bundle = tiny_bundle(many_tokenizers(), max_length=30)
    translator = Translator([bundle], bundle.tokenizers, compute=ComputeOptions("cpu"))
    seen = []

    def translate(sources: list[list[int]], limit: int) -> list[list[int]]:
        seen.extend(sources)
        config = SearchConfig(beam_size=1, max_length=limit)
        beams = translator.pipeline.search([SearchJob(source, (), config) for source in sources])
        ours = [list(beam[0].hypothesis.ids) for beam in beams]
        return [
            [ids[0] - 1] if number == 1 else ids[: limit - 2] for number, ids in enumerate(ours)
        ]  # an end is forced

    agreement = compare(bundle, translate, ["A man.", "She is reading.", "", ">>zh<< The cat sat."])
    assert [bundle.tokenizers.source.pieces(source[:1]) for source in seen] == [[">>de<<"]] * 3 + [[">>zh<<"]]
    assert (agreement.n_equal, agreement.n_sentences) == (3, 4)
    assert str(compare(bundle, lambda sources, limit: [[] for _ in sources])) == "0 of 200"


def test_what_differs_is_told_by_its_reason() -> None:
    bundle = tiny_bundle(tiny_tokenizers())
    translator = Translator([bundle], bundle.tokenizers, compute=ComputeOptions("cpu", short_list=False))
    config = SearchConfig(beam_size=1, max_length=min(bundle.config.max_length, 100))

    def translate(sources: Any, limit: int) -> list[list[int]]:
        jobs = [SearchJob(source, (), config, never_written(bundle.tokenizers)) for source in sources]
        found = [list(each[0].hypothesis.ids) for each in translator.pipeline.search(jobs)]
        return [[ids[0] - 1] if row == 1 else ids for row, ids in enumerate(found)]

    lines = ["A man is riding a horse.", "A dog runs.", "A cat."]
    (difference,) = (agreement := compare(bundle, translate, lines)).differences
    assert str(agreement) == "2 of 3"
    assert not difference.is_tie
    assert agreement.others().startswith(
        "of the others, 0 by a tie of scores (at most 0.001 apart), 1 by other scores; "
    )
    assert difference.theirs in agreement.others()
    same = {name: np.zeros_like(weight) for name, weight in bundle.weights.items()}
    (tie, *_) = compare(replace(bundle, weights=same), lambda sources, _: [[9]] * len(sources), lines).differences
    assert tie.is_tie  # a model of zeros finds all tokens equally probable


def test_a_text_without_lines_is_nothing_to_compare(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("\n \n")
    assert compared_lines(None) == []
    with pytest.raises(DataError, match=r"no lines to compare translations of: .*empty\.txt"):
        compared_lines(tmp_path / "empty.txt")


def test_shapes_are_what_their_names_say() -> None:
    assert shaped_bundle("pre, no final norm").config.has_final_norm is False
    assert shaped_bundle("two vocabularies").config.tie == "none"
    assert shaped_bundle("many languages").tokenizers.is_tagged


def test_an_export_names_the_package_that_it_needs(tmp_path: Path) -> None:
    from test_packages import run_without

    code, said = run_without("ctranslate2", "export", "ct2", "-m", "everyday", "-o", tmp_path / "new")
    assert code == 1
    assert said == f"error: export ct2 needs CTranslate2; {install_advice('ctranslate2')}\n"
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(("command", "program"), [("ct2", "CTranslate2"), ("argos", "Argos Translate")])
def test_obstacles_are_told_before_a_missing_package(command: str, program: str, tmp_path: Path) -> None:
    from test_packages import run_without

    write_bundle(tmp_path / "bundle", tiny_bundle(many_tokenizers(), norm_kind="std"))
    output = tmp_path / ("new" if command == "ct2" else "new.argosmodel")
    code, said = run_without("ctranslate2", "export", command, "-m", tmp_path / "bundle", "-o", output)
    assert code == 2
    assert said.startswith(f"error: {program} cannot hold this model: {tmp_path / 'bundle'}; train one that fits")
    assert "model.norm_kind=std" in said
    assert "pip install" not in said
    assert not output.exists()


# -- Hugging Face ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", HF_REFUSED)
def test_a_shape_without_a_stock_class_is_refused(shape: str, tmp_path: Path) -> None:
    write_bundle(tmp_path / "bundle", shaped_bundle(shape))
    with pytest.raises(ConfigError, match="Marian or Pegasus cannot hold this model") as caught:
        export_hugging_face(tmp_path / "bundle", tmp_path / "hf")
    assert settings_in_the_way(caught) == HF_REFUSED[shape]
    assert not (tmp_path / "hf").exists()


def test_other_tokenizers_are_refused(tmp_path: Path) -> None:
    write_bundle(tmp_path / "characters", tiny_bundle(tiny_tokenizers("characters"), positions="rotary"))
    with pytest.raises(ConfigError, match=r"(?s)model\.positions=rotary.*tokenizer\.kind=characters"):
        export_hugging_face(tmp_path / "characters", tmp_path / "hf")


def test_sines_in_turn_are_halves_in_another_order() -> None:
    bundle = shaped_bundle("post")
    halves = shaped_bundle("post, sines first")
    order = [*range(0, 16, 2), *range(1, 16, 2)]
    files, other = (load(folder_files(each)["model.safetensors"]) for each in (bundle, halves))
    assert files.keys() == other.keys()
    for name, weight in files.items():
        expected = other[name]
        if name.endswith("embed_positions.weight"):
            assert np.array_equal(weight, expected)
        elif name.endswith(("norm.weight", "norm.bias", "out_proj.weight", "out_proj.bias", "fc2.weight", "fc2.bias")):
            assert np.array_equal(weight, expected[order])
        elif weight.ndim == 2 and weight.shape[1] == 16:
            assert np.array_equal(weight, expected[:, order])
        else:
            assert np.array_equal(weight, expected)


def test_a_folder_for_transformers_says_what_it_holds() -> None:
    bundle = shaped_bundle("many languages")
    files = folder_files(bundle)
    config, search, tokenizer = (
        json.loads(files[name]) for name in ("config.json", "generation_config.json", "tokenizer_config.json")
    )
    assert (config["model_type"], config["forced_eos_token_id"]) == ("pegasus", None)
    assert search["bad_words_ids"] == [[id] for id in never_written(bundle.tokenizers)]
    assert tokenizer["tokenizer_class"] == "MarianTokenizer"
    assert json.loads(files["vocab.json"])[">>zh<<"] == bundle.tokenizers.source.encode(">>zh<<")[0]
    assert json.loads(folder_files(shaped_bundle("post"))["config.json"])["model_type"] == "marian"
    assert "target_vocab.json" in folder_files(shaped_bundle("two vocabularies, output tied"))


def test_without_transformers_nothing_is_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setattr(hugging_face_folder, "find_spec", lambda name: None)
    write_bundle(tmp_path / "bundle", shaped_bundle("pre"))
    assert program.run(["export", "hf", "-m", str(tmp_path / "bundle"), "-o", str(tmp_path / "hf")]) == 0
    assert "transformers is not installed, so no translations were compared" in capsys.readouterr().err
    assert (tmp_path / "hf" / "model.safetensors").exists()


# -- tokenizer.json ----------------------------------------------------------------------------------------------------


def test_merges_make_every_piece_that_has_parts() -> None:
    tokenizers = many_tokenizers(reserved=2)
    content = tokenizer_json(tokenizers)
    vocabulary, merges = content["model"]["vocab"], [merge.split(" ") for merge in content["model"]["merges"]]
    made = {first + second for first, second in merges}
    assert {part for merge in merges for part in merge} <= vocabulary.keys()
    assert made <= vocabulary.keys()
    added = {token["content"] for token in content["added_tokens"]}
    assert {"<s>", "</s>", "<pad>", "<unk>", ">>de<<", ">>en<<", ">>zh<<", "⟨1⟩", "⟨2⟩"} == added
    for piece in vocabulary.keys() - added:
        assert len(piece) == 1 or piece in made or piece.startswith("<0x")


@pytest.mark.parametrize(
    ("shape", "problem"), [("pre", None), ("two vocabularies", "each side has a vocabulary of its own")]
)
def test_two_vocabularies_have_no_tokenizer_json(shape: str, problem: str | None) -> None:
    assert tokenizer_problem(shaped_bundle(shape).tokenizers) == problem
