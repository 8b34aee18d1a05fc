"""Configuration: every mistake is found, all at once, with a word on how to mend it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.errors import ConfigError
from dragoman.settings.config import Config
from dragoman.settings.data_config import DataConfig
from dragoman.settings.description import describe_settings
from dragoman.settings.model_config import ModelConfig, ModelShape
from dragoman.settings.parsing import check_request, check_settings, parse_config
from dragoman.settings.presets import PRESETS
from dragoman.settings.recipe import read_recipe, to_yaml
from dragoman.settings.search_config import SearchConfig
from dragoman.settings.sections import MOST_PROBLEMS, parse_section
from dragoman.settings.training_config import TrainingConfig


def settings(*overrides: str) -> Config:
    return parse_config(read_recipe(None, overrides))


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["model.tie=all", "tokenizer.joint=false"], "tie 'all' needs one joint vocabulary"),
        (["model.tie=all", "tokenizer.kind=words"], "tie 'all' needs one joint vocabulary"),
        (["tokenizer.kind=words", "tokenizer.vocab_size=9000"], "vocab_size is for bpe and unigram; with words"),
        (["tokenizer.kind=characters", "tokenizer.sampling=0.1"], "sampling is for bpe and unigram"),
        (["tokenizer.kind=words", "tokenizer.byte_fallback=false"], "byte_fallback is for bpe and unigram"),
        (["tokenizer.kind=words", "tokenizer.split_digits=true"], "split_digits is for bpe and unigram, not for words"),
        (["tokenizer.kind=characters", "tokenizer.reserved=8"], "reserved is for bpe and unigram, not for characters"),
        (["tokenizer.kind=unigram", "tokenizer.min_count=5"], "min_count is for words .* with unigram, vocab_size"),
        (["training.r_drop=1.0", "model.dropout=0.0"], "r_drop compares two passes .*; set model.dropout"),
    ],
)
def test_what_does_nothing_or_harm_is_refused_to_those_who_begin(overrides: list[str], message: str) -> None:
    """But the model that a fine-tuning starts from may have it."""
    with pytest.raises(ConfigError, match=message):
        check_request(read_recipe(None, overrides))
    settings(*overrides)


@pytest.mark.parametrize(
    "overrides",
    [
        ["tokenizer.min_count=1", "tokenizer.byte_fallback=false"],
        ["tokenizer.kind=words", "tokenizer.min_count=5", "tokenizer.byte_fallback=true"],
        ["training.r_drop=1.0"],
        ["training.r_drop=1.0", "model.dropout=0.0", "model.embedding_dropout=0.1"],
        ["training.r_drop=1.0", "model.dropout=0.0", "model.attention_dropout=0.1"],
        ["search.temperature=0.5"],  # what `translate --sample` then has
    ],
)
def test_what_does_something_is_accepted_from_those_who_begin(overrides: list[str]) -> None:
    check_request(read_recipe(None, overrides))


def test_what_is_given_is_nobodys_mistake_but_what_is_asked_for_is() -> None:
    vain = {"model": {"dropout": 0.0}, "tokenizer": {"min_count": 5}}
    check_request({"training": {"max_steps": 9}}, inherited=vain)
    check_request({"tokenizer": {"min_count": None}}, inherited=vain)
    for settings in ({"training": {"r_drop": 1.0}}, {"tokenizer": {"min_count": 5}}):
        with pytest.raises(ConfigError, match=r"r_drop compares|min_count is for words"):
            check_request(settings, inherited=vain)


def test_some_sizes_are_judged_beside_those_that_will_be_chosen() -> None:
    check_settings(read_recipe(None, ["model.d_model=100"]))  # 4 heads, not 8
    with pytest.raises(ConfigError, match="d_model 128 does not divide into 6 heads"):
        check_settings(read_recipe(None, ["model.n_heads=6"]))


def test_norwegian_is_a_language() -> None:
    assert settings("data.target_lang=no").data.target_lang == "no"
    assert [settings(f"model.bias={value}").model.bias for value in ("true", "False")] == [True, False]


def test_a_preset_ties_what_can_be_tied() -> None:
    assert settings("model.preset=tiny").model.tie == "all"
    assert settings("model.preset=tiny", "tokenizer.kind=words", "tokenizer.joint=true").model.tie == "all"
    for separate in ("tokenizer.joint=false", "tokenizer.kind=words"):
        assert settings("model.preset=tiny", separate).model.tie == "decoder"
        assert settings("model.preset=tiny", separate, "model.tie=none").model.tie == "none"


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["model.d_modle=256"], r"unknown key 'model.d_modle' \(did you mean 'model.d_model'\?\)"),
        (["modle.d_model=256"], r"unknown key 'modle' \(did you mean 'model'\?\)"),
        (["model.d_model='512'"], r"model.d_model: .*integer, got '512'"),
        (["model.n_heads=true"], "model.n_heads: .*integer, got True"),
        (["training.max_steps=1.0"], "training.max_steps: .*integer, got 1.0"),
        (["model.d_model=null"], "model.d_model: .*integer, got None"),
        (["model.d_model=[1]"], "model.d_model: .*integer"),
        (["model.d_model=100", "model.n_heads=3"], "does not divide into 3 heads; set it to 96 or 102"),
        (["model.d_model=1", "model.n_heads=1"], "even d_model; set it to 2$"),
        (["model.d_model=3", "model.n_heads=8"], "does not divide into 8 heads; set it to 8$"),
        (["model.d_model=33", "model.n_heads=3", "model.d_k=8", "model.d_v=8"], "even d_model; set it to 32 or 34"),
        (["model.d_model=20", "model.n_heads=4", "model.positions=rotary"], "even width, not 5; set d_k to 4 or 6"),
        (["model.d_model=4", "model.n_heads=4", "model.positions=rotary"], "even width, not 1; set d_k to 2$"),
        (["model.d_model=36", "model.n_heads=4", "model.positions=rotary"], "even width, not 9; set d_k to 8 or 10"),
        (["model.d_model=15", "model.n_heads=5"], "even d_model; set it to 10 or 20"),
        (["model.memory=layerwise", "model.n_encoder_layers=2"], "as many encoder as decoder layers"),
        (["model.dropout=1.0"], "model.dropout: .*less than 1"),
        (["model.dropout=.nan"], "model.dropout: .*finite"),
        (["training.lr=.inf"], "training.lr: .*finite"),
        (["training.label_smoothing=1.0"], "training.label_smoothing"),
        (["search.beam_size=0"], "search.beam_size"),
        (["search.n_best=6"], "n_best 6 is more than beam_size 5"),
        (["search.min_length=9", "search.max_length=3"], "min_length 9 is more than max_length 3"),
        (["model.n_encoder_layers=" + "9" * 300], "model.n_encoder_layers"),
        (["model.n_encoder_layers=" + "9" * 5000], "the value is not readable; quote it"),
        (["model.n_encoder_layers=-1"], "model.n_encoder_layers: .*greater than or equal to 1, got -1"),
        (["training.lr=1e400"], "training.lr: .*finite"),
        (["training.lr=2001-13-45"], "the value is not readable; quote it"),
        (["model=" + "[" * 5000], "the value is not readable; quote it"),
        (["training.lr=1", "training.lr.peak=1"], "'lr' is not a section"),
        (["=1"], "not of the form key=value"),
        (["model.n_encoder_layers='" + "x" * 100 + "'"], r"got 'x{56}\.\.\.$"),
        (["model.n_encoder_layers='" + "x" * 58 + "'"], r"got 'x{58}'$"),
        (["data.source=a", "data.target=b", "data.corpus=c"], "give only one of"),
        (["data.source=a", "data.target=b", "data.pairs=c"], "give only one of"),
        (["data.target_lang=Deutsch"], "'Deutsch' is no language code"),
        (["data.validation_target=a.en"], "validation_source and validation_target belong together"),
        (["data.max_length=9", "model.max_length=9"], "data.max_length 9 must be less than model.max_length 9"),
        (["search.n_best=3", "search.beam_size=2"], "n_best 3 is more than beam_size 2"),
        (["data=3"], "data: .*, got 3"),
        (["data.source=a.en"], "source and target belong together"),
        (["data.corpus=captions", "data.pairs=x.tsv"], "give only one of"),
        (["model.preset=huge"], "unknown preset 'huge'; choose one of tiny"),
        (["model.preset=[]"], r"unknown preset \[\]"),
        (["data.max_length=512"], "data.max_length 512 must be less than model.max_length 512"),
        (["data.test_source=a.en"], "test_source and test_target belong together"),
        (["training.lr"], "not of the form key=value"),
        (
            ["data.validation_pairs=a.tsv", "data.validation_source=a", "data.validation_target=b"],
            "give only one of: val",
        ),
        (["model.bias=no"], "model.bias: .*boolean, got 'no'"),
    ],
)
def test_mistakes_are_told(overrides: list[str], message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        settings(*overrides)
    assert caught.value.exit_code == 2


#: Settings, the one or two that each is about, and what is said of them.
INVALID = [
    (["model.d_modle=1"], "unknown key 'model.d_modle'"),
    (["model.dropout=2"], "model.dropout: input should be less than 1, got 2"),
    (["training.lr=-1"], "training.lr: input should be greater than 0"),
    (["training.adam_betas=[0.1, 2]"], "training.adam_betas, entry 2: input should be less than 1"),
    (["nonsense=1"], "unknown key 'nonsense'"),
    (["model.preset=huge"], "unknown preset 'huge'"),
]
CONTRADICTIONS = [
    (["model.d_model=100", "model.n_heads=3"], "model: d_model 100 does not divide into 3 heads"),
    (["model.memory=layerwise", "model.n_encoder_layers=2"], "model: layerwise memory needs as many"),
    (["search.beam_size=1", "search.n_best=2"], "search: n_best 2 is more than beam_size 1"),
    (["search.min_length=9", "search.max_length=3"], "search: min_length 9 is more than max_length 3"),
    (["data.source=a"], "data: source and target belong together"),
    (["data.target_lang=Deutsch"], "data: 'Deutsch' is no language code"),
]
MISTAKES = st.sampled_from([INVALID, CONTRADICTIONS]).flatmap(
    lambda kind: st.lists(st.sampled_from(kind), min_size=1, unique_by=lambda mistake: mistake[1])
)


@given(MISTAKES)
def test_all_mistakes_are_listed(mistakes: list[tuple[list[str], str]]) -> None:
    """Each once, whichever others of its kind there are."""
    with pytest.raises(ConfigError) as caught:
        settings(*(override for overrides, _ in mistakes for override in overrides))
    lines = str(caught.value).split("\n")
    assert len(lines) == len(mistakes)
    assert all(sum(what in line for line in lines) == 1 for _, what in mistakes)


@pytest.mark.parametrize(
    ("overrides", "lines"),
    [
        (["model.n_heads=x", "model.d_model=100"], ["model.n_heads: "]),
        (["model.max_length=x", "data.max_length=9000"], ["model.max_length: "]),
        (["model.n_heads=x", "model.d_model=7", "data.max_length=512"], ["model.n_heads: "]),
        (["data=3", "model.d_model=7"], ["data: ", "model: d_model 7"]),
    ],
)
def test_what_is_wrong_contradicts_nothing(overrides: list[str], lines: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        settings(*overrides)
    found = str(caught.value).split("\n")
    assert len(found) == len(lines)
    assert all(line.strip().startswith(start) for line, start in zip(found, lines, strict=True))


def test_a_hundred_problems_are_enough() -> None:
    with pytest.raises(ConfigError) as caught:
        settings(*(f"data.unknown_{number}=1" for number in range(300)), "model.d_model=7")
    assert len(str(caught.value).split("\n")) == MOST_PROBLEMS


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("model: {d_model: 1", "not readable as YAML"),
        ("model:\n  d_model: 2\n  d_model: 4", "the key 'd_model' is given twice.*:3:3"),
        ("- a\n- b", "this is no recipe"),
        ("a: 1\n? 2001-01-01\n: 1", "not a word"),
        ("a: b: c", r"not readable as YAML .*recipe\.yaml:1:5$"),
        ("a: 2001-13-45", r"not readable as YAML \(month"),
        ("a: !!python/object:os.system {}", "types"),
        ("a: \udc80", "not readable as YAML .invalid start byte"),
        ("[" * 10 + "]" * 10, "this is no recipe"),
        ("{" * 11, "more than 10 levels.*:1:11"),
        ("- " * 5000, "more than 10 levels"),
        ("#" * 99_999 + "\n", None),
        ("? [1, 2]\n: 3", r"the key \[1, 2\] is not a word"),
        ("data: &a {x: *a}", "references"),
        ("[" * 100_000, "more than 10 levels"),
        ("#" * 100_001, "larger than 100 kB"),
        ("a:\n" + "".join(" " * depth + "a:\n" for depth in range(1, 100)), "more than 10 levels"),
        ("training: {lr: !!bool x}", "types"),
        ("training: {seed: !!int ''}", "types"),
        ("training: {seed: 0x" + "f" * 5000 + "}", "more than 1,000 characters"),
        ('data: {source: "\\UFFFFFFFF"}', "not readable as YAML"),
    ],
)
def test_malformed_recipes(tmp_path: Path, text: str, message: str | None) -> None:
    path = tmp_path / "recipe.yaml"
    path.write_bytes(text.encode(errors="surrogateescape"))
    if message is None:
        assert read_recipe(path) == {}
        return
    with pytest.raises(ConfigError, match=message):
        read_recipe(path)


@pytest.mark.parametrize("content", [b"data: \0", b"data: \xed\xa0\x80", b"data: \x1b[2J"])
def test_a_recipe_that_is_no_text_is_told_on_one_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "recipe.yaml"
    path.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        read_recipe(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "override", ['training.lr="\\U00110000"', "training.lr=!!bool x", "a" + ".a" * 2000 + "=1", "x=" + "[" * 5000]
)
def test_overrides_that_cannot_be_read(override: str) -> None:
    with pytest.raises(ConfigError, match="--set"):
        read_recipe(None, [override])


def test_overrides_win_over_the_file_and_the_file_over_the_preset(tmp_path: Path) -> None:
    path = tmp_path / "recipe.yaml"
    path.write_text("\ufeffmodel: {preset: tiny, d_ff: 512}\ntraining: {lr: 1e-3}\n", encoding="utf-8")
    config = parse_config(read_recipe(path, ["training.lr=2e-3", "training.max_steps=9000"]), path)
    assert (config.model.d_model, config.model.d_ff) == (PRESETS["tiny"]["d_model"], 512)
    assert (config.training.lr, config.training.max_steps) == (0.002, 9000)


def test_a_configuration_survives_being_written(tmp_path: Path) -> None:
    config = settings(
        "model.preset=tiny", "training.max_steps=4000", "data.corpus=captions", "training.adam_betas=[0.8, 0.9]"
    )
    path = tmp_path / "config.yaml"
    path.write_text(to_yaml(config), encoding="utf-8")
    assert parse_config(read_recipe(path)) == config


def test_a_joint_vocabulary_is_needed_to_tie_all() -> None:
    with pytest.raises(ValueError, match="one joint vocabulary"):
        ModelConfig(source_vocab_size=10, target_vocab_size=12, tie="all")


def test_every_setting_is_listed_as_a_recipe(tmp_path: Path) -> None:
    """The list changes nothing as it is, and has the defaults when all is uncommented."""
    recipe = tmp_path / "recipe.yaml"
    recipe.write_text(describe_settings(), encoding="utf-8")
    assert parse_config(read_recipe(recipe)) == Config()
    listed = "\n".join(
        re.sub("^  #(?! )", "  ", line) for line in describe_settings().split("\n") if "preset" not in line
    )
    recipe.write_text(listed, encoding="utf-8")
    settings = read_recipe(recipe)
    assert parse_config(settings) == Config()
    assert {section: set(values) for section, values in settings.items()} == {
        section: set(values) for section, values in Config().model_dump().items()
    }


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"lr": 0.1}, r"unknown key 'lr' \(did you mean 'training.lr'\?\)"),
        ({"batch_token": 1}, r"did you mean 'training.batch_tokens'"),
        ({"data": {"both_ways": True}}, r"did you mean 'data.corpora, entry 1, both_ways'"),
        ({"model": {"size": "base"}}, r"unknown key 'model.size' \(.dragoman train"),
        ({"model": {"d_modle": 1}}, r"did you mean 'model.d_model'"),
        ({"model": {"zzz": 1}}, "--list-settings"),
        ({"data": {"source_lang": "klingon"}}, "'klingon' is no language code"),
    ],
)
def test_wrong_words_get_a_hint(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parse_config(settings)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs /dev/zero")
def test_a_recipe_without_end_is_not_read_to_its_end() -> None:
    with pytest.raises(ConfigError, match=r"larger than 100 kB"):
        read_recipe(Path("/dev/zero"))


def test_a_recipe_that_cannot_be_read(tmp_path: Path) -> None:
    for path, cause in ((tmp_path, "Is a directory"), (tmp_path / "none", "recipe not found: ")):
        with pytest.raises(ConfigError, match=cause):
            read_recipe(path)


def test_a_section_that_is_a_list_is_told() -> None:
    for section in ("data", "augmentation", "tokenizer", "model", "training", "search"):
        with pytest.raises(ConfigError, match=f"{section}: "):
            check_settings({"model": {"max_length": 20}, section: []})


def test_an_empty_section_is_as_none(tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.yaml"
    recipe.write_text("model:\ntraining: {lr: 0.5}\n", encoding="utf-8")
    assert read_recipe(recipe, ["model.d_ff=8"]) == {"training": {"lr": 0.5}, "model": {"d_ff": 8}}
    recipe.write_text("# nothing\n", encoding="utf-8")
    assert read_recipe(recipe) == {}


@pytest.mark.parametrize(
    "overrides",
    [
        ["model.d_model=99", "model.n_heads=3", "model.positions=learned"],
        ["model.d_model=64", "model.n_heads=3", "model.d_k=8", "model.d_v=8"],
        ["model.d_model=20", "model.n_heads=4", "model.positions=rotary", "model.d_k=6"],
        ["model.d_model=16", "model.n_heads=4", "model.positions=rotary"],
        ["model.memory=layerwise", "model.n_encoder_layers=2", "model.n_decoder_layers=2"],
        ["search.n_best=5"],
        ["search.n_best=6", "search.sample=true"],
        ["search.min_length=9", "search.max_length=9"],
        ["data.max_length=511"],
        ["data.corpus=x"],
        ["data.pairs=x"],
        ["data.source=a", "data.target=b", "data.test_source=a", "data.test_target=b", "data.source_lang=pt-BR"],
        ["training.adam_betas=[0.0, 0.999]"],
    ],
)
def test_what_fits_is_accepted(overrides: list[str]) -> None:
    settings(*overrides)


def test_sentences_fit_into_a_model_that_reads_less_than_usual() -> None:
    """A default is made to fit; a value that was asked for is refused."""
    usual = DataConfig().max_length
    for longest in (usual + 1, usual + 2):
        assert settings(f"model.max_length={longest}").data.max_length == usual
    for longest in (2, 64, usual):
        assert settings(f"model.max_length={longest}").data.max_length == longest - 1
    assert settings("model.max_length=64", "data.max_length=9").data.max_length == 9
    with pytest.raises(ConfigError, match=r"data.max_length 64 must be less"):
        settings("model.max_length=64", "data.max_length=64")
    with pytest.raises(ConfigError, match=r"model.max_length"):
        settings("model.max_length='64'")


def test_defaults_are_the_papers() -> None:
    """Vaswani et al. (2017): table 3, sections 5.3, 5.4 and 6.1."""
    shape, training = ModelShape(), TrainingConfig()
    assert (shape.n_encoder_layers, shape.n_decoder_layers, shape.d_model, shape.d_ff, shape.n_heads) == (
        *(6, 6, 512, 2048, 8),
    )
    assert shape.head_widths == (64, 64)
    assert (shape.dropout, training.label_smoothing, training.warmup_steps) == (0.1, 0.1, 4000)
    assert (training.adam_betas, training.adam_eps, training.lr) == ((0.9, 0.98), 1e-9, None)
    assert (shape.norm, shape.positions, shape.tie, shape.activation) == ("post", "sinusoidal", "none", "relu")
    assert (shape.bias, shape.scale_embeddings, shape.attention_dropout, shape.activation_dropout) == (True, True, 0, 0)
    assert SearchConfig().length_penalty == 0.6
    big = parse_config({"model": {"preset": "big"}}).model
    assert (big.d_model, big.d_ff, big.n_heads, big.head_widths, big.dropout) == (1024, 4096, 16, (64, 64), 0.3)
    assert (big.n_encoder_layers, big.tie) == (6, "all")
    assert parse_config({"model": {"preset": "base"}}).model == ModelShape(tie="all")


def test_what_is_off_unless_asked_for() -> None:
    config = Config()
    assert not config.data.dedup
    assert not config.tokenizer.lowercase
    assert config.tokenizer.byte_fallback
    assert (config.tokenizer.sampling, config.tokenizer.min_count) == (0, 1)
    assert (config.tokenizer.split_digits, config.tokenizer.reserved) == (False, 0)
    assert not config.training.tensorboard
    assert not config.augmentation.is_on
    search = config.search
    assert (search.n_best, search.min_length, search.no_repeat_ngram, search.sample) == (1, 0, 0, False)
    assert (search.temperature, search.top_k, search.top_p) == (1, 0, 1)
    assert config.training.keep_checkpoints >= 2  # so that one damaged checkpoint costs little


def bounds(section: type[Any]) -> Iterator[tuple[str, str, float]]:
    """(field, kind of bound, bound) of each number of a section."""
    for name, field in section.model_fields.items():
        nested = [part for each in get_args(field.annotation) for part in getattr(each, "__metadata__", ())]
        for part in (*field.metadata, *(item for each in nested for item in getattr(each, "metadata", [each]))):
            for kind in ("ge", "gt", "le", "lt"):
                if hasattr(part, kind):
                    yield name, kind, getattr(part, kind)


NUMBERS = [
    (section, *bound) for section in Config.model_fields for bound in bounds(Config.model_fields[section].annotation)
]


def test_every_number_has_both_bounds_or_is_a_norm() -> None:
    sides: dict[str, set[str]] = {}
    for section, name, kind, _ in NUMBERS:
        sides.setdefault(f"{section}.{name}", set()).add(kind[0])
    assert {name for name, found in sides.items() if found != {"g", "l"}} == {"training.clip_norm"}
    for section, name, kind, bound in NUMBERS:
        if kind[0] == "g":
            assert bound in (0, 1, 2, 8), f"{section}.{name}"  # what the number means decides it, not taste


#: The largest value of each number, where that is not 10**12: far beyond use, and small enough to be refused in words.
LARGEST = {
    1: "tokenizer.sampling model.dropout model.embedding_dropout model.attention_dropout model.activation_dropout "
    "model.norm_epsilon training.adam_betas training.label_smoothing training.ema training.adam_eps search.top_p "
    "augmentation.spans augmentation.reserved augmentation.case augmentation.punctuation augmentation.typos",
    3: "data.context",
    10: "search.length_penalty",
    256: "training.batch_workers",
    100: "data.temperature training.r_drop search.temperature search.repetition_penalty",
    1000: "tokenizer.reserved data.max_ratio "
    "model.n_encoder_layers model.n_decoder_layers training.lr search.beam_size search.n_best",
    1024: "model.n_heads",
    10_000: "training.keep_checkpoints training.save_minutes",
    65_536: "model.d_model model.d_k model.d_v",
    1_000_000: "data.max_length tokenizer.vocab_size model.d_ff model.max_length",
}


def test_the_largest_values() -> None:
    largest = {name: limit for limit, names in LARGEST.items() for name in names.split()}
    for section, name, kind, bound in NUMBERS:
        if kind[0] == "l":
            assert bound == largest.get(f"{section}.{name}", 10**12), f"{section}.{name}"


def test_what_a_recipe_leaves_open() -> None:
    """The settings that neither the paper nor the corpus decides; a change is a change of results."""
    data, training, search = Config().data, Config().training, Config().search
    assert (data.validation_size, data.max_length, data.max_ratio, data.invalid_utf8) == (1000, 256, 4.0, "error")
    assert (training.seed, training.batch_tokens, training.clip_norm, training.r_drop) == (1, 4096, 1.0, 0.0)
    assert (training.save_every, training.log_every, training.keep_checkpoints) == (500, 50, 2)
    assert training.save_minutes == 5
    assert (training.max_skipped_steps, search.beam_size, search.seed) == (20, 5, 1)
    assert ModelShape().max_length == 512
    tiny, small = (parse_config({"model": {"preset": name}}).model for name in ("tiny", "small"))
    for shape, sizes in ((tiny, (128, 256, 4, 4, 4)), (small, (256, 1024, 4, 3, 3))):
        depths = shape.n_encoder_layers, shape.n_decoder_layers
        assert (shape.d_model, shape.d_ff, shape.n_heads, *depths, shape.tie) == (*sizes, "all")


def test_the_parts_of_a_model_are_bounded_before_anything_is_built() -> None:
    for name in ("d_model", "d_ff", "n_heads", "n_encoder_layers", "n_decoder_layers", "d_k", "d_v", "max_length"):
        for value in (0, -1, 10**7):
            with pytest.raises(ConfigError, match=f"model.{name}"):
                settings(f"model.{name}={value}")


def test_a_tie_must_fit_the_vocabularies() -> None:
    sizes = {"source_vocab_size": 10, "target_vocab_size": 12}
    assert ModelConfig(**sizes, tie="decoder").head_widths == (64, 64)
    assert ModelConfig(source_vocab_size=12, target_vocab_size=12, tie="all").tie == "all"
    for size in (3, 10_000_001):
        with pytest.raises(ValueError, match="target_vocab_size"):
            ModelConfig(source_vocab_size=4, target_vocab_size=size)


def test_settings_cannot_be_changed_later() -> None:
    config = Config()
    with pytest.raises(ValueError, match="frozen"):
        config.training.lr = 1.0  # type: ignore[misc]


def test_problems_are_explained_without_a_key_too() -> None:
    with pytest.raises(ConfigError, match=r"^input should be .*, got 3$"):
        parse_section(Config, 3)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"^give only one of"):
        parse_section(DataConfig, {"corpus": "a", "pairs": "b"})
    with pytest.raises(ConfigError) as caught:
        parse_section(SearchConfig, {"beam_size": 0, "n_best": 0}, "recipe.yaml")
    assert caught.value.message.split("\n")[0].endswith("got 0: recipe.yaml")
    assert caught.value.message.split("\n")[1].startswith("  n_best: ")


def test_files_of_a_split() -> None:
    names = {
        f"{split}{side}": f"{split}{side}" for split in ("", "test_", "validation_") for side in ("source", "target")
    }
    data = DataConfig(**names)
    assert data.files("train") == ("source", "target", None)
    assert data.files("validation") == ("validation_source", "validation_target", None)
    assert data.files("test") == ("test_source", "test_target", None)
    assert DataConfig(pairs="a", validation_pairs="b", test_pairs="c").files("test") == (None, None, "c")


def test_a_search_says_what_matters_to_it() -> None:
    assert SearchConfig(beam_size=3, length_penalty=1).describe() == "beam size 3, length penalty 1"
    assert SearchConfig(sample=True).describe() == "sampled"
