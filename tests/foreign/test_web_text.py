"""Text in JavaScript: ids, sentences, spans and numbers are Python's, on corpora and on odd text."""

import functools
import gzip
import io
import itertools
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest
import sentencepiece
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from node import Node, unpacked
from tiny import PAIRS, many_tokenizers, tiny_model, write_tiny_bundle

from dragoman.alignment.word_spans import words
from dragoman.bundle.bundle import load_bundle, save_bundle
from dragoman.bundle.format import WORDS
from dragoman.bundle.named_models import PRETRAINED, named_models
from dragoman.bundle.words_file import read_words, words_text
from dragoman.data.perturbations.typos import mistype
from dragoman.settings.search_config import SearchConfig
from dragoman.settings.tokenizer_config import TokenizerConfig
from dragoman.text import abbreviations, cleaning, contractions, numbers, sentences, shouting, spans
from dragoman.text.doubled_prices import has_doubled_price
from dragoman.text.sentence_pieces import SentencePieces
from dragoman.text.special_ids import SpecialIds
from dragoman.text.subword import Subword
from dragoman.text.tokenizer import Tokenizers
from dragoman.text.vocabulary import Vocabulary
from dragoman.translator.content_check import content_flags
from dragoman.translator.reading import RESERVED
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
            for code in ("en", "fr", "de"):
                typed = paragraphs.replace("'", "").replace("’", "")
                yield typed, contractions.with_apostrophes(typed, code), node("withApostrophes", typed, code)
                written = abbreviations.without_abbreviations(paragraphs, code)
                yield text, written, node("withoutAbbreviations", paragraphs, code)
            yield text, words(text), node("words", text)

    assert not differences(pairs())


def test_typing_errors_are_read_equally(lines: list[str], node: Node, tmp_path: Path) -> None:
    spelling = read_words(PRETRAINED / "everyday" / WORDS)
    path = tmp_path / "words.txt"
    path.write_text(words_text(spelling), encoding="utf-8")
    generator = numpy.random.default_rng(1)
    typed = [mistype(line, generator) for line in lines[::3]]
    mended = 0

    def pairs() -> Iterator[tuple[str, object, object]]:
        nonlocal mended
        for text in (*lines[1::3], *typed):
            paragraphs = sentences.sanitize_paragraphs(text)
            for code in ("en", "fr", "de"):
                ours = spelling.repaired(paragraphs, code)
                mended += ours != paragraphs
                yield text, ours, node("repaired", str(path), code, paragraphs)

    assert not differences(pairs())
    assert mended > len(typed) // 4


def test_numbers_are_compared_equally(lines: list[str], node: Node) -> None:
    with_digits = [line for line in lines if any(character.isdecimal() for character in line)]
    pairs = list(itertools.pairwise(with_digits)) + list(zip(lines[::7], lines[1::7], strict=False))
    for one, other in pairs:
        for code in ("de", "fr", "en", "zh", "ru"):
            assert node("numbersKept", one, other, "en", code) == numbers.numbers_kept(one, other, "en", code), (
                one,
                other,
            )


