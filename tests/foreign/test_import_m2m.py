"""M2M-100 and NLLB-200 as bundles: tokens, logits and translations are those of transformers. Weights are random."""

import json
import os
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
from extras import import_extra
from m2m_folders import Family, write_m2m_folder

from dragoman import Translator
from dragoman.bundle.bundle import Bundle, write_bundle
from dragoman.imports.hugging_face import import_hugging_face

os.environ["HF_HUB_OFFLINE"] = "1"
transformers = import_extra("transformers", "hf")
from opus_mt import captions  # noqa: E402

TEXTS = [*captions(200)[0]]
#: Tokens of the longest text, and of the longest translation.
LIMIT = 38


class Model(NamedTuple):
    family: Family
    folder: Path
    theirs: Any
    bundle: Bundle
    translator: Translator


@pytest.fixture(scope="module", params=["m2m", "nllb"])
def model(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Model:
    place = tmp_path_factory.mktemp("m2m")
    folder = write_m2m_folder(place / "folder", request.param)
    config = json.loads((folder / "config.json").read_text())
    torch.manual_seed(1)
    made = transformers.M2M100ForConditionalGeneration(transformers.M2M100Config(**config)).eval()
    with torch.no_grad():
        for parameter in made.parameters():
            if parameter.dim() > 1:
                parameter.copy_(torch.randn_like(parameter) * 0.5)
        made.model.decoder.layer_norm.bias += 1.5 * made.model.shared.weight[2]  # translations end sooner
    (folder / "model.safetensors").unlink()
    made.save_pretrained(folder)
    if request.param == "nllb":  # as in the years before safetensors
        torch.save(made.state_dict(), folder / "pytorch_model.bin")
        (folder / "model.safetensors").unlink()
    bundle = import_hugging_face(folder)
    write_bundle(place / "bundle", bundle)
    translator = Translator.load(place / "bundle")
    return Model(request.param, folder, made, bundle, translator)


def test_tokens_of_m2m_are_theirs(model: Model) -> None:
    if model.family != "m2m":
        pytest.skip("transformers 5 has no tokenizer of NLLB that reads a SentencePiece model")
    tokenizer = transformers.M2M100Tokenizer(
        str(model.folder / "vocab.json"),
        str(model.folder / "sentencepiece.bpe.model"),
        src_lang="en",
        additional_special_tokens=["__de__", "__en__", "__zh__"],
    )
    for text in TEXTS:
        _, *theirs = tokenizer(text).input_ids
        assert [*model.bundle.tokenizers.source.encode(text), 2] == theirs


def test_logits_are_theirs(model: Model) -> None:
    tokenizers = model.bundle.tokenizers
    for source, target in pairwise(TEXTS[:41]):
        source_ids = torch.tensor([[*tokenizers.source.encode(f">>en<< {source}"), 2]])
        target_ids = torch.tensor([[2, *tokenizers.target.encode(f">>de<< {target}")]])
        with torch.no_grad():
            theirs = model.theirs(input_ids=source_ids, decoder_input_ids=target_ids).logits
            ours = model.bundle.model(source_ids, target_ids)
        assert float((theirs - ours).abs().max()) < 1e-4


@pytest.mark.parametrize("n_beams", [1, 4])
def test_200_of_200_outputs_are_theirs(n_beams: int, model: Model) -> None:
    """Without a length penalty, since ours and theirs divide by other numbers."""
    tokenizers = model.bundle.tokenizers
    (tag,) = tokenizers.start_ids("de")
    options: dict[str, Any] = {"num_beams": n_beams, "do_sample": False, "max_new_tokens": LIMIT, "length_penalty": 0.0}
    languages: Any = {"source_lang": "en", "target_lang": "de"}
    ours = model.translator.translate(
        TEXTS, **languages, beam_size=n_beams, length_penalty=0.0, max_length=LIMIT, plain=True
    )
    n_ended = 0
    for text, translation in zip(TEXTS, ours, strict=True):
        ids = torch.tensor([[*tokenizers.source.encode(f">>en<< {text}"), 2]])
        with torch.no_grad():
            theirs = model.theirs.generate(ids, forced_bos_token_id=tag, **options)[0, 1:].tolist()
        written = tokenizers.target.vocabulary.ids(translation.tokens)
        n_ended += 2 in theirs
        assert written == theirs[: theirs.index(2) if 2 in theirs else LIMIT - 1]
    assert n_ended > len(TEXTS) / 2
