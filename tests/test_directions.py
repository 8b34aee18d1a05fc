"""The directions of a model of many languages: which a text takes, what is refused, and that nothing mixes them."""

from __future__ import annotations

import logging
import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tiny import LEARNED, many_tokenizers, tiny_bundle, tiny_tokenizers

from dragoman.bundle.bundle import load_bundle, write_bundle
from dragoman.errors import ConfigError
from dragoman.evaluation.evaluation import evaluate
from dragoman.settings.search_config import SearchConfig
from dragoman.text.languages import find_code
from dragoman.translator import ModelFacts, Request, Translator
from dragoman.translator.directions import Directions

TOKENIZERS = many_tokenizers(reserved=2)
TEXT = "A man rides. She reads a book."


@pytest.fixture(scope="module")
def many() -> Translator:
    return Translator(
        [tiny_bundle(TOKENIZERS, max_length=64)],
        TOKENIZERS,
        SearchConfig(beam_size=2),
        facts=ModelFacts(learned=LEARNED),
    )


@pytest.fixture(scope="module")
def one() -> Translator:
    tokenizers = tiny_tokenizers()
    return Translator([tiny_bundle(tokenizers)], tokenizers, SearchConfig(beam_size=1))


def ids(translator: Translator, **request: Any) -> list[list[int]]:
    return [list(job.ids) for job in translator.pipeline.plan([Request(**request)]).jobs]


def test_every_segment_begins_with_the_tag_of_its_target_language(many: Translator) -> None:
    encode = TOKENIZERS.source.encode
    assert many.directions == (("en", "de"), ("de", "en"), ("en", "zh"))
    for target in ("de", "zh"):
        found = ids(many, text=TEXT, target_lang=target)
        assert found == [encode(f">>{target}<< A man rides."), encode(f">>{target}<< She reads a book.")]
        assert found[0][0] == TOKENIZERS.source.vocabulary.ids([f">>{target}<<"])[0]


def test_typed_tags_win_and_related_codes_are_known(many: Translator) -> None:
    german = ids(many, text="A man.", target_lang="de")
    assert ids(many, text=">>de<< A man.") == german
    assert ids(many, text=" >>de<<  A man.", target_lang="zh") == german
    assert ids(many, text="A man.", source_lang="en-GB", target_lang="deu") == german
    assert ids(many, text="A >>zh<< man.", target_lang="de") != german
    assert ids(many, text=">>de<< >>zh<< A man.") == [TOKENIZERS.source.encode(">>de<< >>zh<< A man.")]
    assert (find_code("zh-CN", ["zh", "en"]), find_code("zh", ["zh-CN", "zh-TW"])) == ("zh", None)


def test_a_tag_inside_a_text_stays_text_where_a_segment_begins_with_it(many: Translator) -> None:
    text = "A man rides. >>zh<< She reads a book."
    first, second = ids(many, text=text, target_lang="de")
    assert first == ids(many, text="A man rides.", target_lang="de")[0]
    tags = TOKENIZERS.source.vocabulary.ids([">>de<<", ">>zh<<"])
    assert (second[0], tags[1] in second) == (tags[0], False)
    assert "".join(TOKENIZERS.source.decode(second).split()) == ">>zh<<Shereadsabook."
    words = many.translate(text, target_lang="de", align=True).alignment or ()
    assert all(source < len(text.split()) for source, _ in words)


def test_a_model_of_one_direction_takes_its_own_languages(one: Translator) -> None:
    plain = ids(one, text="A man.")
    for languages in ({"source_lang": "en"}, {"target_lang": "de"}, {"source_lang": "eng", "target_lang": "de-AT"}):
        assert ids(one, text="A man.", **languages) == plain
    assert one.tagged("A man.", target_lang="de") == "A man."
    assert ids(one, text=">>de<< A man.") != plain  # a tag is text here


UNKNOWN_TARGET = "the model does not write 'fr'; it translates en to de, de to en, en to zh"


