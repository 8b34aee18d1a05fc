"""Speed of a model of OPUS-MT's size: ours after `dragoman import`, CTranslate2, and transformers.

    python benchmarks/opus_mt.py FOLDER SOURCE      # FOLDER gets the models, 1 GB; SOURCE is a text file

6 + 6 layers, d_model 512, feed-forward layers of 2,048, a vocabulary of 58,000, and random weights: the speed does not
depend on them, except on when a translation ends. So greedy search takes 25 steps for each translation. All systems
take text and give text, and have all threads: ours and CTranslate2 as workers of one thread, transformers in each
product.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import sentencepiece
import torch
from ctranslate2_peer import Peer, save
from measuring import in_turns, loaders, summary, write
from transformers import MarianConfig, MarianMTModel, MarianTokenizer

from dragoman.bundle.bundle import write_bundle
from dragoman.data.text_files.lines import read_lines
from dragoman.imports.hugging_face import import_hugging_face

N_SENTENCES, N_ROUNDS, LENGTH = 64, 3, 25
VOCAB_SIZE, BATCH_TOKENS, BATCH_SENTENCES = 58_000, 512, 32
KINDS = ("float32", "int8")


def main() -> None:
    """Measure, and write opus_mt.json."""
    folder, source = Path(sys.argv[1]), Path(sys.argv[2])
    lines = [str(line) for line in islice(read_lines(source), N_SENTENCES)]
    if not (folder / "ct2").exists():
        make(folder, source)
    n_threads = torch.get_num_threads()
    ours = {name: load(str(folder / "bundle"), workers=n_threads) for name, load in loaders().items()}
    theirs = {kind: Peer(str(folder / "ct2"), kind, workers=n_threads) for kind in KINDS}
    model = MarianMTModel.from_pretrained(folder / "hf").eval()
    tokenizer = MarianTokenizer.from_pretrained(folder / "hf")

    def we(name: str) -> list[str]:
        options = {"beam_size": 1, "min_length": LENGTH - 1, "max_length": LENGTH, "batch_size": BATCH_TOKENS}
        return [each.text for each in ours[name].translate(lines, **options)]

    def ctranslate2(kind: str) -> list[str]:
        lengths = {"min_decoding_length": LENGTH - 1, "max_decoding_length": LENGTH}
        return theirs[kind].translate(lines, beam_size=1, max_batch_size=BATCH_TOKENS, batch_type="tokens", **lengths)

    def transformers(_: str) -> list[str]:
        torch.set_num_threads(n_threads)  # our workers have one each
        order = sorted(range(len(lines)), key=lambda number: len(lines[number]))
        texts = [""] * len(lines)
        for first in range(0, len(order), BATCH_SENTENCES):
            batch = order[first : first + BATCH_SENTENCES]
            inputs = tokenizer([lines[number] for number in batch], return_tensors="pt", padding=True)
            lengths = {"min_new_tokens": LENGTH - 1, "max_new_tokens": LENGTH}
            with torch.inference_mode():
                written = model.generate(**inputs, num_beams=1, do_sample=False, **lengths)
            for number, ids in zip(batch, written, strict=True):
                texts[number] = tokenizer.decode(ids, skip_special_tokens=True)
        return texts

    def worker(translate: Callable[[str], object], name: str) -> Callable[[], float]:
        def work() -> float:
            translate(name)
            return len(lines)

        return work

    systems = {name: worker(we, name) for name in ours}
    systems |= {f"CTranslate2 {kind}": worker(ctranslate2, kind) for kind in KINDS}
    systems["transformers"] = worker(transformers, "")
    speeds = summary(in_turns(systems, N_ROUNDS), "CTranslate2 int8")
    pairs = zip(we("dragoman"), ctranslate2("float32"), strict=True)
    # The other has the 25th token, which we cut off, and the mark of a space before pieces that its model lacks.
    equal = sum(words(other)[: len(words(one))] == words(one) for one, other in pairs)
    facts = {"unit": "sentences a second", "sentences": len(lines), "steps of a translation": LENGTH}
    write(__file__, {**facts, "speeds": {"beam 1": {**speeds, "equal_to_ctranslate2_float32": equal}}})


def words(text: str) -> list[str]:
    """Return the words of a translation."""
    return text.replace("▁", " ").split()


def make(folder: Path, source: Path) -> None:
    """Write a model of random weights as OPUS-MT's are, and import it; the words of the text are its pieces."""
    hf = folder / "hf"
    hf.mkdir(parents=True)
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=map(str, read_lines(source)), model_prefix=str(hf / "source"), vocab_size=3_000,
        model_type="unigram", hard_vocab_limit=False, minloglevel=2,
    )  # fmt: skip
    model = (hf / "source.model").rename(hf / "source.spm")
    (hf / "target.spm").write_bytes(model.read_bytes())
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(model))
    words = [pieces.id_to_piece(id) for id in range(3, pieces.get_piece_size())]
    others = [f"▁other{number}" for number in range(VOCAB_SIZE - len(words) - 3)]
    names = ["</s>", "<unk>", *words, *others, "<pad>"]
    (hf / "vocab.json").write_text(json.dumps({name: id for id, name in enumerate(names)}))
    settings = {"tokenizer_class": "MarianTokenizer", "source_lang": "en", "target_lang": "de"}
    (hf / "tokenizer_config.json").write_text(json.dumps(settings))
    torch.manual_seed(1)
    MarianMTModel(
        MarianConfig(
            vocab_size=VOCAB_SIZE, d_model=512, encoder_layers=6, decoder_layers=6, encoder_attention_heads=8,
            decoder_attention_heads=8, encoder_ffn_dim=2048, decoder_ffn_dim=2048, max_position_embeddings=512,
            activation_function="swish", scale_embedding=True, pad_token_id=VOCAB_SIZE - 1, eos_token_id=0,
            decoder_start_token_id=VOCAB_SIZE - 1, forced_eos_token_id=None,
        )
    ).save_pretrained(hf)  # fmt: skip
    write_bundle(folder / "bundle", import_hugging_face(hf))
    save(str(folder / "bundle"), str(folder / "ct2"))


if __name__ == "__main__":
    main()
