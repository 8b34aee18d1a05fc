"""Typing errors: which words are mended, which stay, and where the known words are kept."""

from __future__ import annotations

import gzip
import itertools
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng
from tiny import tiny_bundle, tiny_tokenizers

from dragoman.bundle.bundle import load_bundle, write_bundle
from dragoman.bundle.format import WORDS
from dragoman.bundle.named_models import PRETRAINED
from dragoman.bundle.words_file import read_words, words_bytes
from dragoman.cli.program import run
from dragoman.data.perturbations.typos import swap_letters
from dragoman.data.prepared import open_prepared
from dragoman.errors import BundleError
from dragoman.machine.folders import MANIFEST, save_folder
from dragoman.text.spans import VERBATIM, find_spans
from dragoman.text.spelling import WORD, KnownWords, Spelling, _one_error_away
from dragoman.text.spelling_learning import MOST_WORDS, WordCounts, learn_spelling
from dragoman.text.terms import Term, TermList
from dragoman.translator import Request, Translator

#: Words of each level, the power of two of their count.
ENGLISH = KnownWords(
    {"the": 17, "station": 9, "where": 11, "lost": 10, "keys": 9, "grab": 5, "veil": 0, "evil": 5, "monday": 9}
    | {"address": 10, "aaab": 9, "form": 9, "from": 13, "committed": 7, "angle": 4, "angel": 5},
    frozenset(["monday"]),
)
WORDS_AND_ERRORS = [
    *ENGLISH.levels,
    "teh",
    "hte",
    "lsot",
    "kyes",
    "Statoin",
    "garb",
    "Modnay",
    "commited",
    "{teh}",
    "`lsot`",
]


@pytest.fixture(scope="module")
def everyday() -> Spelling:
    return read_words(PRETRAINED / "everyday" / WORDS)


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("Where is teh station?", "Where is the station?"),
        ("I lsot my kyes", "I lost my keys"),
        ("Hte statoin", "The station"),
        ("on Modnay, I Lsot it", "on Monday, I Lsot it"),  # "Lsot" may be a name
        ("“Lsot” it. Lsot it", "“Lost” it. Lost it"),
        ("I COMMITED, commited", "I COMMITED, committed"),
        (
            "`lsot` {lsot} www.lsot.com lsot_2 lsot() @lsot lsot.py",
            "`lsot` {lsot} www.lsot.com lsot_2 lsot() @lsot lsot.py",
        ),
        ("veil", "veil"),
        ("l'lsot’s", "l'lost’s"),
    ],
)
def test_only_clear_errors_are_mended(typed: str, read: str) -> None:
    assert ENGLISH.repaired(typed) == read


@given(st.lists(st.sampled_from(WORDS_AND_ERRORS) | st.text(max_size=6), max_size=9))
def test_known_words_and_spans_stay_and_a_second_pass_changes_nothing(words: list[str]) -> None:
    text = " ".join(words)
    read = ENGLISH.repaired(text)
    assert ENGLISH.repaired(read) == read
    before, after = ([match[0] for match in WORD.finditer(each)] for each in (text, read))
    assert len(before) == len(after)
    for one, other in zip(before, after, strict=True):
        assert one == other or (other.lower() in ENGLISH.levels and one.lower() not in ENGLISH.levels)
    spans = [text[span.start : span.end] for span in find_spans(text) if span.kind in VERBATIM]
    assert spans == [read[span.start : span.end] for span in find_spans(read) if span.kind in VERBATIM]


@given(st.text("abc", min_size=3, max_size=7))
def test_candidates_are_those_of_a_slow_search(word: str) -> None:
    swapped = {word[:i] + word[j] + word[i] + word[j + 1 :] for i, j in itertools.pairwise(range(len(word)))} - {word}

    def squeezed(text: str) -> set[str]:
        return {text[:i] + text[i + 1 :] for i in range(1, len(text)) if text[i] == text[i - 1]}

    longer = {"".join(letters) for letters in itertools.product("abc", repeat=len(word) + 1)}
    assert set(_one_error_away(word)) == swapped | squeezed(word) | {each for each in longer if word in squeezed(each)}


