"""One Chinese word for a term, in the book, the README and the pages of the program: that of the book's glossary."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
GLOSSARY = ROOT / "docs" / "book" / "zh" / "glossary.md"
#: Another word for a term, and the glossary's.
OTHERS = {
    "去注意": "关注",
    "在注意什么": "关注",
    "集束搜索": "束搜索",
    "遮罩": "掩码",
    "令牌": "词元",
    "权重共享": "权重绑定",
    "教师强迫": "教师强制",
    "n 元组": "n 元语法",
    "过短惩罚": "简短惩罚",
    "结束标记": "结束符",
    "是一个假设": "候选",
}
FILES = [
    *sorted((ROOT / "docs" / "book" / "zh").rglob("*.md")),
    *sorted(path for kind in ("js", "html", "py") for path in (ROOT / "src").rglob(f"*.{kind}")),
    *sorted((ROOT / "docs" / "book" / "building").rglob("*.js")),
    ROOT / "docs" / "book" / "drawings" / "words.toml",
    ROOT / "README.zh.md",
]


def others(text: str) -> list[str]:
    """Return the words of a text for which the glossary has another."""
    return [other for other in OTHERS if other in text]


def test_each_term_has_one_word() -> None:
    found = {path.relative_to(ROOT).as_posix(): others(path.read_text(encoding="utf-8")) for path in FILES}
    assert not {path: words for path, words in found.items() if words}


@pytest.mark.parametrize("term", sorted(set(OTHERS.values())))
def test_the_word_is_the_glossarys(term: str) -> None:
    terms = re.findall(r"^(.+?)（.*）\n: ", GLOSSARY.read_text(encoding="utf-8"), re.M)
    assert term in [each for line in terms for each in line.split("、")]


def test_other_words_are_found() -> None:
    assert others("模型会去注意前面的词，直到结束标记") == ["去注意", "结束标记"]
    assert others("模型会关注前面的词，直到结束符") == []
