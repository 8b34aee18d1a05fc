"""Count the names in Chinese characters that `everyday` keeps in English, in made-up sentences.

Each name of everyday/people.tsv stands in four of twelve sentences, drawn from a fixed seed. A translation is right if
it has the name once, in a form of the table.
"""

from __future__ import annotations

import argparse
import random
import re

from everyday_made_up import read_table

from dragoman.translator import Request, Translator

SENTENCES = (
    "{}明天上午有空。",
    "请把钥匙交给{}。",
    "我在车站遇见了{}。",
    "{}，你吃饭了吗？",
    "你知道{}住在哪里吗？",
    "{}的儿子今年五岁。",
    "我们都很喜欢{}。",
    "昨天{}没有来上课。",
    "这张照片是{}拍的。",
    "我想跟{}谈谈。",
    "{}和我是好朋友。",
    "你见过{}吗？",
)
N_SENTENCES = 4


def main() -> None:
    """Print the share of kept names, without and with the rule `names`, and the sentences that lack one."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("model", nargs="?", default="everyday")
    pipeline = Translator.load(parser.parse_args().model, workers=1).pipeline
    draw, cases = random.Random("people"), []
    for name, forms in read_table("people.tsv"):
        pattern = re.compile(rf"\b(?:{forms})\b")
        cases += [(sentence.format(name), pattern) for sentence in draw.sample(SENTENCES, N_SENTENCES)]
    for title, rules in (("without", ()), ("with", ("names",))):
        requests = [Request(text, source_lang="zh", target_lang="en", rules=rules) for text, _ in cases]
        texts = [translation.text for translation in pipeline.translate(requests)]
        rows = zip(cases, texts, strict=True)
        lost = [(source, text) for (source, pattern), text in rows if len(pattern.findall(text)) != 1]
        print(f"{title} the rule `names`: {len(cases) - len(lost)} of {len(cases)}")
    for source, text in lost:
        print(f"  {source} | {text}")


if __name__ == "__main__":
    main()