def test_a_known_word_must_be_clearly_the_most_frequent_and_frequent_enough() -> None:
    assert KnownWords({"abcde": 11, "badce": 9}).repaired("abdce") == "abdce"
    assert KnownWords({"abcde": 11, "badce": 8}).repaired("abdce") == "abcde"
    for n_words, least in ((0, 3), (1, 5), (3, 7), (4, 9)):  # words that have its letters in a row
        usual = {f"{'xyzw'[place]}abdce{'xyzw'[place]}": 1 for place in range(n_words)}
        ends = {f"{first}": 1 for place in range(n_words) for first in (f"ab{'xyzw'[place]}", f"{'xyzw'[place]}ce")}
        assert KnownWords({"abcde": least, **usual, **ends}).repaired("abdce") == "abcde"
        assert KnownWords({"abcde": least - 1, **usual, **ends}).repaired("abdce") == "abdce"


@pytest.mark.parametrize(("typed", "least"), [("abdce", 3), ("bacde", 4), ("Abdce", 6), ("abccde", 1), ("Abccde", 4)])
def test_names_and_other_first_letters_need_more_evidence(typed: str, least: int) -> None:
    read = "Abcde" if typed[0] == "A" else "abcde"
    assert KnownWords({"abcde": least}).repaired(typed) == read
    assert KnownWords({"abcde": least - 1}).repaired(typed) == typed


def test_words_that_are_spared_stay_whatever_their_case() -> None:
    assert ENGLISH.repaired("Statoin lsot", {"statoin"}) == "Statoin lost"
    assert Spelling({"en": ENGLISH}).repaired("lsot", "en-GB") == "lost"
    assert Spelling({"en": ENGLISH}).repaired("lsot", "de") == "lsot"


# --- learning --------------------------------------------------------------------------------------------------------


def test_words_are_counted_with_their_usual_capitals() -> None:
    lines = ["Der Hund bellt.", "Ein Hund bellt, der Hund.", ">> 你好 मूवी", "x² m²xy"]
    known = learn_spelling({"deu": lines, "zh": ["你好世界"], "hi": ["नमस्ते दुनिया"]})
    assert list(known.languages) == ["de"]
    assert known.languages["de"] == KnownWords({"hund": 1, "bellt": 1, "der": 1, "ein": 0}, frozenset(["hund"]))


def test_the_most_frequent_words_are_kept() -> None:
    counts = WordCounts()
    counts.add("bbb aaa ccc ccc")
    assert dict(counts.known(2).levels) == {"ccc": 1, "aaa": 0}
    assert MOST_WORDS >= 10_000


# --- everyday --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("language", "typed", "read"),
    [
        ("en", "Where is teh station? I lsot my kyes.", "Where is the station? I lost my keys."),
        ("de", "Ich hbae keinen Hunger. Die Haustür ist gorß.", "Ich habe keinen Hunger. Die Haustür ist groß."),
        ("fr", "Je ne comprneds pas. L'hmome mange.", "Je ne comprends pas. L'homme mange."),
        ("zh", "hbae teh", "hbae teh"),
        ("en", "I beleive in adress", "I believe in address"),
    ],
)
def test_what_people_type_is_read(everyday: Spelling, language: str, typed: str, read: str) -> None:
    assert everyday.repaired(typed, language) == read


#: Right words that are one swap or one equal letter from frequent ones, and names.
RIGHT = {
    "en": "veil odor snug signer nay veer prefect licensee tsar tsars gaol snog coed lief lien bale acne brae"
    " reefer saloon preform sternum wroth suing warps odes loins potions cation braking theatre complied"
    " trialing pervious tarps promisee",
    "de": "leibt nagst huren altre unsre schließ schleißen schriebt entschiede verleibt fruchtlos geerdet"
    " heilten bewiese ausstiegen schwiegen verlasen schlaffen",
    "fr": "bine fiat fias prote rogue suave tarin trios tuile cancre porche potion quarte chantre pliante"
    " liasses étioles linges patrons sevrer cation",
}
NAMES = (
    "Boyd Leif Noe Christina Jeffery Wien Marco Gael Rae Diem Stael Lemnos Fromm Baath Christian Mathias"
    " Mohamed Hoffman Mooney Aimee Carla Maira Dontae Haering Liu Torp Joesph Alexandre Rafael Andree"
    " Warren Somer Gross Denny Starr"
)