@pytest.mark.parametrize(
    ("languages", "message"),
    [
        ({}, "the model translates into several languages: de, en, zh; name one of them, such as --target-lang de, or"),
        ({"source_lang": "en"}, 'target_lang="de" in Python'),
        ({"source_lang": "de"}, "such as --target-lang en, or"),
        ({"target_lang": "fr"}, UNKNOWN_TARGET),
        ({"target_lang": ""}, "the model does not write ''"),
        ({"source_lang": "zh", "target_lang": "de"}, "the model does not read 'zh'"),
        ({"target_lang": 3}, "target_lang is 3, a number"),
        ({"source_lang": b"en", "target_lang": "de"}, "source_lang is bytes"),
    ],
)
def test_languages_that_the_model_does_not_have(many: Translator, languages: dict[str, Any], message: str) -> None:
    calls = [
        lambda: many.translate(TEXT, **languages),
        lambda: list(many.translate_stream([TEXT], **languages)),
        lambda: many.score(TEXT, "Ein Mann.", **languages),
        lambda: many.fits(TEXT, "Ein Mann.", **languages),
        lambda: evaluate(many, [TEXT], ["Ein Mann."], **languages),
    ]
    for call in calls:
        with pytest.raises(ConfigError) as error:
            call()
        assert message in str(error.value)
        assert "\n" not in str(error.value)


def test_a_wrong_language_is_refused_before_there_is_text(many: Translator, one: Translator) -> None:
    for translator in (many, one):
        with pytest.raises(ConfigError, match="does not write 'fr'"):
            translator.translate([], target_lang="fr")
        with pytest.raises(ConfigError, match="does not write 'fr'"):
            translator.translate_stream(iter([]), target_lang="fr")
    with pytest.raises(ConfigError, match=r"does not write 'fr'; it translates en to de$"):
        one.translate("A man.", target_lang="fr")


def test_an_untrained_direction_is_allowed_with_one_warning(caplog: pytest.LogCaptureFixture) -> None:
    directions = Directions(TOKENIZERS)
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            assert directions.tagged("Ein Mann.", "de", "zh").source == ">>zh<< Ein Mann."
            directions.tagged("Ein Mann.", "de", "en")
            directions.tagged("Ein Mann.", None, "zh")
            directions.tagged(">>de<< Ein Mann.", "de")
    assert [record.message.split(",")[0] for record in caplog.records] == [
        "the model was not trained to translate de to zh",
        "the model was not trained to translate de to de",
    ]


def test_the_first_unknown_tags_are_text_with_one_warning_each(caplog: pytest.LogCaptureFixture) -> None:
    directions = Directions(TOKENIZERS)
    texts = [">>es<< Hola.", ">>es<< Hola.", "Hola >>it<<.", ">>\x1b[2J<< A.", f">>{'x' * 50}<< A.", ">>de<< >>pt<< A."]
    texts += [f">>{number}<< A." for number in range(20)]
    with caplog.at_level(logging.WARNING):
        sources = [directions.tagged(text, None, "de").source for text in texts]
    assert sources == [text if text.startswith(">>de<<") else f">>de<< {text}" for text in texts]
    names = ["es", "pt", *map(str, range(8))]
    assert [record.message.split(",")[0] for record in caplog.records] == [
        f"the model has no tag >>{name}<<" for name in names
    ]


def test_segments_are_joined_by_the_language_of_each_request(many: Translator) -> None:
    requests = [Request(TEXT, target_lang=target) for target in ("de", "zh")] + [Request(f">>zh<< {TEXT}")]
    plan = many.pipeline.plan(requests)
    assert [len(text.segments) for text in plan.texts] == [2, 2, 2]
    candidates = many.pipeline.search(plan.jobs)
    found = [translation.text for translation in many.pipeline.finish(plan, candidates)]
    first, second = ([beam[0].text for beam in candidates[place : place + 2]] for place in (0, 2))
    assert found == [" ".join(filter(None, first)), "".join(second), "".join(second)]


