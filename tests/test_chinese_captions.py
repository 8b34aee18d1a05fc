"""Captions in Chinese: the measure word of each noun, no spaces, and what a Chinese would write."""

import random
import re

import pytest
from test_synthetic import captions_vocabulary, read

from dragoman.corpora.caption_drawing import draw
from dragoman.corpora.captions import NUMBERS, NounPhrase, Sentence
from dragoman.corpora.captions_lexicon import all_verbs, chinese_nouns, chinese_words, nouns, sites
from dragoman.corpora.chinese import noun_phrase, read_chinese
from dragoman.corpora.synthetic import SHOWCASE, make_corpus

#: Written by hand, not from the lexicon: measure words that a textbook gives.
MEASURES = {
    "马": "匹",
    "狗": "只",
    "猫": "只",
    "牛": "头",
    "书": "本",
    "信": "封",
    "车": "辆",
    "毛衣": "件",
    "连衣裙": "条",
    "椅子": "把",
    "桌子": "张",
    "树": "棵",
    "花": "朵",
    "河": "条",
    "老师": "位",
    "灯": "盏",
    "门": "扇",
    "报纸": "份",
    "女人": "个",
}
AMOUNT = re.compile(r"[一两三四五六几那](\w)")

TRANSLATIONS = [
    # A measure word for each noun; 两 and not 二; 许多 without one.
    ("A man is riding a horse.", "一个男人骑着一匹马。"),
    ("Two women are wearing black coats.", "两个女人穿着黑色的大衣。"),
    ("Many children are playing in the snow.", "许多孩子在雪中玩耍。"),
    ("Several pigs are lying next to a fence.", "几头猪趴在一道栅栏旁边。"),
    # The place before the verb, the wider place first, and after verbs of rest.
    ("She is reading a book.", "她在看一本书。"),
    ("She is reading the book in the kitchen.", "她在厨房里看那本书。"),
    ("A woman is sitting on a bench in the park.", "一个女人坐在公园里的一张长椅上。"),
    ("The young man is getting on an old train.", "那个年轻的男人正登上一列旧火车。"),
    # One English word, several Chinese ones.
    ("The musician is playing the violin.", "那个音乐家在拉小提琴。"),
    ("The musician is playing the guitar.", "那个音乐家在弹吉他。"),
    ("Two boys are playing chess.", "两个男孩在下国际象棋。"),
    ("Two boys are playing soccer.", "两个男孩在踢足球。"),
    ("They are wearing the shoes.", "他们穿着那双鞋子。"),
    ("They are wearing hats.", "他们戴着礼帽。"),
    ("He is eating soup.", "他在喝汤。"),
    ("The old soldier is wearing an old coat.", "那名年老的士兵穿着一件旧大衣。"),
    ("An old cat is chasing a bird.", "一只老猫在追赶一只鸟。"),
    # Clothes before the noun that they describe.
    ("A man in a blue shirt is fishing.", "一个穿蓝色衬衫的男人在钓鱼。"),
    ("The woman in the red jacket is waiting.", "那个穿红色夹克的女人在等候。"),
    # Words after a place depend on it.
    ("They are sitting at the table.", "他们坐在桌子旁。"),
    ("He is lying in the grass.", "他躺在草丛里。"),
    ("He is sleeping in the bed.", "他在床上睡觉。"),
    ("He is waiting at the station.", "他在火车站等候。"),
    ("A man is sleeping in the sun.", "一个男人在阳光下睡觉。"),
    ("The dog is running into the house.", "那只狗正跑进房子。"),
]


@pytest.fixture(scope="module")
def trees() -> list[Sentence]:
    generator = random.Random(11)
    return [draw(generator) for _ in range(20_000)]


@pytest.mark.parametrize(("english", "chinese"), TRANSLATIONS)
def test_the_grammar_gives_the_chinese_a_chinese_would(english: str, chinese: str) -> None:
    assert {read_chinese(tree) for tree in read(english)} == {chinese}


def test_nouns_have_the_measure_words_of_a_textbook(trees: list[Sentence]) -> None:
    seen = set()
    for tree in trees:
        for phrase in (tree.subject, tree.object, *(place.phrase for place in tree.places)):
            text = noun_phrase(phrase) if isinstance(phrase, NounPhrase) else ""
            amount = AMOUNT.match(text)
            noun = max((each for each in MEASURES if text.endswith(each)), key=len, default="")
            if amount and noun and amount[1] != "些" and phrase.noun.english != "train":
                assert amount[1] == MEASURES[noun], text
                seen.add(noun)
    assert seen == set(MEASURES)


def test_every_word_has_its_chinese() -> None:
    known = {*chinese_nouns(), *chinese_words("adjectives"), *chinese_words("numbers")}
    assert not set(captions_vocabulary()) - known - {verb.english.split()[0] for verb in all_verbs()}
    assert len(chinese_words("numbers")) == len(NUMBERS)
    for verb in all_verbs():
        assert all(re.fullmatch(r"[\u4e00-\u9fff]+[LOP]?[\u4e00-\u9fffLOP]*", each) for each in _patterns(verb.chinese))
        for site in sites(f"{verb.where} {verb.setting}"):
            assert site.english in chinese_words("places", site.noun)


def _patterns(chinese: str) -> list[str]:
    return [each.rpartition("=")[2] for each in chinese.split()]


def test_a_pattern_asks_for_the_object_of_its_verb_and_other_patterns_for_objects_it_has() -> None:
    for verb in all_verbs():
        for each in verb.chinese.split():
            names, _, pattern = each.rpartition("=")
            assert bool(verb.what) == bool(set(pattern) & {"O", "P"}), verb
            assert set(filter(None, names.split(","))) <= {noun.english for noun in nouns(verb.what)}
        assert ("L" in verb.chinese) <= verb.needs_place


def test_two_nouns_share_no_chinese_word() -> None:
    assert len({chinese for _, chinese in chinese_nouns().values()}) == len(chinese_nouns())


def test_sentences_are_written_without_spaces_or_latin_letters(trees: list[Sentence]) -> None:
    for tree in trees:
        assert re.fullmatch(r"[\u4e00-\u9fff]{3,45}。", read_chinese(tree)), tree.english()
        assert "的的" not in read_chinese(tree)


def test_the_sources_are_those_of_the_german_captions() -> None:
    """So one source is in the same split, whatever the language."""
    german, chinese = (make_corpus(task, 3_000, 200, 400, seed=1) for task in ("captions", "captions-zh"))
    assert {source for source, _ in german.train}.isdisjoint(source for source, _ in chinese.test)
    assert {source for source, _ in chinese.train}.isdisjoint(source for source, _ in german.test)
    shown = {source for source, _ in SHOWCASE}
    assert shown.isdisjoint(source for source, _ in (*chinese.train, *chinese.validation, *chinese.test))