@pytest.mark.parametrize("language", sorted(RIGHT))
def test_right_words_and_names_stay(everyday: Spelling, language: str) -> None:
    words = [*RIGHT[language].split(), *NAMES.split()]
    assert [word for word in words if everyday.repaired(word, language) != word] == []
    inside = [f"und {word}, et {word}" for word in words]
    assert [text for text in inside if everyday.repaired(text, language) != text] == []


@pytest.mark.parametrize(
    ("folder", "language", "least"),
    [("tatoeba-en-de", "en", 0.65), ("tatoeba-en-de", "de", 0.55), ("tatoeba-en-fr", "fr", 0.6)],
)
def test_edited_text_hardly_changes_and_most_swaps_are_mended(
    everyday: Spelling, data_folder: Path, folder: str, language: str, least: float
) -> None:
    with gzip.open(data_folder / folder / f"val.{language}.gz", "rt", encoding="utf-8") as file:
        lines = list(itertools.islice((line for line in file if len(line) > 20), 1000))
    assert sum(everyday.repaired(line, language) != line for line in lines) <= 1
    generator = default_rng(3)
    typed = [(line, swap_letters(line, generator)) for line in lines]
    long = [pair for pair in typed if any(len(word) > 3 for word in set(pair[1].split()) - set(pair[0].split()))]
    mended = [everyday.repaired(swapped, language) == line for line, swapped in long]
    assert sum(mended) >= least * len(mended)


@pytest.fixture(scope="module")
def translator() -> Translator:
    return Translator.load("everyday", device="cpu")


@pytest.mark.parametrize(("typed", "edited"), [("I lsot my kyes.", "I lost my keys."), ("teh station", "the station")])
def test_a_translator_reads_both_alike_and_links_the_words_as_typed(
    translator: Translator, typed: str, edited: str
) -> None:
    first, second = translator.translate([typed, edited], source_lang="en", target_lang="de", align=True)
    assert first.text == second.text
    assert first.alignment == second.alignment


def test_a_term_and_a_protected_stretch_are_read_as_typed(translator: Translator) -> None:
    def read(**options: object) -> str:
        request = Request("He drives a Statoin and a statoin.", source_lang="en", target_lang="de", **options)  # type: ignore[arg-type]
        return translator.pipeline.plan([request]).texts[0].segments[0].reading.text

    assert read() == "He drives a Statoin and a station."
    assert read(terms=TermList([Term("statoin", ("Kombi",))])) == "He drives a Statoin and a statoin."
    assert "statoin" not in read(protect=["a statoin"])[-12:]


# --- on disk ---------------------------------------------------------------------------------------------------------


LETTERS = st.text("abcö", min_size=3, max_size=9)
TABLES = st.dictionaries(
    st.sampled_from(["en", "de"]), st.dictionaries(LETTERS, st.integers(0, 59), min_size=1), min_size=1
)


@given(TABLES)
def test_the_file_gives_the_words_back(
    tmp_path_factory: pytest.TempPathFactory, tables: dict[str, dict[str, int]]
) -> None:
    words = {language: KnownWords(own, frozenset(sorted(own)[::2])) for language, own in tables.items()}
    content = words_bytes(Spelling(words))
    assert content == words_bytes(Spelling(dict(reversed(words.items()))))
    path = tmp_path_factory.getbasetemp() / WORDS
    path.write_bytes(content)
    assert read_words(path) == Spelling(words)


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    own = replace(tiny_bundle(tiny_tokenizers()), spelling=Spelling({"en": ENGLISH}))
    write_bundle(tmp_path / "bundle", own)
    return tmp_path / "bundle"


