"""Models in transformers' stock classes: logits, translations and tokens are ours, or the settings are named."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from extras import import_extra
from logits import logits_difference
from shapes import HF_REFUSED, SHAPES, settings_in_the_way, shaped_bundle

from dragoman import Translator
from dragoman.bundle.bundle import write_bundle
from dragoman.cli import program
from dragoman.errors import ConfigError
from dragoman.exchange.hugging_face_folder import export_hugging_face

os.environ["HF_HUB_OFFLINE"] = "1"
transformers = import_extra("transformers", "hf")

TEXTS = ["A man is riding a horse.", "Two dogs, über 30 Katzen!", "骑马 😀", "a", " spaces   inside "]
FEWEST_EQUAL = 198

pytestmark = pytest.mark.filterwarnings("ignore:Recommended. pip install sacremoses", "ignore::DeprecationWarning")

Recorder = Callable[[str, object], None]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_shape_is_exported_and_equal_or_refused(shape: str, tmp_path: Path, record_property: Recorder) -> None:
    bundle = shaped_bundle(shape)
    write_bundle(tmp_path / "bundle", bundle)
    if shape in HF_REFUSED:
        record_property("export", (shape, "transformers", f"refused: {', '.join(HF_REFUSED[shape])}"))
        with pytest.raises(ConfigError, match="Marian or Pegasus cannot hold this model") as caught:
            export_hugging_face(tmp_path / "bundle", tmp_path / "hf")
        assert settings_in_the_way(caught) == HF_REFUSED[shape]
        assert not (tmp_path / "hf").exists()
        return
    agreement = export_hugging_face(tmp_path / "bundle", tmp_path / "hf")
    model, told = transformers.AutoModelForSeq2SeqLM.from_pretrained(tmp_path / "hf", output_loading_info=True)
    difference = logits_difference(bundle, model.eval())
    record_property("export", (shape, "transformers", f"{agreement}, {difference:.1e}"))
    assert not any(told.values())  # no weight is missing or too much
    assert agreement is not None
    assert agreement.n_equal >= FEWEST_EQUAL
    assert difference < 1e-5
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "hf")
    ours = bundle.tokenizers
    for text in TEXTS:
        assert tokenizer(text).input_ids == [*ours.source.encode(text), ours.source.special_ids.end]
        ids = [*ours.target.encode(text), ours.target.special_ids.end]
        assert tokenizer(text_target=text).input_ids == ids
        assert tokenizer.decode(ids, skip_special_tokens=True) == ours.target.decode(ids)


def test_text_is_translated_as_by_us(tmp_path: Path) -> None:
    write_bundle(tmp_path / "bundle", shaped_bundle("many languages"))
    export_hugging_face(tmp_path / "bundle", tmp_path / "hf")
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(tmp_path / "hf")
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "hf")
    text = ">>zh<< A man is riding a horse."
    written = model.generate(**tokenizer(text, return_tensors="pt"), num_beams=1, max_new_tokens=20)
    translator = Translator.load(tmp_path / "bundle")
    (ours,) = translator.translate([text], beam_size=1, max_length=20)
    assert ours.text
    assert tokenizer.decode(written[0], skip_special_tokens=True).startswith(ours.text)


def test_the_command_says_how_many_are_equal(tmp_path: Path, capsys: Any) -> None:
    write_bundle(tmp_path / "bundle", shaped_bundle("pre"))
    arguments = ["export", "hf", "-m", str(tmp_path / "bundle"), "-o", str(tmp_path / "hf")]
    assert program.run(arguments) == 0
    assert "of 200 sentences as dragoman does" in capsys.readouterr().err
    assert program.run(arguments) == 1
    assert "the output exists" in capsys.readouterr().err
