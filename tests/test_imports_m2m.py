"""Models of M2M-100's kind: both sides begin with the tag of their language. tests/foreign has transformers."""

import json
import logging
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from m2m_folders import TOKENS, Family, write_m2m_folder
from safetensors.numpy import load_file, save_file
from tiny import PAIRS

from dragoman import Translator
from dragoman.bundle.bundle import Bundle, load_bundle, write_bundle
from dragoman.cli import program
from dragoman.data.overlap import training_overlap
from dragoman.data.prepared import open_prepared, validation_text
from dragoman.errors import BundleError, ConfigError
from dragoman.evaluation.evaluation import evaluate, vary_search
from dragoman.imports.hugging_face import import_hugging_face
from dragoman.machine.json_files import JSON_LIMIT, to_json
from dragoman.settings.tokenizer_config import TokenizerConfig
from dragoman.text.learning import learn_tokenizers
from dragoman.text.tags import MOST_NAMED, all_directions, require_directions
from dragoman.text.tokenizer_files import load_tokenizers
from dragoman.translator.directions import Directions

FAMILIES: list[Family] = ["m2m", "nllb"]
TEXT = "A man is riding a horse."


@pytest.fixture(scope="module", params=FAMILIES)
def bundle(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    folder = tmp_path_factory.mktemp("m2m") / "folder"
    return import_hugging_face(write_m2m_folder(folder, request.param))


@pytest.fixture(scope="module")
def model(bundle: Bundle, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("m2m") / "bundle"
    write_bundle(folder, bundle)
    return folder


def test_all_directions_are_there_by_the_codes_that_people_know(bundle: Bundle) -> None:
    languages = {language for direction in bundle.tokenizers.directions for language in direction}
    assert languages in ({"de", "en", "zh"}, {"de", "en", "zh-Hans", "zh-Hant"})
    assert len(bundle.tokenizers.directions) == len(languages) * (len(languages) - 1)


def test_each_text_begins_with_the_tag_of_its_language(bundle: Bundle, model: Path) -> None:
    tokenizers = load_bundle(model).tokenizers
    assert tokenizers.equals(bundle.tokenizers)
    tag, *rest = tokenizers.source.encode(f">>en<< {TEXT}")
    assert tokenizers.source.pieces([tag]) == [">>en<<"]
    assert rest == tokenizers.source.encode(TEXT)
    translation = Translator.load(model).translate(TEXT, source_lang="en", target_lang="de", max_length=9, plain=True)
    assert translation.tokens[0] == ">>de<<"
    assert ">>de<<" not in translation.text


@pytest.mark.torch
def test_a_score_is_that_of_a_translation_with_its_tag(bundle: Bundle, model: Path) -> None:
    import torch

    translator, tokenizers = Translator.load(model), bundle.tokenizers
    score = translator.score(TEXT, PAIRS[0][1], source_lang="en", target_lang="de")
    source = [*tokenizers.source.encode(f">>en<< {TEXT}"), 2]
    target = [*tokenizers.target.encode(f">>de<< {PAIRS[0][1]}"), 2]
    with torch.no_grad():
        logits = bundle.model(torch.tensor([source]), torch.tensor([[2, *target[:-1]]]))[0]
    expected = logits.log_softmax(-1)[range(len(target)), target]
    assert np.allclose(score.token_log_probs, expected.numpy(), atol=2e-2)  # the engine has 8 bits


def test_words_are_aligned_without_the_tag(model: Path) -> None:
    translator = Translator.load(model)
    one = translator.translate(TEXT, source_lang="en", target_lang="de", prefixes="Ein Mann", align=True, max_length=12)
    assert all(source < len(TEXT.split()) and target < len(one.text.split()) for source, target in one.alignment)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ([], "the model translates into several languages"),
        (["--target-lang", "de"], "the model reads several languages, and needs to know that of the text"),
        (["--source-lang", "en", "--target-lang", "xx"], "the model does not write 'xx'"),
    ],
)
def test_languages_are_asked_for(options: list[str], problem: str, model: Path, tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "text").write_text(TEXT)
    assert program.run(["translate", "-m", str(model), "-i", str(tmp_path / "text"), "-o", "-", *options]) == 2
    assert problem in capsys.readouterr().err


