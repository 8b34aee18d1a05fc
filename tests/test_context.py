"""Sentences before a source: counted by the lines of the corpus, read in training, and given by all callers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from runs import captured_log
from serving import client_of, require_server
from tiny import LEARNED, PAIRS, many_tokenizers, tiny_bundle, tiny_tokenizers

from dragoman.bundle.bundle import Bundle, write_bundle
from dragoman.data.batches import Batches
from dragoman.data.context import Neighbours
from dragoman.data.corpus import read_pairs
from dragoman.data.drawn_pairs import Drawing, DrawnPairs
from dragoman.data.encode_corpus import PartText, write_stores
from dragoman.data.prepare import prepare
from dragoman.data.prepared import Prepared
from dragoman.data.selection import Selection, select
from dragoman.decoding.constraints.active import ActiveConstraints
from dragoman.documents import parse_document, translate_document
from dragoman.errors import BundleError, ConfigError, DataError
from dragoman.settings.data_config import DataConfig
from dragoman.settings.parsing import parse_config
from dragoman.settings.search_config import SearchConfig
from dragoman.text.learned_text import LearnedText, fewest_sentences
from dragoman.text.segmenter import Characters
from dragoman.text.special_ids import SpecialIds
from dragoman.text.tokenizer import Tokenizer, Tokenizers
from dragoman.text.vocabulary import Vocabulary
from dragoman.translator import ModelFacts, Request, Translator

pytestmark = pytest.mark.torch

#: Two documents; the third pair is too unequal to be kept, and the sixth line is between them.
LINES = [
    ("A cat sees her.", "Eine Katze sieht sie."),
    ("She has it.", "Sie hat es."),
    ("It.", "Es ist so, wie es ist, und so, wie es war, und so, wie es wird, und so, wie es nie sein wird."),
    ("Tom sees it.", "Tom sieht es."),
    ("A man has it.", "Ein Mann hat es."),
    ("", ""),
    ("A dog sees Tom.", "Ein Hund sieht Tom."),
    ("Tom has it.", "Tom hat ihn."),
]
READS = LEARNED.model_copy(update={"context": 2, "context_tokens": 24})


def selection(folder: Path) -> Selection:
    data = DataConfig(source=str(folder / "a.en"), target=str(folder / "a.de"), context=1)
    return select(read_pairs(data, "train"), data, {}, hold_out=False)


def prepared(folder: Path, **data: Any) -> tuple[Prepared, list[str]]:
    for side, name in enumerate(("a.en", "a.de")):
        lines = [pair[side] for pair in LINES]
        (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        (folder / f"val-{name}").write_text("".join(f"{line[:-1]}\n" for line in lines), encoding="utf-8")
    files = {"source": str(folder / "a.en"), "target": str(folder / "a.de"), "source_lang": "en", "target_lang": "de"}
    with captured_log() as told:
        validation = {
            f"validation_{side}": str(folder / f"val-a.{code}") for side, code in (("source", "en"), ("target", "de"))
        }
        if "corpora" not in data:
            data = {**files, **validation, **data}
        else:
            data = {"corpora": [{**files, **validation, **entry} for entry in data["corpora"]]}
        settings = {"data": {"max_ratio": 2.0, **data}, "tokenizer": {"vocab_size": 330}}
        return prepare(parse_config(settings), folder / "out"), told


# ------------------------------------------------------------------------------------------------ the corpus


@given(
    st.lists(st.tuples(st.integers(1, 2), st.integers(1, 9)), max_size=30),
    st.integers(0, 3),
    st.integers(1, 30),
    st.integers(0, 30),
)
def test_the_context_is_the_lines_directly_before(
    steps: list[tuple[int, int]], most: int, longest: int, cut: int
) -> None:
    lines = np.cumsum([step for step, _ in steps], dtype=int).tolist()
    lengths = [length for _, length in steps]
    neighbours = Neighbours(most, longest)
    chunks = [
        neighbours.count(lines[part], np.array(lengths[part], np.int64)) for part in (slice(cut), slice(cut, None))
    ]
    expected = []
    for index, line in enumerate(lines):
        n_before = 0
        while (
            n_before < min(most, index)
            and lines[index - n_before - 1] == line - n_before - 1
            and sum(lengths[index - n_before - 1 : index + 1]) + n_before + 1 <= longest
        ):
            n_before += 1
        expected.append(n_before)
    assert np.concatenate(chunks).tolist() == expected


def test_dropped_pairs_and_empty_lines_are_gaps(tmp_path: Path) -> None:
    corpus, lines = prepared(tmp_path, context=2)
    assert corpus.train.n_before.tolist() == [0, 1, 0, 1, 0, 1]
    assert [line for line in lines if "with context: 3 pairs for training, 3 for validation" in line]
    ids = [corpus.train.source_ids(pair).tolist() for pair in range(6)]
    end = corpus.tokenizers.source.special_ids.end
    drawn = DrawnPairs(corpus.train, corpus.tokenizers, 1, Drawing())
    assert list(drawn.ids(1, 0, 0)[0]) == [*ids[0], end, *ids[1]]
    assert list(drawn.ids(2, 0, 0)[0]) == ids[2]
    assert [len(drawn.ids(pair, 0, 0)[0]) for pair in range(6)] == corpus.train.read_lengths.tolist()
    assert drawn.ids(1, 0, 0)[1].tolist() == corpus.train.target_ids(1).tolist()
    assert (corpus.learned_text().context, corpus.learned_text().context_tokens) == (1, max(corpus.train.read_lengths))


def test_some_sources_are_read_without_their_context_by_the_seed(tmp_path: Path) -> None:
    corpus, _ = prepared(tmp_path, context=1)
    drawing = Drawing(without_context=0.25)
    drawn = [DrawnPairs(corpus.train, corpus.tokenizers, seed, drawing) for seed in (1, 1, 2)]
    lengths = [[len(one.ids(1, 0, epoch)[0]) for epoch in range(400)] for one in drawn]
    assert lengths[0] == lengths[1] != lengths[2]
    assert 0.18 < lengths[0].count(len(corpus.train.source_ids(1))) / 400 < 0.32
    batches = Batches(corpus.train, corpus.tokenizers, batch_tokens=40, seed=1, drawing=drawing)
    made = [batch for index in range(batches.epochs.n_batches) for batch in batches.micro_batches(index)]
    assert sum(len(batch.source_ids) for batch in made) == len(corpus.train)
    assert all(batch.source_ids.numel() <= 40 for batch in made)


def test_each_corpus_of_a_mixture_says_it_for_itself_and_tags_stay_at_the_sentence(tmp_path: Path) -> None:
    entries = [{"name": "plain", "tag": "bt"}, {"name": "talk", "context": 3, "both_ways": True}]
    corpus, _ = prepared(tmp_path, corpora=entries)
    by_part = {
        (part.name, part.source_lang): corpus.train.n_before[rows].tolist()
        for part, rows in corpus.train.rows_of_parts()
    }
    assert by_part["plain", "en"] == [0] * len(by_part["plain", "en"])
    rows = next(rows for part, rows in corpus.train.rows_of_parts() if (part.name, part.source_lang) == ("talk", "de"))
    rows_with = [row for row in range(rows.start, rows.stop) if corpus.train.n_before[row]]
    assert rows_with
    source, tag = corpus.tokenizers.source, corpus.tokenizers.source.vocabulary.ids([">>en<<"])
    for row in rows_with:
        drawn = list(DrawnPairs(corpus.train, corpus.tokenizers, 1, Drawing()).ids(row, 0, 0)[0])
        assert drawn.count(tag[0]) == 1
        own = drawn[drawn.index(source.special_ids.end) + 1 :]
        assert own[0] == tag[0]
        assert own == corpus.train.source_ids(row).tolist()


def test_text_without_order_and_damaged_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no pair stands on the line after another"):
        prepared(tmp_path, context=1, max_length=4)
    corpus, _ = prepared(tmp_path, context=1)
    path = corpus.train.folder / "context.bin"
    for content in (bytes([9, *path.read_bytes()[1:]]), path.read_bytes()[1:]):
        path.write_bytes(content)
        with pytest.raises(BundleError, match="do not fit together"):
            type(corpus.train)(corpus.train.folder)
    sides = [Tokenizer(Characters(), Vocabulary("abc", ids)) for ids in (SpecialIds(end=0), SpecialIds())]
    tokenizers = Tokenizers(sides[0], sides[1], corpus.tokenizers.config, corpus.tokenizers.directions)
    parts = [PartText(selection(tmp_path), None)]
    with pytest.raises(ConfigError, match="has no end mark"):
        write_stores(tmp_path, parts, tokenizers)


def test_without_it_no_file_of_it_is_written(tmp_path: Path) -> None:
    corpus, _ = prepared(tmp_path)
    assert not (corpus.train.folder / "context.bin").exists()
    assert LearnedText.of_bundle({"learned_text": READS.model_dump(mode="json")}, "x") == READS
    both = fewest_sentences([READS, READS.model_copy(update={"context": 1})])
    assert (both and both.context) == 1
    assert (one := fewest_sentences([READS, None])) is not None
    assert one.context == 0


# ------------------------------------------------------------------------------------------------ the translator


@pytest.fixture(scope="module")
def bundle() -> Bundle:
    return tiny_bundle(tiny_tokenizers(), max_length=40)


def translator_of(bundle: Bundle, learned: LearnedText | None = READS) -> Translator:
    return Translator([bundle], bundle.tokenizers, SearchConfig(beam_size=2), facts=ModelFacts(learned=learned))


def read(translator: Translator, *requests: Request) -> list[list[int]]:
    return [list(job.ids) for job in translator.pipeline.plan(requests).jobs]


def test_jobs_have_the_context_that_fits_before_the_text(bundle: Bundle) -> None:
    translator, tokenizer = translator_of(bundle), bundle.tokenizers.source
    first, second, third = (tokenizer.encode(text) for text, _ in LINES[:2] + LINES[3:4])
    end = tokenizer.special_ids.end
    texts = LINES[0][0], LINES[1][0]
    last = Request(LINES[3][0], context=texts)
    fits = len(first) + len(second) + len(third) + 2 <= READS.context_tokens
    assert read(translator, last) == [[*[*first, end] * fits, *second, end, *third]]
    assert read(translator, replace(last, context=("Tom. " * 900, *texts))) == read(translator, last)
    whole = Request(" ".join((*texts, LINES[3][0])), sentences=True)
    assert read(translator, whole) == [first, [*first, end, *second], read(translator, last)[0]]
    assert read(translator, replace(last, context=(" ".join(texts),), sentences=True)) == read(translator, last)
    assert read(translator_of(bundle, LEARNED), last) == [third]
    long = Request("Tom sees a cat and a dog and a man.", context=texts)
    assert all(
        len(ids) <= max(READS.context_tokens, len(tokenizer.encode(long.text))) for ids in read(translator, long)
    )


def test_texts_of_a_document_are_read_in_order_by_all_callers(bundle: Bundle) -> None:
    translator = translator_of(bundle)
    texts = [text for text, _ in LINES]
    contexts = [(), texts[:1], texts[:2], texts[:3], texts[1:4], texts[2:5], (), texts[6:7]]
    requests = [Request(text, context=context) for text, context in zip(texts, contexts, strict=True)]
    expected = translator.pipeline.translate(requests)
    assert translator.translate(texts, as_document=True) == expected
    for size in (1, 30, 1000):
        streamed = translator.translate_stream(iter(texts), batch_size=size, as_document=True)
        assert [one.text for one in streamed] == [one.text for one in expected]
    cues = "".join(
        f"{number}\n00:00:0{number},000 --> 00:00:0{number},900\n{text}\n\n" for number, text in enumerate(texts[:4], 1)
    )
    document = parse_document(cues.encode(), "srt")
    assert [one.text for one in translate_document(document, translator)] == [one.text for one in expected[:4]]
    assert translator.translate(texts) != expected


def test_alignment_numbers_the_words_of_the_text_alone(bundle: Bundle) -> None:
    request = Request(LINES[1][0], context=(LINES[0][0],), align=True)
    (found,) = translator_of(bundle).pipeline.translate([request])
    assert {source for source, _ in found.alignment or ()} <= set(range(len(request.text.split())))


def test_the_context_explains_no_length_and_no_repetition(bundle: Bundle) -> None:
    scorer = translator_of(bundle).scorer
    end, pad = scorer.special_ids.source.end, scorer.special_ids.source.pad
    rows = [[7, 7, 7, end, 8, 9, end], [8, 9, end, pad, pad, pad, pad], [end, *[pad] * 6]]
    active = ActiveConstraints(scorer, np.array(rows), SearchConfig())
    assert [list(finder.source) for finder in active.finders] == [[8, 9], [8, 9], []]


# ------------------------------------------------------------------------------------------------ the server


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    require_server()
    folder = tmp_path_factory.mktemp("server") / "reader"
    bundle = tiny_bundle(many_tokenizers(), max_length=60)
    facts = {**bundle.facts, "learned_text": READS.model_copy(update={"context_tokens": 50}).model_dump(mode="json")}
    write_bundle(folder, replace(bundle, facts=facts))
    with client_of(folder) as client:
        yield client


def answers(client: Any, text: str, earlier: Sequence[str]) -> Iterator[str]:
    """Yield the translation by each protocol of a text with others before it."""
    messages = [{"role": "user", "content": each} for each in (*earlier, text)]
    body = {"model": "reader", "source_lang": "en", "target_lang": "de", "messages": messages}
    yield client.post("/v1/chat/completions", json=body).json()["choices"][0]["message"]["content"]
    context = " ".join(earlier)
    body = {"text": [text], "source_lang": "EN", "target_lang": "DE", "context": context}
    yield client.post("/v2/translate", json=body).json()["translations"][0]["text"]
    body = {"texts": [{"text": text, "context": context}], "source": "en", "target": "de"}
    yield client.post("/v1/translate", json=body).json()["translations"][0]["text"]
    body = {"q": "\n".join((*earlier, text)), "source": "en", "target": "de"}
    yield client.post("/translate", json=body).json()["translatedText"].split("\n")[-1]


def test_each_protocol_gives_context(client: Any) -> None:
    with_context = set(answers(client, PAIRS[0][0], [PAIRS[1][0]]))
    without = set(answers(client, PAIRS[0][0], []))
    assert len(with_context) == len(without) == 1
    assert with_context != without
