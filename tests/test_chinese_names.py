"""Names of people in Chinese characters: where they stand, how English writes them, and that translations keep them."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.text.chinese_names import find_chinese_names
from dragoman.text.known_names import quantities_with_names
from dragoman.text.quantities import Quantity
from dragoman.text.terms import Term, TermList
from dragoman.translator import Request, Translator

PARTS = [
    "大卫",
    "玛丽",
    "莲",
    "陈",
    "洁",
    "王",
    "先生",
    "国",
    "·",
    "史密斯",
    "小",
    "明",
    "天",
    "约翰",
    "，",
    "A",
    "湯姆",
    "是",
]


@given(st.text() | st.lists(st.sampled_from(PARTS)).map("".join))
def test_places_are_in_order_and_forms_are_in_latin_letters(text: str) -> None:
    names = find_chinese_names(text)
    assert all(first.end <= second.start for first, second in pairwise(names))
    for name in names:
        assert name.end - name.start >= 2
        assert name.forms
        assert all(
            form.replace(".", "").replace("-", "").replace(" ", "").replace("'", "").isalpha() for form in name.forms
        )
        assert all(form[0].isupper() and max(form) < "\u0250" for form in name.forms)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("昨天晚上我和大卫去看电影了。", ["David"]),
        ("大衛和麥可，瑪麗蓮和瑪麗", ["David", "Michael", "Marilyn", "Mary"]),
        ("约翰·史密斯和约翰史密斯先生", ["John Smith", "Mr. John Smith"]),
        ("约翰·未知", []),
        ("汤姆爱玛丽", ["Tom", "Mary"]),
        ("陈洁和王芳明天见张志强", ["Chen Jie", "Wang Fang", "Zhang Zhiqiang"]),
        ("诸葛亮见欧阳娜娜", ["Zhuge Liang", "Ouyang Nana"]),
        ("王先生、李太太、赵医生和李明教授", ["Mr. Wang", "Mrs. Li", "Dr. Zhao", "Professor Li Ming"]),
        ("小李和老张，小明", ["Xiao Li", "Lao Zhang", "Xiaoming"]),
        ("安娜夫人", ["Mrs. Anna"]),
        ("吕芳", ["Lü Fang"]),
    ],
)
def test_names_and_their_usual_forms(text: str, names: list[str]) -> None:
    assert [name.forms[0] for name in find_chinese_names(text)] == names


def test_all_forms_of_a_name_are_in_order() -> None:
    (name,) = find_chinese_names("王小明")
    assert name.forms == ("Wang Xiaoming", "Xiaoming Wang", "Wangxiaoming", "Wang Xiao-ming", "Wang Xiao Ming")


@pytest.mark.parametrize(
    "text",
    [
        "我很高兴。黄金和白天，马上，周平均，何时，方法。",
        "国王伟大，主张敏感，小王子，小红帽，一张丽人的照片。",
        "马克杯和麦克风，俄罗斯，圣彼得堡，诺贝尔奖，大卫生间。",
        "黎明时起床，对于静态类型，沈阳军区，陆军，韩国军队。",
        "这儿有张德国的大地图。他有一万平方米。",
        "高中生在武汉看白云，唐朝诗人，拉丁文字。",
        "秦军攻打赵军，苏军胜利了，他在看林海雪原和孙子兵法。",
    ],
)
def test_ordinary_words_are_no_names(text: str) -> None:
    assert find_chinese_names(text) == []


def test_names_take_the_place_of_numbers_that_they_overlap() -> None:
    text = "玛丽莲和玛丽有12个"
    number = Quantity(7, 9, ("12",))
    assert quantities_with_names([number, Quantity(5, 8, ("x",))], text, ("zh", "en"), {"玛丽"}) == [
        Quantity(4, 6, ("Mary",)),
        number,
    ]


@pytest.fixture(scope="module")
def translator() -> Translator:
    return Translator.load("everyday", workers=1)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("昨天晚上我和大卫去看电影了。", "David"),
        ("这个包裹是给安娜的。", "Anna"),
        ("卢卡斯住在三楼。", "Lucas"),
        ("陈洁又忘了带钥匙。", "Chen Jie"),
        ("王先生在家吗？", "Mr. Wang"),
        ("大衛，你在哪裡？", "David"),
        ("约翰·史密斯是医生。", "John Smith"),
        ("玛丽莲喜欢猫。", "Marilyn"),
    ],
)
def test_the_everyday_model_keeps_names(translator: Translator, text: str, name: str) -> None:
    translation = translator.translate(text, source_lang="zh", target_lang="en", rules=["names"]).text
    assert translation.count(name) == 1
    assert translation.isascii()


def test_characters_of_a_term_are_no_name(translator: Translator) -> None:
    text, terms = "这个包裹是给安娜的。", TermList([Term("安娜", ("Ms. Wu",))])
    request = Request(text, source_lang="zh", target_lang="en", terms=terms, rules=["names"])
    (translation,) = translator.pipeline.translate([request])
    assert "Anna" not in translation.text
    assert "Ms. Wu" in translation.text


def test_without_the_search_the_name_is_lost(translator: Translator) -> None:
    """The cases above would say nothing of a model that keeps all names by itself."""
    plan = translator.pipeline.plan([Request("这个包裹是给安娜的。", source_lang="zh", target_lang="en")])
    (first,) = translator.pipeline.finish(plan, translator.pipeline.search(plan.jobs))
    assert "Anna" not in first.text