#: Ends and beginnings of sentences with quantities that the check compares. They are put into lines of all languages.
PRICE_PARTS = ["$", "￥", "€", "5", "1.250,50", " ", "\u00a0", " Dollar", "DOLLARS", "euro", "s", "美元", "a", ", "]
QUANTITIES = [
    *("twenty-one", "a ten-minute walk", "two hundred five dollars", "fives and tens", "nineteen fifty-four"),
    *("dreihunderteinundzwanzig", "zwanzig Euro", "auf mich achten", "vierzehn Tage", "fünfzigjährig"),
    *("vingt et un", "soixante et onze euros", "deux cents", "quinze jours", "neuf", "quatre-vingt-dix-sept yens"),
    *("二十一岁", "三个", "几十个", "十一月", "两千美元", "每周一次", "星期三", "周日", "零下5度", "一万零五"),
    *("on Tuesday", "Mondays", "am Mittwoch", "Freitagabend", "Montage", "mardi", "le dimanche"),
    *("two million", "three billion dollars", "zwei Millionen", "drei Milliarden", "zwei Millionen dreitausend"),
    *("deux millions", "un million", "trois milliards", "deux cents millions", "三百万", "两百多万", "两亿", "千万"),
    *("half past three", "quarter to one", "seven-thirty", "3:30 pm", "ten o'clock", "halb vier", "Viertel vor eins"),
    *("zehn Uhr zwanzig", "trois heures et demie", "midi et quart", "treize heures", "三点半", "两点一刻", "十点"),
    *("-5 °C", "−12", "3-5", "minus 5", "42.195 km", "42,195 km", "12 500", "3.4.1990", "3,4,1990", "030 1234567"),
    *("030,1234567", "+49 30 123456", "1.2.3", "½ ٣٤.١٩٥", "𝟒𝟐.𝟏𝟗𝟓"),
    *(
        "das Mehl sieben.",
        "muss sieben",
        "um sieben",
        "Black Friday",
        "mardi gras",
        "黑色星期五",
        "Sunday school",
        "eine Elf",
    ),
    *(
        "3万",
        "30,000",
        "3 million",
        "2.5 Millionen",
        "250万",
        "3万5千",
        "35 000",
        "5 to 6 million",
        "5千米",
        "4K",
        "orf3b",
    ),
    *("2.5 kilos", "2.5 Kilo", "2,5 Kilo", "1 250,00 €", "1.250.00 €", "1,250.00 €", "Blender 4.2", "um 5.30 Uhr"),
    *("May 5 at 18:30", "6:30 pm on May 5", "2026-05-05 at 6 p.m.", "am 5. Mai um 18.30 Uhr", "05.05.2026, 18:30"),
    *("18 h 30 le 5 mai", "5月5日18:30", "5月5日下午6点30分", "18:30日5月5日", "六点半", "6:30", "18:30"),
    *("May 5", "5. Mai", "im Mai", "halb sechs", "half past five", "le 5 mai", "fünften Mai"),
    *("en sept pays", "en sept. 2020", "bis Jan um 15 Uhr", "3点建议", "3点", "Euro 2024", "20 euros"),
    *("minus fünf Grad", "moins cinq degrés", "零下12度", "负5度", "5 degrees below zero", "below zero", "au moins 5"),
    *("einhunderteins", "quatre-vingts millions", "deux cent mille", "US$5,000", "it is minus twenty-five degrees"),
    *("$5 and $6", "5 und $6", "5 und 6 Dollar", "120元", "120 yuan", "120 yen", "￥120", "3块钱"),
    *("£20 for 2", "202", "2 3 4", "234", "030 1234567", "0301234567", "half a million", "500,000", "1 m 55", "155"),
    *(
        "version 2.125",
        "Version 2,125",
        "v2.125",
        "§ 2.125",
        "§ 2,125",
        "Nr. 1.250",
        "No. 1,250",
        "版本2.125",
        "x=2.125",
    ),
]


@given(
    texts=st.lists(st.lists(st.sampled_from(QUANTITIES), max_size=3).map(" und ".join), min_size=2, max_size=2),
    languages=st.lists(st.sampled_from(["en", "de", "fr", "zh-TW", "ru"]), min_size=2, max_size=2),
)
@hypothesis_settings(max_examples=1500)
def test_quantities_are_compared_equally(texts: list[str], languages: list[str], node: Node) -> None:
    one, other = texts
    found = "number" not in content_flags(one, other, (), (languages[0], languages[1]))
    assert node("quantitiesKept", one, other, *languages) == found, (texts, languages)


@given(texts=st.lists(st.lists(st.sampled_from(PRICE_PARTS)).map("".join), min_size=2, max_size=2))
@hypothesis_settings(max_examples=500)
def test_doubled_prices_are_found_equally(texts: list[str], node: Node) -> None:
    assert node("hasDoubledPrice", *texts) == has_doubled_price(*texts)


def test_quantities_of_corpora_are_compared_equally(lines: list[str], node: Node) -> None:
    pairs = itertools.pairwise(lines[::3])

    def found() -> Iterator[tuple[str, object, object]]:
        for one, other in pairs:
            one, other = (RESERVED.sub(" ", text) for text in (one, other))
            if any(span.kind in spans.VERBATIM for text in (one, other) for span in spans.find_spans(text)):
                continue
            for code in ("en", "de", "zh"):
                flags = content_flags(one, other, (), (code, "fr"))
                yield one + other, "number" not in flags, node("quantitiesKept", one, other, code, "fr")

    assert not differences(found())
