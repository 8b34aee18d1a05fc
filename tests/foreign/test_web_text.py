"""Text in JavaScript: ids, sentences and spans are Python's, on corpora and on odd text."""

import functools
import gzip
import io
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from node import Node, unpacked
from tiny import PAIRS, many_tokenizers, tiny_model, write_tiny_bundle

from dragoman.alignment.word_spans import words
from dragoman.bundle.bundle import load_bundle, save_bundle
from dragoman.bundle.named_models import named_models
from dragoman.settings.search_config import SearchConfig
from dragoman.settings.tokenizer_config import TokenizerConfig
from dragoman.text import cleaning, sentences, shouting, spans
from dragoman.text.sentence_pieces import SentencePieces
from dragoman.text.special_ids import SpecialIds
from dragoman.text.subword import Subword
from dragoman.text.tokenizer import Tokenizers
from dragoman.text.vocabulary import Vocabulary
from dragoman.translator.searching import decoded_text

#: Lines of each file; all files together are some ten thousand.
LINES = 600
FILES = [
    *("multi30k/val.en.gz", "multi30k/val.de.gz", "multi30k/val.fr.gz", "multi30k/train.en.gz", "multi30k/train.de.gz"),
    *("tatoeba-en-de/val.en.gz", "tatoeba-en-de/val.de.gz", "tatoeba-en-fr/val.fr.gz"),
    *("tatoeba-zh-en/val.zh.gz", "tatoeba-zh-en/val.en.gz"),
]
#: What is put into lines: joiners, emoji, marks, controls, pieces, tags, spans, numbers, letters of odd case.
ODDITIES = [
    *("\u200d", "\u200c", "👩‍👩‍👧", "🏴\U000e0067\U000e0062\U000e007f", "e\u0301\u0323", "\ufe0f", "1️⃣"),
    *("नि\u200dक", "می\u200cروم", "\x00", "\x85", "\u2028", "\u2029", "\u00ad", "\ufeff", "\ud800"),
    *("▁", "<0x41>", "<unk>", "</s>", "⟨1⟩", "⟨70⟩", ">>de<<", " >>zh<< ", "ﬁ", "½", "Ⅷ", "ß", "İ"),
    *("ǆ", "ა", "𝒜", "😀", "  ", "\t", "\n\n", "http://a.org/b_(c)."),
    *("a@b.co", "d'ann@b.co", "r&d.o'b@b.co", "{name}", "5:30 pm", "1.250,50", "3万", "٣٤", "v2.Beta", "U.S.A."),
    *("© 2026", "→", "★★", "Łódź", "Привет", "£20", "$2.50", "2 50", "20 €", "Ω"),
    *("120 cm", "-12 °C", "16 GB", "EUR 50", "5 CHF", "30米", "80 km/h"),
    *("Τι κάνεις; ", "«Ναι;» Ω", " տուն: Նա ", "»: Ես", "ሄደ፡፡ ", "ናት፧", "ឈឺ៕"),
    *("no. 5", "z. B. ", "usw.", " 3 Jan. ", "n° 7", "Tél. : 01", " e.g. "),
    *("A380", "IBAN DE89 3704 0044 0532 0130 00", "B2B-"),
    *(
        " --then he",
        " -I think-",
        " --Hello ",
        "use --help",
        "'ls -a'",
        "-v, --all",
        " -o FILE",
        "{0}: -r to",
        " --x=1 ",
    ),
    *("etc. He", "x" * 130, "!?", "„Ja.“ ", "。", "iv"),
]


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("bundles")
    tokenizers = many_tokenizers(reserved=3)
    save_bundle(folder / "many", tiny_model(tokenizers), tokenizers, SearchConfig(), facts={})
    foreign = foreign_tokenizers()
    for name, each in foreign.items():
        save_bundle(folder / name, tiny_model(each), each, SearchConfig(), facts={})
    write_tiny_bundle(folder / "characters", kind="characters")
    own = {name: folder / name for name in ("many", "characters", *foreign)}
    return own | {name: Path(name) for name in named_models()}


