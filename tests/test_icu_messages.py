"""Messages of ICU: they are found in linear time, and a text with one stays as it is, whatever holds it."""

import time

import pytest
from document_samples import require_documents
from tiny import tiny_bundle, tiny_tokenizers

from dragoman.documents import Document, parse_document, translate_document
from dragoman.memories import TranslationMemory, Unit
from dragoman.text.icu_messages import has_icu_message
from dragoman.text.spans import find_spans
from dragoman.translator import Translator

MESSAGES = [
    "{n, plural, =1 {one cat} other {many cats}}",
    "You have {count , plural , offset:1 one {# dog} other {{name} and # dogs}} here.",
    "{g, select, male {He} other {They, {n, selectordinal, one {#st} other {#th}}}} is here.",
    "{cats().length, plural, =0 {none} other {{{ n }} cats}}",
    "{0,choice,0#no cats|1#one cat|1<{0} cats}",
    "{count, plural,",
]
OTHERS = [
    "{name}",
    "{a, b}",
    "{n, number}",
    "{d, date, short}",
    "{{n}}",
    "{this, select, or that}",
    '{"select": {"x": 2}}',
]


@pytest.fixture(scope="module")
def translator() -> Translator:
    tokenizers = tiny_tokenizers()
    return Translator([tiny_bundle(tokenizers)], tokenizers)


def translate(document: Document, translator: Translator) -> tuple[str, list[tuple[str, ...]]]:
    translations = list(translate_document(document, translator, beam_size=1))
    return document.rebuild(translations).decode(), [each.flags for each in translations]


@pytest.mark.parametrize("text", MESSAGES)
def test_a_text_with_a_message_is_copied_with_a_flag(text: str, translator: Translator) -> None:
    assert has_icu_message(text)
    translation = translator.translate(text)
    assert (translation.text, translation.flags) == (text, ("copied",))


@pytest.mark.parametrize("text", OTHERS)
def test_other_braces_are_no_message(text: str, translator: Translator) -> None:
    assert not has_icu_message(text)
    assert "copied" not in translator.translate(f"The cat {text}", beam_size=1).flags


@pytest.mark.parametrize("text", ["{name}", "{n, number}", "{1, date, short}", "{total, number, ::currency/USD}"])
def test_an_argument_is_a_placeholder(text: str) -> None:
    assert find_spans(f"It is {text} here.") == [(6, 6 + len(text), "placeholder")]


def test_a_message_in_a_protected_stretch_does_not_count() -> None:
    text = 'See <x equiv="{n, plural, one {a}}"/> of {n, plural, one {a}}'
    places = [(text.index("<"), text.index(">") + 1), (text.index(">") + 5, len(text))]
    assert has_icu_message(text, places[:1])
    assert not has_icu_message(text, places)


def test_hostile_texts_take_no_time() -> None:
    start = time.process_time()
    for text in ("{" * 200_000, "{a," * 60_000, "{a, plural, " * 20_000, "{a, plural," + " " * 200_000):
        has_icu_message(text, [(at, at + 1) for at in range(0, len(text), 2)])
    assert time.process_time() - start < 5


@pytest.mark.parametrize("message", [*MESSAGES[:3], "{n, plural,\n  one {a cat}\n  other {# cats}\n}"])
@pytest.mark.parametrize("format", ["txt", "html", "md", "csv", "srt"])
def test_documents_keep_messages(format: str, message: str, translator: Translator) -> None:
    require_documents()
    form = {"html": "<p>{}</p>", "csv": 'text\n"{}"', "srt": "1\n00:00:01,000 --> 00:00:02,000\n{}"}.get(format, "{}")
    content = form.replace("{}", message) + "\n"
    document = parse_document(content.encode(), format, columns="text" if format == "csv" else None)
    assert translate(document, translator) == (content, [("copied",)])


@pytest.mark.parametrize(
    "message",
    [
        *(message.replace("<", "&lt;") for message in MESSAGES),
        '{VAR, plural, =1 {one minute ago} other {<x id="INTERPOLATION"/> minutes}}',
        'It has {n, plural, one {<g id="1">one</g> cat} other {<x id="START_BOLD"/>#<x id="CLOSE_BOLD"/> cats}} here.',
        "{n, plural,\n  one {a cat}\n  other {# cats}\n}",
        '<mrk mtype="seg" mid="0">{n, plural, one {A cat.}</mrk> <mrk mtype="seg" mid="1">other {# cats}}</mrk>',
    ],
)
@pytest.mark.parametrize("space", ["", ' xml:space="preserve"'])
def test_units_of_xliff_keep_messages_for_review(message: str, space: str, translator: Translator) -> None:
    unit = f'<trans-unit id="1"{space}><source>{message}</source></trans-unit>'
    content = f'<xliff version="1.2"><file source-language="en" original="a"><body>{unit}</body></file></xliff>'
    written, flags = translate(parse_document(content.encode(), "xlf"), translator)
    assert flags == [("copied",)]
    assert f">{message}</target>" in written
    assert '<target state="needs-review-translation"' in written


def test_messages_of_catalogues_are_fuzzy(translator: Translator) -> None:
    require_documents()
    content = 'msgid ""\n"{n, plural,\\n"\n"  one {a cat}\\n"\n"  other {# cats}}"\nmsgstr ""\n'
    written, flags = translate(parse_document(content.encode(), "po"), translator)
    assert flags == [("copied",)]
    assert "#, fuzzy" in written
    assert written.count("  one {a cat}\\n") == 2


def test_a_memory_translates_a_message(translator: Translator) -> None:
    memory = TranslationMemory([Unit(MESSAGES[0], "{n, plural, =1 {eine Katze} other {viele Katzen}}")])
    translation = translator.translate(MESSAGES[0], memory=memory)
    assert translation.text == "{n, plural, =1 {eine Katze} other {viele Katzen}}"