@pytest.mark.parametrize("languages", [["en"], ["en", "en"], ["en", 1], "en", ["en"] * 9_999, None])
def test_damaged_languages_are_refused(languages: object, model: Path, tmp_path: Path) -> None:
    copied = shutil.copytree(model, tmp_path / "copy") / "tokenizer"
    description = json.loads((copied / "tokenizer.json").read_text())
    (copied / "tokenizer.json").write_text(json.dumps({**description, "languages": languages}))
    with pytest.raises(BundleError):
        load_tokenizers(copied)


def test_each_language_has_a_tag(model: Path, tmp_path: Path) -> None:
    copied = shutil.copytree(model, tmp_path / "copy") / "tokenizer"
    description = json.loads((copied / "tokenizer.json").read_text())
    del description["languages"]
    for direction in (["fr", "en"], ["en", "fr"]):
        (copied / "tokenizer.json").write_text(json.dumps({**description, "directions": [direction]}))
        with pytest.raises(BundleError, match="no tag of its vocabulary is for the language 'fr'"):
            load_tokenizers(copied)


def test_a_tag_in_a_text_is_text(model: Path, caplog: pytest.LogCaptureFixture) -> None:
    tokenizers = load_bundle(model).tokenizers
    with caplog.at_level(logging.WARNING):
        tagged = Directions(tokenizers).tagged(f">>de<< {TEXT}", "en", "de")
    assert tagged.text == f">>de<< {TEXT}"
    (warning,) = [record.message for record in caplog.records]
    assert warning.startswith("the model takes no tag from a text, such as >>de<<, so it is read as text")


def test_200_languages_fit(model: Path) -> None:
    """The directions of NLLB-200 are told by its languages: 40,000 would not fit the file."""
    codes = [f"{first}{second}" for first in "abcdefghijklmno" for second in "abcdefghijklmn"]
    many = replace(load_bundle(model).tokenizers, directions=all_directions(codes))
    assert len(many.directions) > 40_000
    assert len(to_json(many._description())) < JSON_LIMIT


def test_as_many_directions_as_may_be_named_fit_the_file(model: Path) -> None:
    codes = [f"{a}{b}{c}-{d}xxx" for a in "abcdefg" for b in "abcdefgh" for c in "abcdefgh" for d in "abcdefghij"]
    named = tuple(("deu-Latn", code) for code in codes[:MOST_NAMED])
    require_directions(named)
    many = replace(load_bundle(model).tokenizers, directions=named)
    assert len(to_json(many._description())) < JSON_LIMIT
    with pytest.raises(ConfigError, match="has up to 4,000, or all between its languages"):
        require_directions([*named, ("deu-Latn", codes[-1])])


def test_embeddings_are_scaled_unless_the_folder_says_otherwise(tmp_path: Path) -> None:
    """As transformers' M2M100Config has it; that of Marian's models is the other way round."""
    folder = write_m2m_folder(tmp_path / "folder", "m2m")
    config = json.loads((folder / "config.json").read_text())
    for scale in (None, False, True):
        config["scale_embedding"] = scale
        kept = {name: value for name, value in config.items() if value is not None}
        (folder / "config.json").write_text(json.dumps(kept))
        assert import_hugging_face(folder).config.scale_embeddings is (scale is not False)


def test_languages_that_are_named_are_the_only_ones(tmp_path: Path) -> None:
    folder = write_m2m_folder(tmp_path / "folder", "nllb")
    assert import_hugging_face(folder, ("en", "zho_Hans")).tokenizers.directions == (("en", "zh-Hans"),)
    with pytest.raises(ConfigError, match="no language 'zh', or several; name one of de, en, zh-Hans, zh-Hant"):
        import_hugging_face(folder, ("en", "zh"))


