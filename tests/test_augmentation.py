"""Changes of pairs: both sides still say the same, whoever asks gets the same, and without doses nothing changes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from itertools import chain, combinations, pairwise
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import Generator, default_rng
from test_batches import PAD_ID

from dragoman.content.language import language_of
from dragoman.data.augmentation.augment import Augmentation, attach, change_punctuation, generator_of
from dragoman.data.augmentation.days import shared_days
from dragoman.data.augmentation.letters import add_typos, change_case
from dragoman.data.augmentation.made_up_spans import draw_verbatim
from dragoman.data.augmentation.names import NAME_KINDS, draw_name, invented_word
from dragoman.data.augmentation.number_values import value_of, written
from dragoman.data.augmentation.replacing import replace_spans, reserve_names
from dragoman.data.augmentation.shared import Languages, Pair
from dragoman.data.augmentation.shared_names import shared_names
from dragoman.data.batches import WHOLE, Batches, Cut
from dragoman.data.drawn_pairs import Drawing
from dragoman.data.row_groups import group_by_cost
from dragoman.data.store import PairStore, Part, StoreWriter, pack
from dragoman.errors import ConfigError
from dragoman.settings.augmentation_config import AugmentationConfig
from dragoman.settings.parsing import parse_config
from dragoman.settings.tokenizer_config import TokenizerConfig
from dragoman.text.language_sampling import LanguagePairs
from dragoman.text.learning import learn_many_tokenizers, learn_tokenizers
from dragoman.text.spans import VERBATIM, find_spans
from dragoman.text.tags import reserved_names
from dragoman.text.tokenizer import Tokenizers

pytestmark = pytest.mark.torch

EN_DE, EN_FR, ZH_EN = ("en", "de"), ("en", "fr"), ("zh", "en")
PIECES = reserved_names(64)
SEEDS = range(60)
Change = Callable[[Pair, Languages, Generator], Pair]
COMMON = ("Tom", "Mary", "Toms", ",", ".", "?", "⟨3⟩", "{x}", "17", "www.a.org", "’", "汤姆", "三个")
words = st.lists(st.text(max_size=8) | st.sampled_from(COMMON), max_size=8)
texts = words.map(" ".join)
languages = st.tuples(*[st.sampled_from(["en", "de", "fr", "zh", "ru", "ja", "und"])] * 2)
doses = st.builds(
    AugmentationConfig, **{name: st.sampled_from([0.0, 0.5, 1.0]) for name in AugmentationConfig.model_fields}
)


def results(change: Change, pair: Pair, languages: Languages) -> set[Pair]:
    return {change(pair, languages, default_rng(seed)) for seed in SEEDS}


# -- all changes ------------------------------------------------------------------------------------------------------


@given(texts, texts, languages, doses, st.tuples(st.integers(0, 2**62), st.integers(0, 9)))
def test_a_change_is_a_function_of_its_arguments(
    source: str, target: str, languages: Languages, doses: AugmentationConfig, key: tuple[int, int]
) -> None:
    augmentation = Augmentation(doses, PIECES)
    changed = augmentation.change((source, target), languages, key)
    augmentation.change(("Tom has 3 dogs.", "Tom hat 3 Hunde."), EN_DE, (1,))
    assert augmentation.change((source, target), languages, key) == changed


@given(texts, texts, languages, st.integers(0, 2**62))
def test_without_doses_nothing_changes(source: str, target: str, languages: Languages, key: int) -> None:
    assert Augmentation(AugmentationConfig(), PIECES).change((source, target), languages, (key,)) == (source, target)
    assert not AugmentationConfig().is_on
    assert not AugmentationConfig(spans=0).is_on
    assert AugmentationConfig(typos=0.1).is_on


@pytest.mark.parametrize("name", list(AugmentationConfig.model_fields))
def test_each_dose_is_the_share_of_pairs_that_a_change_is_made_to(name: str) -> None:
    pair = ("If Tom comes, I will stay.", "Wenn Tom kommt, bleibe ich.")
    for dose in (0.2, 1.0):
        augmentation = Augmentation(AugmentationConfig.model_validate({name: dose}), PIECES)
        changed = [augmentation.change(pair, EN_DE, (epoch, 5)) for epoch in range(400)]
        share = sum(each != pair for each in changed) / 400
        assert 0.3 * dose < share <= 1.3 * dose
        assert len(set(changed)) > 1 or name == "punctuation"


@given(st.integers(0, 2**62), st.sampled_from([EN_DE, EN_FR, ZH_EN]))
def test_spans_are_equal_on_both_sides_afterwards(key: int, languages: Languages) -> None:
    pair = {
        EN_DE: ("Tom's 3 dogs saw {x} at 17:45.", "Toms 3 Hunde sahen {x} um 17:45 Uhr."),
        EN_FR: ("Tom has 3 dogs at https://a.org.", "Tom a 3 chiens sur https://a.org."),
        ZH_EN: ("汤姆有3只狗，a@b.org。", "Tom has 3 dogs, a@b.org."),
    }[languages]
    augmentation = Augmentation(AugmentationConfig(spans=1, case=1, typos=1), ())
    source, target = augmentation.change(pair, languages, (key,))
    spans = [
        Counter(text[each.start : each.end] for each in find_spans(text) if each.kind in VERBATIM)
        for text in (source, target)
    ]
    assert spans[0] == spans[1]
    assert sorted(re.findall(r"\d", source)) == sorted(re.findall(r"\d", target))


def test_what_translators_mask_is_masked() -> None:
    augmentation = Augmentation(AugmentationConfig(spans=0.5, reserved=0.5), PIECES)
    for key in SEEDS:
        sides = augmentation.change(("Send {x} to a@b.org 😀.", "Sende {x} an a@b.org 😀."), EN_DE, (key,))
        pieces = [re.findall(r"⟨\d+⟩", side) for side in sides]
        assert sorted(pieces[0]) == sorted(set(pieces[1]))
        assert len(pieces[0]) >= 3
        assert {span.kind for side in sides for span in find_spans(side)} == {"reserved"} | (
            {span.kind for side in sides for span in find_spans(side)} & {"number"}
        )


@given(st.lists(st.integers(0, 2**70), min_size=1, max_size=7).map(tuple))
def test_a_generator_is_that_of_numpy(key: tuple[int, ...]) -> None:
    """It is only made faster."""
    assert generator_of(key).random(3).tolist() == default_rng(key).random(3).tolist()


# -- names ------------------------------------------------------------------------------------------------------------


def names_of(pair: Pair, languages: Languages) -> list[tuple[str, str]]:
    found = []
    for shared in shared_names(pair, languages):
        ((start, end), *_), ((other_start, other_end), *_) = shared.places
        found.append((pair[0][start:end], pair[1][other_start:other_end]))
    return found


@pytest.mark.parametrize(
    ("pair", "languages", "names"),
    [
        (("Tom likes Mary.", "Tom mag Mary."), EN_DE, ["Tom", "Mary"]),
        (("Tom likes Mary.", "Tom mag Maria."), EN_DE, ["Tom"]),
        (("I saw Tom's car.", "Ich sah Toms Auto."), EN_DE, ["Tom"]),
        (("Toms Auto.", "Tom's car."), ("de", "en"), ["Tom"]),
        (("Does Zanzo live in Fooburg?", "Wohnt Zanzo in Fooburg?"), EN_DE, ["Zanzo", "Fooburg"]),
        (("Tom Jackson sings.", "Es singt Tom Jackson."), EN_DE, ["Tom Jackson"]),
        (("Winter is coming.", "Der Winter kommt."), EN_DE, []),  # a noun
        (("Winter kommt.", "Winter is coming."), ("de", "en"), []),
        (("Compare it!", "Compare !"), EN_FR, []),  # both at the beginning, and in no list
        (("I love the Seine.", "J'aime la Seine."), EN_FR, []),  # its article would not fit another name
        (("Tom and Tom left.", "Tom ist weg."), EN_DE, []),  # once and twice
        (("Tom, Tom!", "Tom, Tom!"), EN_DE, ["Tom"]),
        (("It was in April.", "Es war im April."), EN_DE, []),
        (("See www.Tom.org.", "Sieh www.Tom.org."), EN_DE, []),
        (("汤姆喜欢玛丽。", "Tom likes Mary."), ZH_EN, ["汤姆 Tom", "玛丽 Mary"]),
        (("Tom喜欢她。", "Tom likes her."), ZH_EN, ["Tom"]),
        (("汤姆喜欢她。", "He likes her."), ZH_EN, []),
    ],
)
def test_names_on_both_sides(pair: Pair, languages: Languages, names: list[str]) -> None:
    expected = [(name.split()[0], name.split()[1]) if not name.isascii() else (name, name) for name in names]
    assert names_of(pair, languages) == expected


def test_a_name_is_replaced_wherever_it_stands_and_fits_there() -> None:
    for source, target in results(replace_spans, ("Tom's mother saw Tom.", "Toms Mutter sah Tom."), EN_DE):
        match = re.fullmatch(r"(.+)'s mother saw (.+)\.", source)
        assert match is not None
        assert match[1] == match[2]
        assert target == f"{match[1]}s Mutter sah {match[1]}."
        assert match[1][-1] not in "sxzß"


def test_french_and_english_words_before_a_name_fit_its_first_sound() -> None:
    for _, target in results(replace_spans, ("It is Tom's book.", "C'est le livre de Tom."), EN_FR):
        name = target.removeprefix("C'est le livre de ")
        assert name[0] not in "AEIOUYHÉÁÄÅÍÓÖØÚÜ"


def test_made_up_names_and_spans_are_many_and_keep_their_kind() -> None:
    generator = default_rng(1)
    for kind in NAME_KINDS:
        names = [draw_name(kind, generator) for _ in range(300)]
        assert len(set(names)) > 200
        assert all(name[0].isupper() for name in names)
    assert len({invented_word(generator) for _ in range(500)}) > 400
    for _ in range(500):
        span = draw_verbatim(generator)
        assert [(each.start, each.end) for each in find_spans(f"x {span} y")] == [(2, 2 + len(span))], span


# -- numbers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("texts", "languages"),
    [
        (("1,250.50", "1.250,50"), EN_DE),
        (("1,250.50", "1 250,50"), EN_FR),
        (("1,250", "1.250"), EN_DE),
        (("1,000,000", "1\u202f000\u202f000"), EN_FR),
        (("17:45", "17:45"), EN_DE),
        (("12.5", "12,5"), EN_DE),
        (("1000", "1.000"), EN_DE),
        (("2024-05-17", "2024-05-17"), ZH_EN),
    ],
)
def test_numbers_are_equal_by_value_and_written_in_each_languages_way(texts: Pair, languages: Languages) -> None:
    values = [value_of(text, language) for text, language in zip(texts, languages, strict=True)]
    assert values[0] == values[1]
    assert [written(values[0], *each) for each in zip(languages, texts, strict=True)] == list(texts)


@pytest.mark.parametrize(
    ("texts", "languages"),
    [(("1.250", "1.250"), EN_DE), (("17:45", "17:46"), EN_DE), (("007", "7"), EN_DE), (("2.1.3", "2.13"), EN_DE)],
)
def test_numbers_of_other_values_differ(texts: Pair, languages: Languages) -> None:
    assert value_of(texts[0], languages[0]) != value_of(texts[1], languages[1])


@given(st.integers(0, 10**9), st.sampled_from(["en", "de", "fr", "zh", "ru"]), st.booleans())
def test_what_is_written_is_read(value: int, language: str, has_fraction: bool) -> None:
    number = Decimal(f"{value}.25" if has_fraction else value)
    assert value_of(written(number, language), language) == number


@pytest.mark.parametrize(
    ("pair", "languages", "form"),
    [
        (("I have 5 dogs.", "Ich habe 5 Hunde."), EN_DE, r"I have (?P<n>[2-9]|\d\d+|\d[\d,]+) dogs\."),
        (("I paid $1,250.50.", "Ich zahlte 1.250,50 $."), EN_DE, r"I paid \$(?P<n>[\d,]+\.\d\d)\."),
        (("Born in 1984.", "Né en 1984."), EN_FR, r"Born in (?P<n>\d[\d,]*)\."),
        (("Come at 5 pm.", "Komm um 5 Uhr."), EN_DE, r"Come at (?P<n>[2-9]|1[0-2]) pm\."),
        (("It is 17:45.", "现在17:45。"), ("en", "zh"), r"It is (?P<n>1[3-9]|2[0-3]):[0-5]\d\."),
        (("Born on October 10.", "Geboren am 10. Oktober."), EN_DE, r"Born on [A-Z][a-z]+ (?P<n>[2-9]|1\d|2[0-8])\."),
        (("J'ai payé 1 250 €.", "I paid €1,250."), ("fr", "en"), r"J'ai payé (?P<n>\d[\d ]*(,\d\d)?) €\."),
        (("I have 1234 dogs.", "Mi havas 1234 hundojn."), ("en", "eo"), r"I have (?P<n>\d+|\d[\d,]+) dogs\."),
        (("Call 1-800-828.", "Appelez 1-800-828."), EN_FR, r"Call 1-(?P<n>\d{3})-\d{3}\."),
    ],
)
def test_numbers_are_replaced_on_both_sides(pair: Pair, languages: Languages, form: str) -> None:
    found = results(replace_spans, pair, languages) - {pair}
    assert len(found) > 5
    for source, target in found:
        assert re.fullmatch(form, source), source
        assert re.findall(r"\d", source) == re.findall(r"\d", target)


@pytest.mark.parametrize(
    ("pair", "languages"),
    [
        (("On the 22nd of May.", "Am 22. Mai."), EN_DE),
        (("It weighs 3 million.", "它重300万。"), ("en", "zh")),
        (("I have 1 dog.", "Ich habe 1 Hund."), EN_DE),
        (("I have 0 dogs.", "Ich habe 0 Hunde."), EN_DE),
        (("The 2nd dog.", "Der 2te Hund."), EN_DE),
        (("I have 5 dogs.", "У меня 5 собак."), ("en", "ru")),  # 2, 3 and 4 have another form
        (("I have 5 or 5 dogs.", "Ich habe 5 Hunde."), EN_DE),
        (("It costs 1.250 euros.", "Es kostet 1.250 Euro."), EN_DE),  # 1.25 and 1250
        (("Two hundred dogs.", "Deux cents chiens."), EN_FR),
        (("星期三天气好。", "Three fine days."), ZH_EN),
        (("I have 5 dogs.", "Ich habe fünf Hunde."), EN_DE),
    ],
)
def test_numbers_that_stay(pair: Pair, languages: Languages) -> None:
    assert results(replace_spans, pair, languages) == {pair}


def test_russian_keeps_the_last_two_digits() -> None:
    for source, target in results(replace_spans, ("I have 123 dogs.", "У меня 123 собаки."), ("en", "ru")):
        assert (source[9:11], target[9:11]) == ("23", "23") or re.search(r"\d*23 ", source)


# -- reserved pieces, attaching ---------------------------------------------------------------------------------------


def test_names_become_different_pieces_that_the_text_does_not_have() -> None:
    def change(pair: Pair, languages: Languages, generator: Generator) -> Pair:
        return reserve_names(pair, languages, PIECES[:4], generator)

    found = results(change, ("Tom likes Mary, ⟨2⟩.", "Tom mag Mary, ⟨2⟩."), EN_DE)
    assert len(found) == 6
    for source, target in found:
        first, second = re.findall(r"⟨[134]⟩", source)
        assert first != second
        assert target == f"{first} mag {second}, ⟨2⟩."
    # In most pairs the pieces come in the order in which a translator takes them.
    drawn = [change(("Tom likes Mary.", "Mary mag Tom."), EN_DE, default_rng(seed))[0] for seed in range(200)]
    assert sum(source == "⟨1⟩ likes ⟨2⟩." for source in drawn) > 90


def test_numbers_become_pieces_too() -> None:
    def change(pair: Pair, languages: Languages, generator: Generator) -> Pair:
        return reserve_names(pair, languages, PIECES[:1], generator)

    pair = ("I have 1,250 dogs.", "Ich habe 1.250 Hunde.")
    assert results(change, pair, EN_DE) == {pair, ("I have ⟨1⟩ dogs.", "Ich habe ⟨1⟩ Hunde.")}
    pair = ("I have 1 dog.", "Ich habe 1 Hund.")
    assert results(change, pair, EN_DE) == {pair}


def test_the_same_is_attached_to_both_sides() -> None:
    def change(pair: Pair, languages: Languages, generator: Generator) -> Pair:
        return attach(pair, languages, "⟨1⟩", generator)

    found = results(change, ("I see.", "Ich sehe."), EN_DE)
    assert len(found) > 3
    for source, target in found:
        assert source.count("⟨1⟩") == target.count("⟨1⟩") == 1
        assert source.replace("I see", "Ich sehe") == target
    assert ("我知道。⟨1⟩", "I know. ⟨1⟩") in results(change, ("我知道。", "I know."), ZH_EN)


def test_a_pair_without_names_sometimes_gets_a_name_or_a_piece_that_it_lacks() -> None:
    pair = ("⟨1⟩ sees it.", "⟨1⟩ sieht es.")
    for doses, pieces in ((AugmentationConfig(reserved=1), PIECES[:2]), (AugmentationConfig(spans=1), ())):
        found = {Augmentation(doses, pieces).change(pair, EN_DE, (seed,)) for seed in SEEDS} - {pair}
        assert found
        assert all(pair[0] in source and pair[1] in target for source, target in found)
        assert not pieces or all("⟨2⟩" in source and "⟨2⟩" in target for source, target in found)
    assert Augmentation(AugmentationConfig(reserved=1), PIECES[:1]).change(pair, EN_DE, (1,)) == pair


# -- clauses, punctuation, letters ------------------------------------------------------------------------------------


def changed_punctuation(pair: Pair, languages: Languages, generator: Generator) -> Pair:
    return change_punctuation(pair)


def test_a_final_mark_is_dropped_on_both_sides_and_a_question_keeps_it_in_the_target() -> None:
    assert results(changed_punctuation, ("I see.", "Ich sehe!"), EN_DE) == {("I see", "Ich sehe")}
    assert results(changed_punctuation, ("你好吗？", "How are you?"), ZH_EN) == {("你好吗", "How are you?")}
    assert results(changed_punctuation, ("I see.", "Siehst du?"), EN_DE) == {("I see.", "Siehst du?")}


def test_case_and_typos_spare_addresses_placeholders_and_names() -> None:
    pair = ("Rosalind wrote to Info@A.org about {userName} yesterday.", "Rosalind schrieb Info@A.org über {userName}.")
    for change in (change_case, add_typos):
        found = {change(pair, default_rng(seed)) for seed in SEEDS}
        assert len(found) > 2
        for source, target in found:
            assert target == pair[1]
            assert "Info@A.org" in source
            assert "{userName}" in source
            assert change is change_case or "Rosalind" in source


# -- batches ----------------------------------------------------------------------------------------------------------

PAIRS = [
    *[("Tom has three dogs.", "Tom hat drei Hunde."), ("If it rains, I stay.", "Wenn es regnet, bleibe ich.")] * 6,
    *[("Mary sees Boston.", "Mary sieht Boston."), ("Come here!", "Komm her!"), ("Where are you?", "Wo bist du?")] * 6,
]
ALL = AugmentationConfig(spans=0.5, reserved=0.3, case=0.3, punctuation=0.3, typos=0.3)


@pytest.fixture(scope="module")
def tokenizers() -> Tokenizers:
    config = TokenizerConfig(reserved=8, sampling=0.1)
    return learn_tokenizers(lambda: iter(PAIRS), config, "en", "de")


def store_of(folder: Path, tokenizers: Tokenizers, *, two_parts: bool = False) -> PairStore:
    folder.mkdir()
    with StoreWriter(folder, (tokenizers.source.vocab_size, tokenizers.target.vocab_size)) as writer:
        for pairs, part in ((PAIRS[:12], Part("a", "en", "de")), (PAIRS[12:], Part("b", "en", "fr"))):
            if two_parts:
                writer.begin(part)
            sources, targets = zip(*pairs, strict=True)
            ids = [list(map(tokenizers.source.encode, sources)), list(map(tokenizers.target.encode, targets))]
            writer.add(pack(ids, [sources, targets]))
    return PairStore(folder)


def rows(batches: Batches, tokenizers: Tokenizers, index: int, cut: Cut = WHOLE) -> list[Pair]:
    found = []
    for batch in batches.micro_batches(index, cut):
        for sides in zip(batch.source_ids.tolist(), batch.target_ids.tolist(), strict=True):
            source, target = ([id for id in side if id != PAD_ID] for side in sides)
            found.append((tokenizers.source.decode(source), tokenizers.target.decode(target)))
    return found


def make(store: PairStore, tokenizers: Tokenizers, doses: AugmentationConfig, *, sampling: bool = False) -> Batches:
    return Batches(store, tokenizers, batch_tokens=90, seed=1, drawing=Drawing(sampling, 80, doses))


@pytest.mark.parametrize("sampling", [False, True])
def test_batches_are_the_same_for_whoever_asks_and_new_each_epoch(
    sampling: bool, tmp_path: Path, tokenizers: Tokenizers
) -> None:
    store = store_of(tmp_path / "store", tokenizers)
    one, other = (make(store, tokenizers, ALL, sampling=sampling) for _ in range(2))
    n_batches = one.epochs.n_batches
    epochs = [[rows(one, tokenizers, epoch * n_batches + index) for index in range(n_batches)] for epoch in range(3)]
    for epoch in reversed(range(3)):
        for index in reversed(range(n_batches)):
            whole = epochs[epoch][index]
            assert rows(other, tokenizers, epoch * n_batches + index) == whole
            shares = [rows(other, tokenizers, epoch * n_batches + index, Cut(rank, 3)) for rank in range(3)]
            assert sorted(chain(*shares)) == sorted(whole)
    assert len({tuple(sorted(chain(*epoch))) for epoch in epochs}) == 3


def test_without_doses_batches_are_those_of_the_store(tmp_path: Path, tokenizers: Tokenizers) -> None:
    store = store_of(tmp_path / "store", tokenizers)
    plain = Batches(store, tokenizers, batch_tokens=90, seed=1)
    off = make(store, tokenizers, AugmentationConfig())
    for index in range(2 * plain.epochs.n_batches):
        (one,), (other,) = plain.micro_batches(index), off.micro_batches(index)
        assert torch.equal(one.source_ids, other.source_ids)
        assert torch.equal(one.target_ids, other.target_ids)
        assert one.source_ids.tolist()[0][:-1] == store.source_ids(int(plain.pairs(index)[0])).tolist()


@pytest.mark.parametrize("sampling", [False, True])
def test_tags_stay_before_the_text_and_come_once(sampling: bool, tmp_path: Path) -> None:
    texts = [LanguagePairs(lambda: iter(PAIRS), "en", code) for code in ("de", "fr")]
    config = TokenizerConfig(reserved=8, sampling=0.1 if sampling else 0.0)
    tokenizers = learn_many_tokenizers(texts, config)
    tagged = [(f">>{'de' if index < 12 else 'fr'}<< {source}", target) for index, (source, target) in enumerate(PAIRS)]
    (tmp_path / "store").mkdir()
    with StoreWriter(tmp_path / "store", (tokenizers.source.vocab_size, tokenizers.target.vocab_size)) as writer:
        for pairs, part in ((tagged[:12], Part("a", "en", "de")), (tagged[12:], Part("b", "en", "fr"))):
            writer.begin(part)
            sources, targets = zip(*pairs, strict=True)
            ids = [list(map(tokenizers.source.encode, sources)), list(map(tokenizers.target.encode, targets))]
            writer.add(pack(ids, [sources, targets]))
    batches = make(PairStore(tmp_path / "store"), tokenizers, ALL, sampling=sampling)
    tags = {tokenizers.source.encode(f">>{code}<<")[0] for code in ("de", "fr")}
    assert len(tags) == 2
    for index in range(2 * batches.epochs.n_batches):
        for batch in batches.micro_batches(index):
            for row in batch.source_ids.tolist():
                assert [id for id in row if id in tags] == row[:1]


def test_texts_that_get_too_long_are_used_as_they_are(tmp_path: Path, tokenizers: Tokenizers) -> None:
    store = store_of(tmp_path / "store", tokenizers)
    longest = int(max(store.source_lengths.max(), store.target_lengths.max()))
    drawing = Drawing(max_length=longest, augmentation=AugmentationConfig(spans=1))
    batches = Batches(store, tokenizers, batch_tokens=90, seed=1, drawing=drawing)
    found = [row for index in range(batches.epochs.n_batches) for row in rows(batches, tokenizers, index)]
    for batch in batches.micro_batches(0):
        assert batch.source_ids.size(1) <= longest + 1
    assert len(found) > len(PAIRS) / 2
    assert set(found) & set(PAIRS)


def test_micro_batches_keep_the_budget(tmp_path: Path, tokenizers: Tokenizers) -> None:
    store = store_of(tmp_path / "store", tokenizers)
    batches = make(store, tokenizers, ALL)
    for index in range(batches.epochs.n_batches):
        for batch in batches.micro_batches(index):
            costs = [max((source != PAD_ID).sum().item(), (target != PAD_ID).sum().item() - 1) for source, target in
                     zip(batch.source_ids, batch.target_ids, strict=True)]  # fmt: skip
            assert len(costs) * max(costs) <= 90 or len(costs) == 1


@given(st.lists(st.integers(1, 60), max_size=40), st.integers(1, 400), st.integers(0, 100))
def test_groups_of_similar_costs_have_each_row_once_within_the_budget(
    costs: list[int], budget: int, extra: int
) -> None:
    groups = group_by_cost(costs, budget, extra)
    assert sorted(row for group in groups for row in group) == list(range(len(costs)))
    for group in groups:
        assert len(group) == 1 or len(group) * max(costs[row] for row in group) <= budget


@given(st.lists(st.integers(1, 9), min_size=1, max_size=9), st.integers(0, 20))
def test_no_other_groups_of_similar_costs_are_cheaper(costs: list[int], extra: int) -> None:
    def total(groups: Iterable[Sequence[int]]) -> int:
        return sum(len(group) * max(group) + extra for group in groups)

    sorted_costs = sorted(costs)
    places = range(1, len(costs))
    all_cuts = chain.from_iterable(combinations(places, n) for n in range(len(costs)))
    others = ([sorted_costs[a:b] for a, b in pairwise((0, *cuts, len(costs)))] for cuts in all_cuts)
    found = [[costs[row] for row in group] for group in group_by_cost(costs, 10**6, extra)]
    assert total(found) == min(map(total, others))


def test_a_group_that_costs_more_makes_fewer_groups_of_the_same_rows() -> None:
    costs = [9] * 100 + [40] * 8 + [10] * 90
    assert [len(group) for group in group_by_cost(costs, 4096, 128)] == [8, 190]
    assert [len(group) for group in group_by_cost(costs, 4096, 0)] == [8, 90, 100]
    assert len(group_by_cost(costs, 10**6, 10**6)) == 1


def test_reserved_pieces_need_a_tokenizer_that_has_them() -> None:
    with pytest.raises(ConfigError, match=r"augmentation.reserved needs reserved pieces; set tokenizer.reserved"):
        parse_config({"augmentation": {"reserved": 0.1}})
    parse_config({"augmentation": {"reserved": 0.1}, "tokenizer": {"reserved": 8}})


# -- days -------------------------------------------------------------------------------------------------------------


def numbers_of(texts: Pair, languages: Languages, key: str) -> list[list[int]]:
    """Return the numbers, from 1, of the months or weekdays that each text names."""
    found = []
    for text, code in zip(texts, languages, strict=True):
        language = language_of(code)
        assert language is not None
        found.append([number for number, (name, *_) in enumerate(language.cldr[key], 1) if name in text])
    return found


@pytest.mark.parametrize(
    ("languages", "pair"),
    [
        (EN_DE, ("See you next Monday.", "Bis nächsten Montag.")),
        (EN_DE, ("Until Monday.", "Bis zum Montag.")),
        (EN_DE, ("Monday, the first", "Montag, der Erste")),
        (EN_FR, ("It falls on a Sunday.", "Cela tombe un dimanche.")),
        (ZH_EN, ("我星期一去。", "I go on Monday.")),
    ],
)
def test_a_weekday_becomes_another_one_on_both_sides(languages: Languages, pair: Pair) -> None:
    seen = set()
    for texts in results(replace_spans, pair, languages):
        source, target = numbers_of(texts, languages, "weekdays")
        assert len(source) == 1
        assert source == target
        seen.add(source[0])
    assert len(seen) == 7


@pytest.mark.parametrize(
    ("languages", "pair", "least"),
    [
        (EN_DE, ("It snowed in May 1962.", "Es schneite im Mai 1962."), 10),
        (EN_DE, ("It snowed in June.", "Es schneite im Juni."), 10),
        (EN_FR, ("It snowed in January.", "Il a neigé en janvier."), 10),
        (EN_FR, ("In April.", "Au mois d'avril."), 3),  # only those that begin with a vowel
        (ZH_EN, ("六月下雪了。", "It snowed in June."), 10),
    ],
)
def test_a_month_becomes_another_one_on_both_sides(languages: Languages, pair: Pair, least: int) -> None:
    months = set()
    for texts in results(replace_spans, pair, languages):
        _, target = numbers_of(texts, languages, "months")
        assert len(target) == 1
        names = [language.cldr["months"][target[0] - 1][0] for code in languages if (language := language_of(code))]
        assert names[0] in texts[0]
        assert re.findall(r"\d", texts[0]) == re.findall(r"\d", texts[1])
        months.add(target[0])
    assert len(months) >= least


@pytest.mark.parametrize(
    ("languages", "pair", "forms"),
    [
        (EN_DE, ("On May 31.", "Am 31. Mai."), (r"On (\w+) (\d+)\.", r"Am (\d+)\. (\w+)\.")),
        (EN_FR, ("May 3, 1990", "le 3 mai 1990"), (r"(\w+) (\d+), \d{4}", r"le (\d+) (\w+) \d{4}")),
        (("en", "zh"), ("On May 5.", "5月5日。"), (r"On (\w+) (\d+)\.", r"\d+月(\d+)日。")),
    ],
)
def test_a_date_becomes_another_one_on_both_sides(languages: Languages, pair: Pair, forms: Pair) -> None:
    found = results(replace_spans, pair, languages) - {pair}
    assert len(found) > 30
    for texts in found:
        source, target = (re.fullmatch(form, text) for form, text in zip(forms, texts, strict=True))
        assert source is not None, texts
        assert target is not None, texts
        assert source[2] == target[1]
        assert 2 <= int(source[2]) <= 28
        months = [language.month_numbers for code in languages if (language := language_of(code))]
        if target.re.groups == 2:
            assert months[0][source[1].lower()] == months[1][target[2].lower()]
        else:
            assert texts[1].startswith(f"{months[0][source[1].lower()]}月")


@pytest.mark.parametrize(
    ("languages", "pair"),
    [
        (EN_DE, ("I work on Mondays.", "Ich arbeite montags.")),
        (EN_DE, ("May I come in May?", "Darf ich im Mai kommen?")),
        (EN_DE, ("Yesterday was Monday.", "Gestern war Dienstag.")),
        (EN_DE, ("Black Friday", "Schwarzer Freitag")),
        (EN_FR, ("Let March come.", "Que mars vienne.")),
        (("en", "ru"), ("On Monday", "В понедельник")),  # another weekday would need another ending
        (("und", "en"), ("Montag", "Monday")),
    ],
)
def test_a_day_stays_where_another_might_not_fit(languages: Languages, pair: Pair) -> None:
    assert not shared_days(pair, languages)
