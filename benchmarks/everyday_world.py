"""Pairs of the world's text for everyday_text.py: read, cleaned and kept apart from all that only measures.

Its sources stand in everyday/sources.tsv with their terms. `train` applies the checks of pairs that it knows itself
(recipes/everyday-world.yaml: data.drop); here is what it does not know: codes of programs, a side in another language
than its own, sides whose lengths do not fit, traditional characters, and sentences of the measuring sets.

Four sources must be put into the data folder; recipes/everyday-world.yaml tells how. They are sentences of Wikipedia,
and half of pud of the news: mlqe-pe (Fomicheva et al. 2020), machine translations that people corrected, without its
part for tests, by which quality_estimation.py measures; the parts of paws-x (Yang et al. 2019) that people translated,
in which the two sentences of a row differ by a few words; pud (Zeman et al. 2017), the sentences of parallel treebanks;
and xquad (Artetxe et al. 2020), questions about paragraphs, and those paragraphs that have as many sentences as their
translations.
"""

from __future__ import annotations

import gzip
import json
import re
import tarfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from everyday_made_up import FOLDER, read_table
from real_text_sets import KINDS, data_folder, read_set, split_lines, split_pair
from sacremoses import MosesDetokenizer

from dragoman.data.augmentation.shared import Languages, Pair
from dragoman.data.checks.language_evidence import identifier
from dragoman.text.cleaning import clean

#: What programs fill in or read: tags, placeholders, names with underlines, options, paths, keys of menus.
CODE = re.compile(
    r"[<>{}\[\]|\\_=@#~^*`]|\$[A-Za-z]|%[A-Za-z(]|&\w|\w&|\w\(|--|::|\w/\w|//|\.[A-Za-z]{2,4}\b|\b[a-z]+[A-Z]"
)
#: Characters of a side, at most. Letters and spaces: the least share of a side.
LONGEST, LETTERS = 400, 0.6
#: The longer side over the shorter one, in characters; one Chinese character counts as three.
MOST_TIMES, HAN = 2.2, 3
#: From so many characters on, the language of a side is recognised, and it must be as probable as this.
RECOGNISED, SURE = 40, 0.9
_BESIDE_HAN = re.compile(r" +(?=[^\x00-\x7f])|(?<=[^\x00-\x7f]) +")
_HAN, _LETTERS = re.compile(r"[\u3400-\u9fff]"), re.compile(r"\W+")
LANGUAGES = ("en", "de", "fr", "zh")
_TREEBANKS = {"en": "English", "de": "German", "fr": "French", "zh": "Chinese"}
_SENTENCE_OF_TREEBANK = re.compile(r"^# sent_id = (.*)\n(?:#.*\n)*?# text = (.*)", re.MULTILINE)
_SENTENCES = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])\s*(?=.)")
#: One of so many written sentences is held out of the text: by these, models are compared.
HELD_OUT_EVERY = 25


def sources(*, everything: bool) -> dict[str, list[str]]:
    """Return the names of the sources of each kind; without `everything`, of those that everyone may use."""
    kinds: dict[str, list[str]] = {}
    for name, kind, _, is_free in read_table("sources.tsv"):
        if everything or is_free == "yes":
            kinds.setdefault(kind, []).append(name)
    return kinds


def read_source(name: str, language: str, split: str = "train") -> Iterator[Pair]:
    """Yield the pairs of a source in a split, "train" or "val", English first; none if it has none in a language."""
    if name in READERS and split == "train":
        yield from READERS[name](language)
    path = data_folder() / "world" / f"en-{language}" / f"{name}.{split}.tsv.gz"
    if name == "tldr" and split == "train":
        path = data_folder() / "tldr" / f"en-{language}.tsv.gz"
    if path.exists():
        yield from (split_pair(line) for line in split_lines(gzip.decompress(path.read_bytes()).decode()))