def test_texts_of_different_languages_share_batches_and_change_nothing(many: Translator) -> None:
    texts = [(TEXT, "de"), ("A man.", "zh"), ("She reads.", "de"), ("Ein Buch.", "en"), ("A man.", "de")]
    alone = [many.translate(text, target_lang=target).text for text, target in texts]
    together = many.pipeline.translate([Request(text, target_lang=target) for text, target in texts])
    assert [translation.text for translation in together] == alone
    with many.shared() as shared, ThreadPoolExecutor(5) as threads:
        jobs = [threads.submit(shared.translate, text, target_lang=target) for text, target in texts]
        assert [job.result().text for job in jobs] == alone
    again = pickle.loads(pickle.dumps(many))
    assert again.translate("A man.", target_lang="zh").text == alone[1]


def test_scores_see_the_tag(many: Translator) -> None:
    plain = many.score("A man.", "Ein Mann.", target_lang="de")
    assert plain == many.score(">>de<< A man.", "Ein Mann.")
    assert plain != many.score("A man.", "Ein Mann.", target_lang="zh")
    assert many.score(["A man."], ["Ein Mann."], target_lang="de") == [plain]
    n_fitting = next(n for n in range(1, 99) if not many.fits("A man. " * n, "x", target_lang="de")) - 1
    assert len(TOKENIZERS.source.encode(">>de<< " + "A man. " * n_fitting)) <= many.max_length
    assert len(TOKENIZERS.source.encode(">>de<< " + "A man. " * (n_fitting + 1))) > many.max_length


def test_a_target_may_begin_with_a_tag_as_text(many: Translator) -> None:
    text = ">>zh<< Ein Mann"
    first = many.pipeline.translate([Request("A man.", prefix=text, target_lang="de")])[0]
    assert first.text.startswith(text)
    scored = many.score("A man.", text, target_lang="de").tokens
    assert ">>zh<<" not in scored


def test_evaluation_counts_words_in_the_language_of_the_direction(many: Translator) -> None:
    results = evaluate(many, ["A man."] * 3, ["一个男人。"] * 3, target_lang="zh")
    assert "tok:zh" in results.metrics[0].signature
    typed = evaluate(many, [">>zh<< A man."] * 3, ["一个男人。"] * 3, language="zh")
    assert (typed.metrics, typed.perplexity) == (results.metrics, results.perplexity)
    with pytest.raises(ConfigError, match="in no language that is named"):
        evaluate(many, [">>zh<< A man."], ["一个男人。"])


def test_words_are_numbered_as_in_the_text(many: Translator) -> None:
    for request in (Request("A man rides.", target_lang="de", align=True), Request("A man rides.", align=True)):
        if request.target_lang is None:
            request = Request(f">>de<< {request.text}", align=True)
        (translation,) = many.pipeline.translate([request])
        first = len(request.text.split()) - 3
        assert {source for source, _ in translation.alignment or ()} <= set(range(first, first + 3))


def test_a_bundle_keeps_its_directions(tmp_path: Path) -> None:
    write_bundle(tmp_path / "many", tiny_bundle(TOKENIZERS))
    bundle = load_bundle(tmp_path / "many")
    assert bundle.tokenizers.directions == TOKENIZERS.directions
    assert "en to de, de to en, en to zh" in bundle.describe()
    loaded = Translator.load(tmp_path / "many", tmp_path / "many", device="cpu")
    assert "en to de, de to en, en to zh" in repr(loaded)
    assert loaded.translate(["A man."], target_lang="zh")[0].text


def test_one_language_cannot_be_source_and_target() -> None:
    translator = Translator.load("everyday", workers=1)
    with pytest.raises(ConfigError, match="en is both the source and the target language") as caught:
        translator.translate("Hello.", source_lang="en", target_lang="en")
    assert len(str(caught.value).splitlines()) == 1
    assert translator.translate("Hello.", source_lang="en", target_lang="de").text