@pytest.fixture(scope="module")
def site(bundles: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpacked(list(bundles.values()), tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def lines(data_folder: Path) -> list[str]:
    """Lines of corpora, lines with oddities in them, lines in capitals, and several lines in one."""
    plain = [line for name in FILES for line in head(data_folder / name)]
    draw = random.Random(1)
    odd = [with_oddities(line, draw) for line in plain[::3]]
    joined = [joint.join(plain[i : i + 4]) for i in range(0, len(plain), 25) for joint in (" ", "")]
    return [*plain, *odd, *(line.upper() for line in plain[::9]), *joined]


def head(path: Path) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [line.rstrip("\n") for line, _ in zip(file, range(LINES), strict=False)]


def with_oddities(line: str, draw: random.Random) -> str:
    for _ in range(draw.randint(1, 3)):
        place = draw.randint(0, len(line))
        line = line[:place] + draw.choice(ODDITIES) + line[place:]
    return line


def learn(**options: Any) -> bytes:
    model = io.BytesIO()
    texts = [text for pair in PAIRS for text in pair] * 3
    chosen = {"vocab_size": 100, "hard_vocab_limit": False, "minloglevel": 2, **options}
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(texts), model_writer=model, **chosen)
    return model.getvalue()


def foreign_tokenizers() -> dict[str, Tokenizers]:
    """Models that this project would not learn: normalising, over words, with symbols of users, with other numbers."""
    symbols = {"user_defined_symbols": [">>de<<", "Mann", "▁the"]}
    models = {
        "unigram": learn(model_type="unigram", byte_fallback=True, vocab_size=400),
        "normalising": learn(model_type="unigram", normalization_rule_name="nmt_nfkc_cf"),
        "over-words": learn(model_type="unigram", split_by_whitespace=False, remove_extra_whitespaces=False),
        "symbols": learn(model_type="unigram", **symbols),
        "symbols-bpe": learn(model_type="bpe", vocab_size=90, **symbols),
        "suffix": learn(model_type="bpe", vocab_size=90, treat_whitespace_as_suffix=True),
    }
    made = {name: one_vocabulary(Subword(SentencePieces(model), "unigram")) for name, model in models.items()}
    pieces = SentencePieces(models["normalising"]).pieces
    table = {piece: id for id, piece in enumerate(["</s>", "<unk>", *pieces[3:50], ">>de<<", *pieces[50:], "<pad>"])}
    special_ids = SpecialIds(pad=table["<pad>"], unknown=1, start=table["<pad>"], end=0)
    listed = Subword(
        SentencePieces(models["normalising"]), "unigram", vocabulary=Vocabulary.from_ids(table, special_ids)
    )
    return made | {"listed": one_vocabulary(listed)}


def one_vocabulary(tokenizer: Subword) -> Tokenizers:
    config = TokenizerConfig.model_validate({"kind": "unigram", "joint": True})
    return Tokenizers(tokenizer, tokenizer.without_tags(), config, (("en", "de"),))


def differences(pairs: Iterator[tuple[str, object, object]]) -> list[tuple[str, object, object]]:
    return [(text, ours, theirs) for text, ours, theirs in pairs if ours != theirs][:3]


@pytest.mark.parametrize("name", [*named_models(), "many", "unigram"])
def test_ids_of_corpora_are_equal(
    name: str, lines: list[str], bundles: dict[str, Path], site: Path, node: Node
) -> None:
    tokenizers, path = load_bundle(bundles[name]).tokenizers, str(site / f"{name}.dragoman")
    source, target = tokenizers.source, tokenizers.target
    ids = {text: source.encode(text) for text in lines}
    assert not differences((text, ids[text], node("encode", path, "source", text)) for text in lines)
    assert not differences((text, source.split(text), node("split", path, "source", text)) for text in lines[::5])
    assert not differences((text, target.encode(text), node("encode", path, "target", text)) for text in lines[::5])
    assert not differences(
        (text, decoded_text(target, ids[text]), node("decode", path, "target", ids[text])) for text in lines
    )


@pytest.mark.parametrize("name", ["characters", *foreign_tokenizers()])
def test_ids_of_foreign_models_are_equal(
    name: str, lines: list[str], bundles: dict[str, Path], site: Path, node: Node
) -> None:
    tokenizers, path = load_bundle(bundles[name]).tokenizers, str(site / f"{name}.dragoman")
    for text in [*lines[::11], *(text for pair in PAIRS for text in pair), *ODDITIES, "Ａ ½ …  a  b "]:
        ids = tokenizers.source.encode(text)
        assert node("encode", path, "source", text) == ids, (text, tokenizers.source.split(text))
        assert node("split", path, "source", text) == tokenizers.source.split(text)
        assert node("decode", path, "target", ids) == decoded_text(tokenizers.target, ids), ids


@given(ids=st.lists(st.integers(0, 399), max_size=12))
@hypothesis_settings(max_examples=300)
def test_any_ids_are_decoded_equally(ids: list[int], bundles: dict[str, Path], site: Path, node: Node) -> None:
    for name in ("many", "unigram", "listed", "characters"):
        tokenizer = load_once(bundles[name]).target
        known = [id % tokenizer.vocab_size for id in ids]
        assert node("decode", str(site / f"{name}.dragoman"), "target", known) == decoded_text(tokenizer, known)


@functools.cache
def load_once(folder: Path) -> Tokenizers:
    return load_bundle(folder).tokenizers


def test_text_is_cleaned_and_cut_equally(lines: list[str], node: Node) -> None:
    def pairs() -> Iterator[tuple[str, object, object]]:
        for text in lines:
            paragraphs = sentences.sanitize_paragraphs(text)
            yield text, cleaning.clean(text), node("clean", text)
            yield text, list(sentences.sentences(paragraphs)), node("sentences", paragraphs)
            found = [[paragraphs[span.start : span.end], span.kind] for span in spans.find_spans(paragraphs)]
            yield text, found, node("spans", paragraphs)
            yield text, shouting.is_shouted(paragraphs), node("isShouted", paragraphs)
            yield text, shouting.shout(paragraphs, "de"), node("shout", paragraphs, "de")
            yield text, words(text), node("words", text)

    assert not differences(pairs())
