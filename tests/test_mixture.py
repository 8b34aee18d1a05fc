"""Several corpora in one training: what a recipe may say, what is trained on, and that it resumes to the same bits."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from runs import assert_same_training, captured_log, logged
from test_prepare import sample, texts

from dragoman.cli.training_settings import default_folder
from dragoman.data.mixture import describe_epoch, directions, part_weights, planned_text
from dragoman.data.prepare import prepare
from dragoman.data.prepared import Prepared, open_prepared, validation_text
from dragoman.data.slots import Slots
from dragoman.data.store import Part
from dragoman.errors import ConfigError, DataError
from dragoman.settings.config import Config
from dragoman.settings.data_config import DataConfig
from dragoman.settings.parsing import parse_config
from dragoman.settings.recipe import override_settings, read_recipe, to_yaml
from dragoman.training import train
from dragoman.training.checkpoint import saved_steps
from dragoman.training.resolve import fill

pytestmark = pytest.mark.torch

EN_DE: dict[str, Any] = {"source": "a.en", "target": "a.de", "source_lang": "en", "target_lang": "de"}
Pairs = list[tuple[str, str]]


def write(folder: Path, name: str, languages: tuple[str, str], pairs: Pairs, **settings: Any) -> dict[str, Any]:
    """Write a corpus, and return its entry in a recipe."""
    folder.mkdir(exist_ok=True)
    entry: dict[str, Any] = {"name": name, "source_lang": languages[0], "target_lang": languages[1], **settings}
    for side, key in enumerate(("source", "target")):
        entry[key] = str(folder / f"{name}.{languages[side]}")
        Path(entry[key]).write_text("".join(f"{pair[side]}\n" for pair in pairs), encoding="utf-8")
    return entry


def with_validation(entry: dict[str, Any], pairs: Pairs) -> dict[str, Any]:
    """Write validation text for a corpus, and return the entry with it."""
    given = {f"validation_{side}": f"{entry[side]}.val" for side in ("source", "target")}
    for index, path in enumerate(given.values()):
        Path(path).write_text("".join(f"{pair[index]}\n" for pair in pairs), encoding="utf-8")
    return {**entry, **given}


def config(*corpora: dict[str, Any], **data: Any) -> Config:
    return parse_config({"data": {"corpora": list(corpora), "validation_size": 12, **data}})


def parts(prepared: Prepared, split: str = "train") -> dict[tuple[str, str], Pairs]:
    """The pairs of each part, by corpus and direction."""
    store = {"train": prepared.train, "validation": prepared.validation}[split]
    pairs = iter(texts(store))
    return {(part.name, part.direction): [next(pairs) for _ in range(part.n_pairs)] for part in store.parts}


# -- recipes -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ({"source": "x", "target": "y"}, "corpora have texts of their own; source belongs into one of them"),
        ({"corpus": "multi30k"}, "corpus belongs into one of them"),
        ({"source_lang": "en"}, "source_lang belongs into one of them"),
        ({"test_pairs": "x.tsv"}, "corpora have texts of their own; test_pairs has no place beside them"),
        ({"corpora": [{**EN_DE, "name": "a"}, {**EN_DE, "name": "a"}]}, "two corpora have the name 'a'"),
        (
            {"corpora": [{**EN_DE, "weight": -1}]},
            "data.corpora, entry 1, weight: input should be greater than or equal to 0",
        ),
        ({"corpora": [{**EN_DE, "weight": 0}]}, "all corpora have the weight 0"),
        ({"corpora": [{**EN_DE, "weight": 3}], "temperature": 5}, "give either it or the weights"),
        (
            {"corpora": [{**EN_DE, "pairs": "x"}]},
            "data.corpora, entry 1: give only one of: corpus, source and target, pairs",
        ),
        ({"corpora": [{"source": "x"}]}, "source and target belong together; give both"),
        ({"corpora": [{}]}, "a corpus needs source and target, or pairs, or corpus"),
        ({"corpora": [{**EN_DE, "target_lang": "en"}]}, "source_lang and target_lang are both 'en'"),
        ({"corpora": [{**EN_DE, "target_lang": "German"}]}, "'German' is no language code"),
        ({"corpora": [{**EN_DE, "columns": "1,2"}]}, "columns has no effect without a file of pairs"),
        ({"corpora": [{**EN_DE, "name": "a.b"}]}, "'a.b' cannot be the name of a corpus"),
        ({"corpora": [{**EN_DE, "tag": "a b"}]}, "'a b' cannot be the name of a tag"),
        ({"corpora": [{**EN_DE, "tag": "bt", "both_ways": True}]}, "a tag is for one direction"),
        ({"corpora": [{**EN_DE, "sorce": "x"}]}, "did you mean 'data.corpora, entry 1, source'"),
        ({"corpora": "x"}, "data.corpora: input should be a list, got 'x'"),
        (
            {"corpora": ["x"]},
            "data.corpora, entry 1: input should be settings with names, such as {name: value}, got 'x'",
        ),
        ({"corpora": [], "temperature": 5}, "temperature has no effect without corpora"),
    ],
)
def test_contradictions_are_one_line_each(data: dict[str, Any], problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_config({"data": {"corpora": [EN_DE], **data}})
    lines = str(caught.value).splitlines()
    assert sum(problem in line for line in lines) == 1
    assert len(lines) == (2 if data.keys() >= {"source", "target"} else 1)


def test_names(tmp_path: Path) -> None:
    corpora = [EN_DE, EN_DE, {"corpus": "multi30k"}, {"pairs": "x/my text.tsv"}, {**EN_DE, "name": "en-de-2"}]
    data = parse_config({"data": {"corpora": corpora}}).data
    assert [name for name, _ in data.each()] == ["en-de", "en-de-3", "multi30k", "my-text-tsv", "en-de-2"]
    assert [one.corpora for _, one in data.each()] == [()] * 5
    assert [name for name, _ in DataConfig(corpus="multi30k").each()] == [""]


@pytest.mark.parametrize(
    ("entry", "name"),
    [
        ({"source": "de/train.de", "target": "de/train.en.gz"}, "de-en"),
        ({"source": "a.en.txt", "target": "a.zh_Hans", "target_lang": "zh"}, "en-zh"),
        ({"source": "a.en", "target": "a.zh_Hans.xz"}, "en-zh_Hans"),
        ({"source": "talks.txt", "target": "a.de"}, "talks-txt"),
        ({"source": "de", "target": "en"}, "de"),
        ({"pairs": "my.en-de.tsv"}, "my-en-de-tsv"),
    ],
)
def test_a_corpus_without_a_name_has_that_of_its_languages_if_files_say_them(entry: dict[str, str], name: str) -> None:
    assert [each for each, _ in parse_config({"data": {"corpora": [entry]}}).data.each()] == [name]


def test_a_recipe_is_saved_and_read_again_and_its_temperature_can_be_set(tmp_path: Path) -> None:
    before = parse_config({"data": {"corpora": [{**EN_DE, "both_ways": True}]}})
    (tmp_path / "recipe.yaml").write_text(to_yaml(before))
    settings = read_recipe(tmp_path / "recipe.yaml")
    assert parse_config(settings) == before
    override_settings(settings, ["data.temperature=5"])
    assert parse_config(settings).data.temperature == 5


def test_languages_must_be_known(tmp_path: Path) -> None:
    entry = write(tmp_path, "a", ("en", "de"), sample())
    del entry["source_lang"], entry["target_lang"]
    assert directions(config(entry).data) == (("en", "de"),)  # by the names of the files
    for key in ("source", "target"):
        entry[key] = str(shutil.copy(entry[key], tmp_path / f"{key}.txt"))
    with pytest.raises(ConfigError, match="the languages of the corpus a are not known") as caught:
        prepare(config(entry), tmp_path / "run")
    assert "source_lang" in str(caught.value)


def test_the_usual_folder_has_the_languages() -> None:
    french = {**EN_DE, "target_lang": "fr", "both_ways": True}
    assert default_folder({"data": {"corpora": [EN_DE, french]}}) == Path("runs/mixed-en-de-fr")


# -- preparation -------------------------------------------------------------------------------------------------


def test_nothing_is_held_out_of_tagged_text_if_other_text_has_its_direction(tmp_path: Path) -> None:
    own, written = write(tmp_path, "own", ("en", "de"), sample()), sample(50, seed=2)
    back = write(tmp_path, "back", ("en", "de"), written, tag="bt")
    for number, corpora in enumerate([(own, back), (back, own)]):
        with captured_log() as lines:
            prepared = prepare(config(*corpora), tmp_path / str(number))
        validation = parts(prepared, "validation")
        assert list(validation) == [("own", "en-de")]
        assert not any(source.startswith(">>bt<<") for source, _ in validation["own", "en-de"])
        left = [source.removeprefix(">>bt<< ") for source, _ in parts(prepared)["back", "en-de"]]
        apart = {sentence for pair in validation["own", "en-de"] for sentence in pair}
        assert left == [source for source, target in written if not {source, target} & apart]
        assert len([line for line in lines if line.startswith("back")]) == 1
    only_tagged = prepare(config(back, write(tmp_path, "other", ("de", "en"), sample(seed=3))), tmp_path / "only")
    assert list(parts(only_tagged, "validation")) == [("back", "en-de"), ("other", "de-en")]
    given = prepare(config(own, with_validation(back, sample(9, seed=4)[3:])), tmp_path / "given")
    assert list(parts(given, "validation")) == [("own", "en-de"), ("back", "en-de")]


def test_nothing_is_held_out_if_other_text_of_the_direction_has_validation_text(tmp_path: Path) -> None:
    own, given = write(tmp_path, "own", ("de", "en"), sample()), write(tmp_path, "given", ("en", "de"), sample(seed=3))
    given = with_validation({**given, "both_ways": True}, sample(9, seed=4)[3:])
    prepared = prepare(config(own, given), tmp_path / "run")
    assert {name for name, _ in parts(prepared, "validation")} == {"given"}
    assert len(parts(prepared)["own", "de-en"]) > 0


def test_a_tag_that_is_a_language_is_refused(tmp_path: Path) -> None:
    entries = [write(tmp_path, name, ("en", "de"), sample(), **tag) for name, tag in (("a", {}), ("b", {"tag": "de"}))]
    with pytest.raises(ConfigError, match="the tag of the corpus b is that of a language, 'de'"):
        prepare(config(*entries), tmp_path / "run")


def test_parts_have_their_pairs_with_tags(tmp_path: Path) -> None:
    german, french = sample(60, seed=1), sample(50, seed=2)
    mixture = config(
        write(tmp_path, "a", ("en", "de"), german, both_ways=True), write(tmp_path, "b", ("en", "fr"), french)
    )
    with captured_log() as lines:
        prepared = prepare(mixture, tmp_path / "run")
    train, validation = parts(prepared), parts(prepared, "validation")
    assert list(train) == list(validation) == [("a", "en-de"), ("a", "de-en"), ("b", "en-fr")]
    assert [len(pairs) for pairs in validation.values()] == [6, 6, 5]  # validation_size shared; a tenth of b is less
    assert all(source.startswith(">>de<< ") for source, _ in train["a", "en-de"])
    assert all(source.startswith(">>en<< ") for source, _ in validation["a", "de-en"])
    forwards = [(source.removeprefix(">>de<< "), target) for source, target in train["a", "en-de"]]
    assert [(target, source.removeprefix(">>en<< ")) for source, target in train["a", "de-en"]] == forwards
    assert set(forwards) <= set(german)
    assert prepared.tokenizers.directions == (("en", "de"), ("de", "en"), ("en", "fr"))
    tag = prepared.tokenizers.source.encode(">>de<<")
    assert len(tag) == 1
    assert all(prepared.train.source_ids(index)[0] == tag[0] for index in range(len(forwards)))
    assert any(line.startswith("a, de to en: kept 5") for line in lines)
    reversed_text = list(validation_text(tmp_path / "run", ("de", "en")))
    assert reversed_text == validation["a", "de-en"]
    with pytest.raises(ConfigError, match="no validation text is from fr to en"):
        validation_text(tmp_path / "run", ("fr", "en"))


def test_one_target_language_needs_no_tag_but_a_kind_of_text_has_its_own(tmp_path: Path) -> None:
    plain = write(tmp_path, "a", ("en", "de"), sample(60, seed=1))
    translated = write(tmp_path, "b", ("en", "de"), sample(50, seed=2), tag="bt")
    prepared = prepare(config(plain, translated), tmp_path / "run")
    train = parts(prepared)
    assert not any(">>" in source for source, _ in train["a", "en-de"])
    assert all(source.startswith(">>bt<< ") and ">>de<<" not in source for source, _ in train["b", "en-de"])
    assert prepared.tokenizers.languages == ("en", "de")
    assert len(prepared.tokenizers.source.encode(">>bt<<")) == 1


@pytest.mark.parametrize("is_given", [False, True])
def test_no_validation_sentence_is_trained_on_in_either_direction(tmp_path: Path, is_given: bool) -> None:
    """Sources with several targets, targets with several sources, sides that swap, in two corpora of one pair."""
    draw = np.random.default_rng(5)

    def pairs(seed: int) -> Pairs:
        numbers = np.random.default_rng(seed).integers(0, 60, (300, 2)).tolist()
        return [(f"It is number {a}.", f"Es ist Nummer {b}.") for a, b in numbers]

    first = write(tmp_path, "a", ("en", "de"), pairs(1), both_ways=True)
    second = write(tmp_path, "b", ("de", "en"), [pair[::-1] for pair in pairs(2)])
    other = write(tmp_path, "c", ("en", "fr"), pairs(3))
    if is_given:
        first = with_validation(first, [pairs(4)[int(draw.integers(300))] for _ in range(6)])
    prepared = prepare(config(first, second, other), tmp_path / "run")

    def sentences(split: str, names: str) -> list[str]:
        plain = [
            (source.split("<< ")[-1], target)
            for (name, _), found in parts(prepared, split).items()
            for source, target in found
            if name in names
        ]
        return [side for pair in plain for side in pair]

    held_apart = set(sentences("validation", "ab"))
    assert len(held_apart) > 6
    trained = sentences("train", "ab")
    assert len(trained) > 200
    assert held_apart.isdisjoint(trained)
    assert not held_apart.isdisjoint(sentences("train", "c"))  # another pair of languages is another text


def test_preparing_again_opens_it_unless_a_text_has_changed(tmp_path: Path) -> None:
    first, second = (write(tmp_path, name, ("en", lang), sample()) for name, lang in (("a", "de"), ("b", "fr")))
    before = prepare(config(first, second), tmp_path / "run").fingerprints
    assert prepare(config(first, {**second, "weight": 0.5}), tmp_path / "run").fingerprints == before
    for changed in ({"both_ways": True}, {"tag": "bt"}):
        with pytest.raises(ConfigError, match="prepared from something else") as caught:
            prepare(config(first, {**second, **changed}), tmp_path / "run")
        assert any("data.corpora.b." in line for line in str(caught.value).splitlines())
    Path(second["target"]).write_text("x\n" * 60)
    with pytest.raises(ConfigError, match="prepared from something else") as caught:
        prepare(config(first, second), tmp_path / "run")
    assert any("SHA-256 of b train target" in line for line in str(caught.value).splitlines())


def test_a_corpus_without_pairs_is_named(tmp_path: Path) -> None:
    empty = write(tmp_path, "b", ("en", "fr"), [("", "x")] * 5)
    with pytest.raises(DataError, match="none of 5 pairs can be used") as caught:
        prepare(config(write(tmp_path, "a", ("en", "de"), sample()), empty), tmp_path / "run")
    assert "b.en" in str(caught.value)


def test_one_text_is_prepared_without_parts(tmp_path: Path) -> None:
    entry = write(tmp_path, "a", ("en", "de"), sample())
    del entry["name"]
    prepared = prepare(parse_config({"data": entry}), tmp_path / "run")
    made_from = json.loads((tmp_path / "run" / "data" / "MANIFEST.json").read_text())["made_from"]
    assert not [key for key in made_from if "corpora" in key or key == "data.temperature"]
    assert prepared.train.parts == ()


# -- weights -----------------------------------------------------------------------------------------------------


def test_weights_of_parts() -> None:
    corpora = [{**EN_DE, "name": "a", "weight": 0.5}, {**EN_DE, "name": "b", "both_ways": True}]
    data = parse_config({"data": {"corpora": corpora}}).data
    stored = [Part("a", "en", "de", 10), Part("b", "en", "de", 5), Part("b", "de", "en", 5)]
    assert part_weights(data, stored) == (0.5, 1.0, 1.0)
    assert part_weights(DataConfig(corpus="multi30k"), []) == ()


def test_temperature_weighs_by_size() -> None:
    data = parse_config({"data": {"corpora": [{**EN_DE, "name": name} for name in "ab"], "temperature": 2}}).data
    stored = [Part("a", "en", "de", 10_000), Part("b", "en", "de", 100)]
    large, small = part_weights(data, stored)
    assert large * 10_000 + small * 100 == pytest.approx(10_100)
    assert large * 10_000 / (small * 100) == pytest.approx(10)  # the root of their sizes


def test_no_temperature_repeats_a_tiny_corpus_without_end() -> None:
    data = parse_config({"data": {"corpora": [{**EN_DE, "name": name} for name in "ab"], "temperature": 100}}).data
    large, small = part_weights(data, [Part("a", "en", "de", 3_000_000), Part("b", "en", "de", 20)])
    assert small == 1000
    costs = np.full(300 + 20, 5, np.int32)
    _, copies = Slots(costs, [300, 20], (large, small), seed=1).filling(0)
    assert copies.max() == 999


def test_a_line_counts_the_pairs_of_an_epoch() -> None:
    corpora = [{**EN_DE, "weight": 0.5}, {**EN_DE, "name": "b", "both_ways": True}]
    stored = [Part("en-de", "en", "de", 2500), Part("b", "en", "de", 5), Part("b", "de", "en", 4)]
    plain = parse_config({"data": {"corpora": corpora}}).data
    assert describe_epoch(plain, stored) == ["an epoch has 1,259 pairs: en-de 1,250, b (en-de) 5, b (de-en) 4"]
    slots = Slots(np.full(2509, 5, np.int32), [2500, 5, 4], part_weights(plain, stored), seed=1)
    assert len(slots.filling(0)[0]) == 1259
    assert describe_epoch(DataConfig(corpus="multi30k"), []) == []


def test_preparing_tells_the_pairs_of_an_epoch(tmp_path: Path) -> None:
    german = write(tmp_path, "a", ("en", "de"), sample(60), weight=3)
    with captured_log() as lines:
        prepared = prepare(config(with_validation(german, sample(5, seed=2))), tmp_path / "run")
    assert f"an epoch has {3 * prepared.train.parts[0].n_pairs} pairs" in lines[-1]


def test_the_plan_counts_the_pairs_of_an_epoch(tmp_path: Path) -> None:
    german = write(tmp_path, "a", ("en", "de"), sample(60), both_ways=True, weight=0.5)
    french = write(tmp_path, "b", ("en", "fr"), sample(50, seed=2), weight=3)
    n_pairs, text = planned_text(config(german, french).data)
    assert n_pairs == 2 * 30 + 150
    assert list(text)[:4] == [pair for pairs in zip(sample(60), sample(50, seed=2), strict=False) for pair in pairs][:4]
    assert len(list(text)) == 110


def test_one_vocabulary_for_several_directions(tmp_path: Path) -> None:
    chinese = write(tmp_path, "a", ("zh", "en"), [("你好", "hello"), ("再见", "bye")] * 20, both_ways=True)
    settings = {"data": {"corpora": [chinese]}}
    assert fill(settings)[0].tokenizer.joint is True
    with pytest.raises(ConfigError, match=r"tokenizer\.joint=false forbids"):
        fill({**settings, "tokenizer": {"joint": False}})
    (one,) = [{**chinese, "both_ways": False}]
    assert fill({"data": {"corpora": [one]}})[0].tokenizer.joint is False


# -- training ----------------------------------------------------------------------------------------------------


def mixed_run(folder: Path) -> dict[str, Any]:
    """Settings of a small mixture."""
    german = write(folder, "a", ("en", "de"), sample(120, seed=1), both_ways=True, weight=0.5)
    french = write(folder, "b", ("en", "fr"), sample(80, seed=2), weight=1.5)
    return {
        "data": {
            "corpora": [german, french],
            "validation_size": 8,
        },
        "tokenizer": {"vocab_size": 330, "sampling": 0.2},
        "model": {"d_model": 16, "d_ff": 32, "n_heads": 2, "n_encoder_layers": 1, "n_decoder_layers": 1},
        "training": {
            "batch_tokens": 600,
            "max_epochs": 4,
            "warmup_steps": 5,
            "precision": "float32",
            "save_every": 3,
            "log_every": 1,
        },
    }


def test_a_mixture_is_validated_by_direction_and_resumes_to_the_same_bits(tmp_path: Path) -> None:
    settings = mixed_run(tmp_path / "text")
    whole = tmp_path / "whole"
    with captured_log() as lines:
        train(settings, whole, device="cpu")
    records = [json.loads(line) for line in (whole / "metrics.jsonl").read_text().splitlines()]
    validations = [record for record in records if "validation_bleu" in record]
    for record in validations:
        by_direction = [record[f"validation_bleu_{name}"] for name in ("en-de", "de-en", "en-fr")]
        assert record["validation_bleu"] == pytest.approx(np.mean(by_direction))
    assert any(line.startswith("BLEU of en-de") for line in lines)
    epochs = logged(whole, "epoch")
    ends = [step for step, epoch in epochs.items() if epoch == int(epoch)]
    assert [record["step"] for record in validations] == ends
    assert len(ends) == 4
    for stop in (ends[0] + 1, ends[2] + 1):
        run = tmp_path / f"stopped-{stop}"
        train({**settings, "training": {**settings["training"], "max_steps": stop}}, run, device="cpu")
        assert saved_steps(run / "checkpoints")[-1] == stop
        train(settings, run, device="cpu")
        assert_same_training(whole, run)


def test_a_run_goes_on_where_its_text_was_moved_but_not_with_other_weights(tmp_path: Path) -> None:
    settings = mixed_run(tmp_path / "text")
    settings["training"] |= {"max_epochs": None, "max_steps": 2}
    train(settings, tmp_path / "run", device="cpu")
    settings["training"]["max_steps"] = 4
    moved = json.loads(json.dumps(settings).replace(str(tmp_path / "text"), str(tmp_path / "moved")))
    shutil.move(tmp_path / "text", tmp_path / "moved")
    train(moved, tmp_path / "run", device="cpu")
    moved["data"]["corpora"][0]["weight"] = 2.0
    with pytest.raises(ConfigError, match="other settings") as caught:
        train(moved, tmp_path / "run", device="cpu")
    assert any(
        line.strip().startswith("data.corpora, entry 1, weight: 0.5 (then), 2.0 (now)")
        for line in str(caught.value).splitlines()
    )
    del moved["data"]["corpora"][0]["weight"]
    with pytest.raises(ConfigError, match="other settings"):
        train(moved, tmp_path / "run", device="cpu")


def test_a_model_of_several_languages_is_tuned_on_one_text(tmp_path: Path) -> None:
    settings = mixed_run(tmp_path / "text")
    short = {**settings["training"], "max_epochs": None, "max_steps": 2}
    train({**settings, "training": short}, tmp_path / "run", device="cpu")
    one = write(tmp_path / "text", "c", ("de", "en"), sample(60, seed=3))
    text = {key: value for key, value in one.items() if key != "name"}
    start = {"init_from": tmp_path / "run", "device": "cpu"}
    train({"data": text, "training": short}, tmp_path / "tuned", **start)
    tuned = open_prepared(tmp_path / "tuned")
    assert [part.direction for part in tuned.train.parts] == ["de-en"]
    assert all(source.startswith(">>en<< ") for source, _ in texts(tuned.train))
    assert tuned.tokenizers.directions == (("en", "de"), ("de", "en"), ("en", "fr"))
    new = {**text, "target_lang": "fr"}
    with captured_log() as lines:
        train({"data": new, "training": short}, tmp_path / "new", **start)
    assert "warning: the model of --init-from has not learned de-fr yet" in lines
    assert ("de", "fr") in open_prepared(tmp_path / "new").tokenizers.directions
    with pytest.raises(ConfigError, match="translates into de, en, fr, not into es"):
        train({"data": {**text, "target_lang": "es"}, "training": short}, tmp_path / "other", **start)
    with pytest.raises(ConfigError, match="has no tag >>bt<<"):
        train({"data": {"corpora": [{**one, "tag": "bt"}]}, "training": short}, tmp_path / "other", **start)


def test_a_model_of_one_direction_is_tuned_on_a_mixture_of_its_target(tmp_path: Path) -> None:
    settings = mixed_run(tmp_path / "text")
    short = {**settings["training"], "max_epochs": None, "max_steps": 2}
    german, french = settings["data"].pop("corpora")
    first = {key: german[key] for key in ("source", "target", "source_lang", "target_lang")}
    settings["tokenizer"]["joint"] = False
    train({**settings, "data": first, "training": short}, tmp_path / "run", device="cpu")
    start = {"init_from": tmp_path / "run", "device": "cpu"}
    more = write(tmp_path / "text", "d", ("fr", "de"), sample(60, seed=4))
    train({"data": {"corpora": [{**german, "both_ways": False}, more]}, "training": short}, tmp_path / "tuned", **start)
    assert open_prepared(tmp_path / "tuned").tokenizers.directions == (("en", "de"), ("fr", "de"))
    saved = read_recipe(tmp_path / "tuned" / "config.yaml")
    assert saved["tokenizer"]["joint"] is False  # which a new model of two directions may not ask for
    train({**saved, "training": {**saved["training"], "max_steps": 3}}, tmp_path / "tuned", device="cpu")
    assert saved_steps(tmp_path / "tuned" / "checkpoints")[-1] == 3
    with pytest.raises(ConfigError, match="translates into de, not into en"):
        train({"data": {"corpora": [german, french]}, "training": short}, tmp_path / "other", **start)