def remake_manifest(folder: Path) -> None:
    """Write a manifest that fits the changed files, as an attacker does."""
    (folder / MANIFEST).unlink()
    inside = folder.with_name("inside")
    shutil.move(folder, inside)
    save_folder(folder, lambda temporary: shutil.copytree(inside, temporary, dirs_exist_ok=True) and None)
    shutil.rmtree(inside)


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[:-1],
        lambda content: content + content,
        lambda _: b"en 3 abc\n",
        lambda _: gzip.compress(b""),
        lambda _: gzip.compress(b"en 3\n"),
        lambda _: gzip.compress(b"en 60 abc\n"),
        lambda _: gzip.compress(b"en 3 a1b\n"),
        lambda _: gzip.compress(b"../x 3 abc\n"),
        lambda _: gzip.compress(b"en 3 " + b"a" * 99),
        lambda _: gzip.compress(b"en 3 \xff"),
        lambda _: gzip.compress(b"en 3 abc  abd\n"),
        lambda _: gzip.compress("en 3 abc\u2003abd\n".encode()),
        lambda _: gzip.compress(b"en 3" + b" abc" * 600_000),
        lambda _: gzip.compress(b"en 3 abc\n" * 600_000),
        lambda _: gzip.compress(b"a" * 30_000_000),
    ],
    ids=[
        "cut",
        "doubled",
        "plain",
        "empty",
        "no word",
        "level",
        "digit",
        "path",
        "long",
        "no text",
        "gap",
        "wide space",
        "many",
        "many lines",
        "bomb",
    ],
)
def test_a_damaged_file_is_refused_in_one_line(damage: Callable[[bytes], bytes], bundle: Path) -> None:
    file = bundle / WORDS
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(BundleError, match="differs from its"):
        load_bundle(bundle)
    remake_manifest(bundle)
    with pytest.raises(BundleError, match="not the words of a model") as refused:
        load_bundle(bundle)
    assert "\n" not in str(refused.value)


def test_a_file_that_the_manifest_lacks_is_refused(bundle: Path, tmp_path: Path) -> None:
    write_bundle(tmp_path / "plain", tiny_bundle(tiny_tokenizers()))
    assert load_bundle(tmp_path / "plain").spelling is None
    shutil.copy(bundle / WORDS, tmp_path / "plain")
    with pytest.raises(BundleError, match="not listed"):
        load_bundle(tmp_path / "plain")


def test_words_last_when_a_model_is_packaged_and_averaged(bundle: Path, tmp_path: Path) -> None:
    assert run(["package", "-m", str(bundle), "-o", str(tmp_path / "small")]) == 0
    assert run(["average", str(bundle), str(bundle), "-o", str(tmp_path / "mean")]) == 0
    for name in ("small", "mean"):
        assert load_bundle(tmp_path / name).spelling == Spelling({"en": ENGLISH})


@pytest.mark.torch
def test_an_update_adds_its_words(bundle: Path) -> None:
    from dragoman.experiments.updating import _with_words

    updated = _with_words(load_bundle(bundle), [("a garb lsot", "x"), ("The veil", "y")], ("en", "de")).spelling
    assert updated is not None
    assert updated.languages["en"].levels == {**ENGLISH.levels, "garb": 0, "lsot": 0}
    assert updated.repaired("lsot kyes", "en") == "lsot keys"


@pytest.mark.torch
def test_a_package_of_a_run_knows_the_words_of_its_training_text(tmp_path: Path) -> None:
    sides = {language: tmp_path / f"a.{language}" for language in ("en", "de")}
    sides["en"].write_text("A horse runs. The horse\n" * 30)
    sides["de"].write_text("Ein Pferd rennt. Das Pferd\n" * 30)
    corpus = {"name": "a", "source": str(sides["en"]), "target": str(sides["de"]), "both_ways": True}
    data = {"corpora": [{**corpus, "source_lang": "en", "target_lang": "de"}]}
    recipe = tmp_path / "recipe.yaml"
    recipe.write_text(json.dumps({"data": data, "tokenizer": {"vocab_size": 300, "byte_fallback": True}}))
    assert run(["prepare", str(recipe), "-o", str(tmp_path / "run")]) == 0
    spelling = open_prepared(tmp_path / "run").spelling()
    write_bundle(tmp_path / "bundle", tiny_bundle(tiny_tokenizers()))
    options = ["-m", str(tmp_path / "bundle"), "-o", str(tmp_path / "new"), "--spelling", str(tmp_path / "run")]
    assert run(["package", *options]) == 0
    assert load_bundle(tmp_path / "new").spelling == spelling
    assert set(spelling.languages) == {"en", "de"}
    assert set(spelling.languages["de"].levels) == {"ein", "pferd", "rennt", "das"}
    n_pairs = len(open_prepared(tmp_path / "run").train) // 2
    assert spelling.languages["en"].levels["horse"] == (2 * n_pairs).bit_length() - 1  # twice a line