def _news(language: str) -> Iterator[Pair]:
    """Yield sentences of the news with their translations by people, and by a teacher."""
    with tarfile.open(data_folder() / "real-text" / "news.tar.xz") as archive:
        files = {each.name: archive.extractfile(each) for each in archive if each.isfile()}
        lines = {name: split_lines(file.read().decode()) for name, file in files.items() if file is not None}
    for name, english in lines.items():
        if name.endswith(".en") and "systems" not in name:
            year = name.removesuffix("en")
            teachers = [each for each in lines if f"systems/{year.split('/')[-1]}en-{language}." in each]
            for other in (f"{year}{language}", *teachers):
                if len(lines.get(other, ())) == len(english):
                    yield from zip(english, lines[other], strict=True)


def _post_edited(language: str, parts: Sequence[str] = ("train", "dev")) -> Iterator[Pair]:
    """Yield sentences of an encyclopedia with their post-edited translations, as people write them."""
    for part in parts:
        path = data_folder() / "mlqe-pe" / "data" / "post-editing" / part / f"en-{language}-{part}.tar.gz"
        if path.exists():
            with tarfile.open(path) as archive:
                members = {Path(each.name).suffix: each for each in archive}
                files = [archive.extractfile(members[side]) for side in (".src", ".pe")]
                sides = [split_lines(file.read().decode()) for file in files if file is not None]
            for source, target in zip(*sides, strict=True):
                yield joined(source, "en"), joined(target, language)


def compared(language: str) -> Iterator[Pair]:
    """Yield the sentences of an encyclopedia by which models are compared; none in French."""
    return _post_edited(language, ["test"])


def _paraphrases(language: str) -> Iterator[Pair]:
    """Yield sentences of an encyclopedia with their translations, from tables of pairs of similar sentences."""
    folder = data_folder() / "paws-x"
    for part in ("dev_2k.tsv", "test_2k.tsv"):
        paths = [folder / each / part for each in ("en", language)]
        if all(path.exists() for path in paths):
            english, translated = (_rows_by_id(path) for path in paths)
            for key in (key for key in english if key in translated):
                for source, target in zip(english[key], translated[key], strict=True):
                    if "NS" not in (source, target):  # a sentence that was not translated
                        yield joined(source, "en"), unspaced(target)


def _treebanks(language: str) -> Iterator[Pair]:
    """Yield the sentences of parallel treebanks in CoNLL-U with their translations."""
    english, translated = (_texts_by_id(each) for each in ("en", language))
    yield from ((english[key], translated[key]) for key in english if key in translated)


def _texts_by_id(language: str) -> dict[str, str]:
    """Return the sentences of a parallel treebank by their numbers."""
    path = data_folder() / "pud" / f"UD_{_TREEBANKS[language]}-PUD" / f"{language}_pud-ud-test.conllu"
    return dict(_SENTENCE_OF_TREEBANK.findall(path.read_text(encoding="utf-8")))


def _questions(language: str) -> Iterator[Pair]:
    """Yield questions, and the sentences of their paragraphs, with their translations; none in other languages."""
    paths = [data_folder() / "xquad" / f"xquad.{each}.json" for each in ("en", language)]
    if all(path.exists() for path in paths):
        for english, translated in zip(*map(_paragraphs, paths), strict=True):
            yield from zip(*([each["question"] for each in own["qas"]] for own in (english, translated)), strict=True)
            sentences = [_SENTENCES.split(own["context"]) for own in (english, translated)]
            if len(sentences[0]) == len(sentences[1]):
                yield from zip(*sentences, strict=True)


def _paragraphs(path: Path) -> list[Any]:
    """Return the paragraphs of a file of questions: `context`, and `qas`, each with a `question`."""
    articles = json.loads(path.read_text(encoding="utf-8"))["data"]
    return [paragraph for article in articles for paragraph in article["paragraphs"]]


def written(language: str, *, held_out: bool = False) -> Iterator[Pair]:
    """Yield sentences that a large language model wrote in all languages (everyday/written), or those held out."""
    for path in sorted((FOLDER / "written").glob("*.tsv")):
        for number, row in enumerate(read_table(str(path.relative_to(FOLDER)))):
            if (number % HELD_OUT_EVERY == 0) == held_out:
                yield row[0], row[LANGUAGES.index(language)]


def unspaced(text: str) -> str:
    """Return a text without the spaces that some people write beside Chinese characters."""
    return _BESIDE_HAN.sub("", text) if _HAN.search(text) else text