@pytest.mark.parametrize("command", ["argos", "ct2", "hf", "onnx", "web"])
def test_what_has_no_such_tags_refuses_in_words(command: str, model: Path, tmp_path: Path, capsys: Any) -> None:
    assert program.run(["export", command, "-m", str(model), "-o", str(tmp_path / "out")]) == 2
    assert "tokenizer.tags=both" in capsys.readouterr().err


@pytest.mark.torch
@pytest.mark.parametrize("beam_size", [1, 3])
def test_attention_and_search_begin_with_the_tag(beam_size: int, model: Path) -> None:
    from dragoman.inspection import inspect_attention, inspect_search

    languages: Any = {"source_lang": "en", "target_lang": "de"}
    translator = Translator.load(model)
    tree = inspect_search(translator, TEXT, beam_size, **languages)
    assert tree.source_text == f">>en<< {TEXT}"
    expected = translator.translate(TEXT, plain=True, beam_size=beam_size, **languages)
    assert tree.target_text == expected.text
    assert tree.token(tree.best.path[0].id) == ">>de<<"
    attention = inspect_attention(translator, TEXT, PAIRS[0][1], **languages)
    assert (attention.source[0], attention.written[0], attention.read[1]) == (">>en<<", ">>de<<", ">>de<<")
    with pytest.raises(ConfigError, match="several languages"):
        inspect_attention(translator, TEXT)


@pytest.mark.torch
def test_heads_of_such_models_are_not_chosen(model: Path) -> None:
    from dragoman.inspection.head_choice import choose_heads

    with pytest.raises(ConfigError, match=r"tokenizer\.tags=both"):
        choose_heads(Translator.load(model), PAIRS, PAIRS)


def test_such_tokenizers_are_not_learned() -> None:
    with pytest.raises(ConfigError, match="imported models"):
        learn_tokenizers(lambda: iter(PAIRS), TokenizerConfig(tags="both"), "en", "de")


@pytest.mark.torch
def test_it_can_be_tuned_to_own_text(model: Path, tmp_path: Path) -> None:
    import torch

    from dragoman.training import speed

    for name, side in (("my.en", 0), ("my.de", 1)):
        (tmp_path / name).write_text("".join(f"{pair[side]}\n" for pair in PAIRS * 5))
    run = tmp_path / "run"
    settings = ["training.max_steps=4", "training.batch_tokens=200", "training.precision=float32"]
    options = [argument for setting in settings for argument in ("--set", setting)]
    texts = ["--source", str(tmp_path / "my.en"), "--target", str(tmp_path / "my.de")]
    assert program.run(["train", *texts, "--init-from", str(model), "-o", str(run), *options]) == 0
    tuned = Translator.load(run)
    assert tuned.translate(TEXT, source_lang="en", target_lang="de", max_length=9).tokens[0] == ">>de<<"
    metrics = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    samples = [sample for each in metrics for sample in each.get("samples", ())]
    assert samples
    assert ">>" not in json.dumps(samples)
    assert ">>" not in json.dumps(list(validation_text(run, ("en", "de"))))
    trainer: Any = SimpleNamespace(device=torch.device("cpu"), state=SimpleNamespace(model=load_bundle(run).model))
    assert speed._seconds_of_translations(trainer, open_prepared(run)) > 0
    learned = list(zip(*PAIRS, strict=True))
    overlap = training_overlap([run], *learned)
    assert overlap.n_pairs == overlap.n_sources > 0


@pytest.mark.torch
def test_it_is_evaluated_by_the_translations_that_people_get(
    model: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture, capsys: Any
) -> None:
    sources, references = zip(*PAIRS[:4], strict=True)
    options: Any = {"source_lang": "en", "target_lang": "de", "max_length": 9}
    translator = Translator.load(model)
    found = evaluate(translator, sources, references, **options)
    assert list(found.translations) == [each.text for each in translator.translate(list(sources), **options)]
    scores = [translator.score(*pair, source_lang="en", target_lang="de") for pair in PAIRS[:4]]
    total, n_tokens = sum(each.log_prob for each in scores), sum(len(each.tokens) for each in scores)
    assert found.perplexity == pytest.approx(np.exp(-total / n_tokens))
    assert (found.n_too_long, found.n_sentences) == (0, 4)
    ((bleu, *_),) = vary_search(translator, sources, references, [options])
    assert bleu == found.metrics[0]
    assert not caplog.records
    for name, lines in (("my.en", sources), ("my.de", references)):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    texts = ["--source", str(tmp_path / "my.en"), "--target", str(tmp_path / "my.de")]
    arguments = ["evaluate", "-m", str(model), *texts, "--source-lang", "en", "--target-lang", "de", "--json"]
    assert program.run(arguments) == 0
    assert "perplexity" in capsys.readouterr().out


