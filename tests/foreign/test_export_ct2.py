"""Models as CTranslate2's: each shape translates and scores as ours, or is refused with the settings named."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from extras import import_extra
from shapes import SHAPES, settings_in_the_way, shaped_bundle

from dragoman.bundle.bundle import Bundle, write_bundle
from dragoman.cli import program
from dragoman.errors import ConfigError

ctranslate2 = import_extra("ctranslate2", "ctranslate2")

from dragoman.exchange.agreement import Agreement, made_up_sources  # noqa: E402
from dragoman.exchange.ctranslate2_folder import export_ctranslate2  # noqa: E402
from dragoman.exchange.ctranslate2_spec import names_of  # noqa: E402
from dragoman.exchange.export_folder import Precision  # noqa: E402
from dragoman.exchange.obstacles import CTRANSLATE2, load_without  # noqa: E402
from dragoman.exchange.piece_names import never_written  # noqa: E402

REFUSED = {
    "pre, std": ["model.norm_kind=std"],
    "layerwise, rotary": ["model.memory=layerwise"],
    "layerwise, std": ["model.memory=layerwise", "model.norm_kind=std"],
    "values wider than keys": ["model.d_v=6"],
}
FEWEST_EQUAL = 198  # of 200: two tokens of random models may be equally probable but for the last digits

Recorder = Callable[[str, object], None]


def exported(model: Path, folder: Path, precision: Precision = "float32") -> Agreement:
    return export_ctranslate2(model, folder, precision, (), load_without(model, *CTRANSLATE2))


def score_difference(bundle: Bundle, folder: Path) -> float:
    """The largest difference of a token's log-probability, CTranslate2's and that of the model in PyTorch."""
    names, tokenizers = names_of(bundle.tokenizers), bundle.tokenizers
    ids, silent = tokenizers.special_ids, never_written(tokenizers)
    sources = list(made_up_sources(tokenizers.source, 20, ""))[:30]
    targets = list(made_up_sources(tokenizers.target, 30, ""))[-30:]
    translator = ctranslate2.Translator(str(folder), device="cpu", intra_threads=1)
    results = translator.score_batch(
        [[names.source[id] for id in source] for source in sources],
        [[names.target[id] for id in target] for target in targets],
    )
    worst = 0.0
    for source, target, result in zip(sources, targets, results, strict=True):
        with torch.no_grad():
            logits = bundle.model(
                torch.tensor([[*source, ids.source.end]]), torch.tensor([[ids.target.start, *target]])
            )[0]
        logits[:, silent] = -10_000
        expected = logits.log_softmax(-1)[range(len(target) + 1), [*target, ids.target.end]]
        worst = max(worst, float(np.abs(expected.numpy() - np.array(result.log_probs)).max()))
    return worst


@pytest.mark.parametrize("shape", SHAPES)
def test_a_shape_is_exported_and_equal_or_refused(shape: str, tmp_path: Path, record_property: Recorder) -> None:
    bundle = shaped_bundle(shape)
    write_bundle(tmp_path / "bundle", bundle)
    if shape in REFUSED:
        record_property("export", (shape, "CTranslate2", f"refused: {', '.join(REFUSED[shape])}"))
        with pytest.raises(ConfigError, match="CTranslate2 cannot hold this model") as caught:
            exported(tmp_path / "bundle", tmp_path / "ct2")
        assert settings_in_the_way(caught) == REFUSED[shape]
        assert not (tmp_path / "ct2").exists()
        return
    agreement = exported(tmp_path / "bundle", tmp_path / "ct2")
    difference = score_difference(bundle, tmp_path / "ct2")
    record_property("export", (shape, "CTranslate2", f"{agreement}, {difference:.1e}"))
    assert agreement.n_sentences == 200
    assert agreement.n_equal >= FEWEST_EQUAL
    assert difference < 2e-5


def test_int8_is_smaller_and_close(tmp_path: Path) -> None:
    bundle = shaped_bundle("pre, rotary, no biases", d_model=64, d_ff=128)
    write_bundle(tmp_path / "bundle", bundle)
    exported(tmp_path / "bundle", tmp_path / "float32")
    exported(tmp_path / "bundle", tmp_path / "int8", "int8")
    sizes = [(tmp_path / kind / "model.bin").stat().st_size for kind in ("float32", "int8")]
    assert sizes[1] < 0.4 * sizes[0]
    assert score_difference(bundle, tmp_path / "int8") < 0.5


@pytest.mark.parametrize("kind", ["words", "characters"])
def test_other_tokenizers_are_exported_with_a_warning(kind: str, tmp_path: Path, log_lines: list[str]) -> None:
    release = Path(__file__).resolve().parent.parent / "releases" / "0.1.0" / kind
    assert exported(release, tmp_path / "ct2").n_equal >= FEWEST_EQUAL
    assert "by Tokenizers" in "".join(log_lines)


@pytest.mark.captions
def test_the_command_says_how_many_are_equal(tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "text").write_text("Where is the station?\n\n>>fr<< I have two dogs.\n", encoding="utf-8")
    arguments = ["export", "ct2", "-m", "everyday", "-o", str(tmp_path / "ct2"), "--precision", "int8"]
    assert program.run([*arguments, "--compare", str(tmp_path / "text")]) == 0
    said = capsys.readouterr().err
    assert program.run(arguments) == 1
    assert "the output exists" in capsys.readouterr().err
    assert "of 2 sentences" in said
    assert ">>de<< >>en<< >>fr<< >>zh<<" in said
    assert program.run([*arguments[:3], "multi30k-en-de", "-o", str(tmp_path / "other")]) == 2
    assert "--set model.memory=last" in capsys.readouterr().err