def _rows_by_id(path: Path) -> dict[str, list[str]]:
    """Return both sentences of each row of a table of paws-x."""
    rows = [line.split("\t") for line in split_lines(path.read_text())[1:]]
    return {row[0]: row[1:3] for row in rows}


#: Paths of the sources that must be put into the data folder.
ADDED = (
    "mlqe-pe/data/post-editing",
    *(f"paws-x/{language}" for language in LANGUAGES),
    *(f"pud/UD_{name}-PUD" for name in _TREEBANKS.values()),
    *(f"xquad/xquad.{language}.json" for language in ("en", "de", "zh")),
)
#: Readers of the sources that are no tables of pairs, by name.
READERS: Mapping[str, Callable[[str], Iterator[Pair]]] = {
    "news": _news,
    "mlqe-pe": _post_edited,
    "paws-x": _paraphrases,
    "pud": _treebanks,
    "xquad": _questions,
    "written": written,
}


def joined(line: str, language: str) -> str:
    """Return the text of a line of tokens. In Chinese, three spaces stand for one of the text."""
    if language == "zh":
        return unspaced(line.replace("   ", "\0").replace(" ", "").replace("\0", " "))
    return str(_detokenizer(language).detokenize(line.replace("``", '"').replace("''", '"').split()))


@cache
def _detokenizer(language: str) -> MosesDetokenizer:
    return MosesDetokenizer(lang=language)


def kept(pairs: Iterable[Pair], languages: Languages) -> list[Pair]:
    """Return pairs to learn from, each once, in their order, with Chinese in simplified characters."""
    write = [simplified if language == "zh" else clean for language in languages]
    own = dict.fromkeys((write[0](source), write[1](target)) for source, target in pairs)
    return [pair for pair in own if is_text(pair) and are_long_alike(pair) and are_in(pair, languages)]


def is_text(pair: Pair) -> bool:
    """Return True if both sides are words of people."""
    return all(
        0 < len(side) <= LONGEST
        and sum(each.isalpha() or each == " " for each in side) >= LETTERS * len(side)
        and not CODE.search(side)
        for side in pair
    )


def are_long_alike(pair: Pair) -> bool:
    """Return True unless one side is much longer than the other."""
    shorter, longer = sorted(len(side) + (HAN - 1) * len(_HAN.findall(side)) for side in pair)
    return longer <= MOST_TIMES * (shorter + 8)


def are_in(pair: Pair, languages: Languages) -> bool:
    """Return True unless a long side is in another of our languages, or a Chinese one has no Chinese."""
    for side, language in zip(pair, languages, strict=True):
        if language == "zh" and not _HAN.search(side):
            return False
        if len(side) >= RECOGNISED and language != "zh":
            found, probability = _recognise()(side)
            if found != language and probability >= SURE:
                return False
    return True


@cache
def _recognise() -> Callable[[str], tuple[str, float]]:
    detector = identifier()
    detector.set_languages(list(LANGUAGES))
    return detector.classify


@cache
def _simplify() -> Callable[[str], str]:
    from opencc import OpenCC

    return OpenCC("t2s").convert


def simplified(text: str) -> str:
    """Return a Chinese text in simplified characters."""
    return _simplify()(clean(text))


def letters(text: str) -> str:
    """Return the letters and digits of a text, by which it is known again."""
    return _LETTERS.sub("", simplified(text) if _HAN.search(text) else text).casefold()


@cache
def measured() -> frozenset[str]:
    """Return the letters of all sentences, in all our languages, of the sets that only measure."""
    found: set[str] = set()
    for target in LANGUAGES[1:]:
        for own in filter(None, (read_set(kind, ("en", target)) for kind in KINDS)):
            found.update(map(letters, own.sources))
            found.update(letters(text) for texts in own.references for text in texts)
        found.update(letters(side) for pair in compared(target) for side in pair)
    return frozenset(found)


def without_measured(pairs: Iterable[Pair]) -> list[Pair]:
    """Return the pairs of which no side is a sentence of a measuring set."""
    return [pair for pair in pairs if not any(letters(side) in measured() for side in pair)]