# -- damaged folders ---------------------------------------------------------------------------------------------------


def with_a_language_twice(folder: Path) -> None:
    added = ["deu_Latn", "__de__", "eng_Latn", "__en__"]
    (folder / "special_tokens_map.json").write_text(json.dumps({"additional_special_tokens": added}))


def without_languages(folder: Path) -> None:
    (folder / "special_tokens_map.json").write_text("{}")


def with_languages_of_pieces(folder: Path) -> None:
    added = [{"content": token, "id": number} for number, token in enumerate(TOKENS["nllb"])]
    (folder / "tokenizer.json").write_text(json.dumps({"added_tokens": added}))


def with_other_first_ids(folder: Path) -> None:
    table = json.loads((folder / "vocab.json").read_text())
    (folder / "vocab.json").write_text(json.dumps({**table, "<s>": 3, "<unk>": 0}))


def without_pieces(folder: Path) -> None:
    (folder / "sentencepiece.bpe.model").write_bytes(b"nothing")


def with_small_vocabulary(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "vocab_size": 20}))


def with_many_positions(folder: Path) -> None:
    """No file has their vectors, so its size bounds nothing."""
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "max_position_embeddings": 1_000_000}))


def with_many_languages(folder: Path) -> None:
    added = [f"{a}{b}{c}_Latn" for a in "abcdefgh" for b in "abcdefgh" for c in "abcdefgh"]
    config = json.loads((folder / "config.json").read_text())
    (folder / "special_tokens_map.json").write_text(json.dumps({"additional_special_tokens": added}))
    enlarge(folder, config["vocab_size"] + len(added))


def with_unused_ids(folder: Path) -> None:
    enlarge(folder, 5_000)


def with_an_empty_piece(folder: Path) -> None:
    table = json.loads((folder / "vocab.json").read_text())
    (folder / "vocab.json").write_text(json.dumps({"" if id == 9 else piece: id for piece, id in table.items()}))


def enlarge(folder: Path, size: int) -> None:
    """Give the model more token vectors."""
    config, weights = json.loads((folder / "config.json").read_text()), load_file(folder / "model.safetensors")
    weights["model.shared.weight"] = np.zeros((size, config["d_model"]), np.float32)
    save_file(weights, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps({**config, "vocab_size": size}))


@pytest.mark.parametrize(
    ("family", "change", "problem"),
    [
        ("nllb", with_many_languages, "it has 512 languages"),
        ("nllb", with_unused_ids, "ids have no piece"),
        ("m2m", with_an_empty_piece, "a word is not a string, or empty"),
        ("nllb", with_many_positions, "dragoman has no such model"),
        ("nllb", with_a_language_twice, "two of its tokens are for one language"),
        ("nllb", without_languages, "lists its languages"),
        ("nllb", with_languages_of_pieces, "ids of pieces, or outside the model"),
        ("m2m", with_other_first_ids, "the first ids are not <s> <pad> </s> <unk>"),
        ("m2m", without_pieces, "SentencePiece cannot read it"),
        ("m2m", with_small_vocabulary, "not those of its config.json"),
    ],
)
def test_a_damaged_folder_is_refused(family: Family, change: Any, problem: str, tmp_path: Path) -> None:
    folder = write_m2m_folder(tmp_path / "folder", family)
    change(folder)
    with pytest.raises(BundleError, match=problem):
        import_hugging_face(folder)
