"""Wrong arguments of a Translator are named with their place."""

import math
from collections import UserList, deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny import write_tiny_bundle

from dragoman.errors import ConfigError
from dragoman.translator import Translator


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_best": 3}, "n_best 3 is more than beam_size 2"),
        ({"beam_size": 0}, "beam_size"),
        ({"temperature": 0.0}, "temperature"),
        ({"min_length": 9, "max_length": 8}, "min_length 9"),
        ({"beam_siez": 3}, "unknown option 'beam_siez' .did you mean 'beam_size'"),
        ({"prefix": "A"}, "unknown option 'prefix' .did you mean 'prefixes'"),
        ({"nonsense": 1}, "unknown option 'nonsense' .`help.dragoman.Translator.translate.` has them"),
    ],
)
def test_wrong_options_are_configuration_errors(translator: Translator, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        translator.translate("A", **options)
    with pytest.raises(ConfigError, match=message):
        translator.translate_stream([], **options)


def test_impossible_options_are_refused(tmp_path: Path, translator: Translator) -> None:
    with pytest.raises(ConfigError, match="batch_size is 0"):
        translator.translate(["A man"], batch_size=0)
    with pytest.raises(ConfigError, match="unknown precision 'bf16'; use float32, bfloat16 or int8"):
        Translator.load(write_tiny_bundle(tmp_path / "tiny"), device="cpu", precision="bf16")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (None, "the texts are None; give a string, or a list"),
        (3.5, "the texts are 3.5, a number"),
        (b"A", "the texts are bytes"),
        (Path("a"), "the texts are a .*Path"),
        ({"a": "b"}, "the texts are a dict"),
        ({"a"}, "the texts are a set"),
        ((each for each in "ab"), "the texts are a generator; translate_stream takes"),
        (np.array("A man"), "the texts are an? ndarray"),
        (["A", None], "text 2 is None; give strings"),
        (("A", "B", 7), "text 3 is 7, a number"),
        (["A", b"B"], "text 2 is bytes; decode"),
        ([["A"]], "text 1 is a list"),
        (["A", Path("b")], "text 2 is a .*Path"),
        ([{}], "text 1 is a dict"),
        (np.array([["A"]]), "text 1 is an? ndarray"),
        (range(2), "text 1 is 0, a number"),
        ([True], "text 1 is True"),
        ([math.nan], "text 1 is nan, a number"),
    ],
    ids=lambda each: each if isinstance(each, str) else type(each).__name__,
)
def test_values_other_than_strings_are_named_with_their_place(translator: Translator, given: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        translator.translate(given)
    if not isinstance(given, Iterator):
        both = message.replace("text", "source")
        with pytest.raises(ConfigError, match=both):
            translator.score(given, given)


@pytest.mark.parametrize("wrong", [None, 3, b"A", {"a": "b"}], ids=str)
def test_the_wrong_side_of_a_pair_is_named(translator: Translator, wrong: Any) -> None:
    for call in (translator.score, translator.fits):
        for pair in (("A", wrong), (wrong, "A")):
            with pytest.raises(ConfigError, match=r"(the source|the target|the sources) (is|are) "):
                call(*pair)


@pytest.mark.parametrize("wrong", [None, 3, b"a", ["a", "b"], {"a": 1}], ids=str)
def test_wrong_model_names_are_refused(wrong: Any) -> None:
    with pytest.raises(ConfigError, match="model 1 is "):
        Translator.load(wrong)


def test_any_sequence_of_strings_is_a_list_of_texts(translator: Translator) -> None:
    expected = translator.translate(["A man", "She"])
    both = ["A man", "She"]
    for each in (tuple(both), np.array(both), deque(both), UserList(both)):
        assert translator.translate(each) == expected  # type: ignore[call-overload]
    alone = translator.translate("A man")
    assert translator.translate(np.str_("A man")) == alone
    assert translator.translate("A man", batch_size=np.int64(64)) == alone
    assert translator.translate("A man", beam_size=np.int64(2)) == translator.translate("A man", beam_size=2)
    assert translator.translate("A man", sentences=np.False_) == translator.translate("A man", sentences=False)  # type: ignore[call-overload]
    assert list(translator.translate_stream(each for each in ["A man", "She"])) == expected


def test_other_wrong_arguments_are_named(translator: Translator) -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"prefixes": [None, "x"]}, "prefix 1 is None"),
        ({"prefixes": 3}, "the prefixes are 3, a number"),
        ({"prefixes": b"Ein"}, "the prefixes are bytes"),
        ({"batch_size": "64"}, "batch_size is a str; give a whole number"),
        ({"batch_size": True}, "batch_size is True"),
        ({"batch_size": 2.0}, "batch_size is 2.0"),
        ({"batch_size": 0}, "batch_size is 0"),
        ({"batch_size": np.array([1, 2])}, "batch_size is an? ndarray"),
        ({"align": "yes"}, "align is a str; give True or False"),
        ({"sentences": 1}, "sentences is 1"),
        ({"beam_size": "5"}, "beam_size"),
        ({"n_best": [1]}, "n_best"),
    ]
    for options, message in wrong:
        with pytest.raises(ConfigError, match=message):
            translator.translate(["A", "B"], **options)
    for name in ("prefixes", "read_ahead", "batch_size"):
        with pytest.raises(ConfigError, match=f"{name.replace('prefixes', 'the prefix')} is a list"):
            translator.translate_stream([], **{name: ["x"]})  # type: ignore[arg-type]


@pytest.mark.parametrize("given", [None, "A man", b"A", 3, {"a": "b"}, Path("a")], ids=str)
def test_values_that_are_no_stream_of_lines_are_refused(translator: Translator, given: Any) -> None:
    with pytest.raises(ConfigError, match=r"the lines are .*; give a list or a generator"):
        translator.translate_stream(given)


def test_lines_before_a_wrong_line_are_translated(translator: Translator) -> None:
    stream = translator.translate_stream(iter(["A man", None]), batch_size=1000)  # type: ignore[list-item]
    assert next(stream) == translator.translate("A man")
    with pytest.raises(ConfigError, match="line 2 is None"):
        next(stream)
