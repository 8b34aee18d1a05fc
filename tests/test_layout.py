"""The table of the weights, against the model that it describes and against the code that must not know better."""

import ast
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from models import random_model, shapes

from dragoman.bundle.layout import Layout, Weight
from dragoman.bundle.weights import unique_weights
from dragoman.settings.model_config import ModelConfig

pytestmark = pytest.mark.torch

ROOT = Path(__file__).resolve().parent.parent
CODE = [path for folder in ("src/dragoman", "benchmarks") for path in sorted((ROOT / folder).rglob("*.py"))]


@given(options=shapes)
@settings(max_examples=60)
def test_names_shapes_and_ties_are_those_of_the_state_dict(options: dict[str, object]) -> None:
    model = random_model(1, **options)
    layout, tensors = Layout(model.config), model.state_dict(keep_vars=True)
    assert {weight.name: weight.shape for weight in layout.parts(Weight)} == {
        name: tuple(tensor.shape) for name, tensor in tensors.items()
    }
    assert layout.shapes() == {name: tuple(tensor.shape) for name, tensor in unique_weights(model).items()}
    assert layout.ties.keys() == tensors.keys() - layout.shapes().keys()
    for name, other in layout.ties.items():
        assert tensors[name] is tensors[other]


def test_a_recurrent_decoder_layer_has_no_self_attention() -> None:
    model = random_model(1, decoder_layer="ssru")
    names = {name for name in Layout(model.config).shapes() if name.startswith("decoder_layers.1.")}
    assert names == {name for name in model.state_dict() if name.startswith("decoder_layers.1.")}
    ends = ["input.weight", "forget.weight", "forget.bias"]
    assert {name.partition("ssru.")[2] for name in names if "ssru" in name} == {*ends}
    assert not any("self_attention" in name for name in names)


def distinctive_words() -> set[str]:
    """Parts of weights' names that mean nothing else."""
    config = {"source_vocab_size": 9, "target_vocab_size": 9, "norm": "pre", "activation": "swiglu"}
    layout = Layout(ModelConfig.model_validate(config))
    return {part for weight in layout.parts(Weight) for part in weight.name.split(".") if "_" in part}


#: CTranslate2 has a part of the same name.
SPELLING = ("bundle/layout.py", "exchange/ctranslate2_names.py")


@pytest.mark.parametrize("path", CODE, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_other_module_spells_the_name_of_a_weight(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
    spelled = {
        word
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose
        for word in re.findall(r"\w+", node.value)
    }
    assert not spelled & distinctive_words() or path in {ROOT / "src/dragoman" / module for module in SPELLING}
