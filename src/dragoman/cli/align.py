"""`dragoman align`: pair the sentences of two documents."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dragoman.cli.options import Overwrite, SourceLang, TargetLang, model_option, option
from dragoman.cli.pair_files import pair_writer, refuse_pair_file
from dragoman.cli.streams import refuse_output, say
from dragoman.errors import DataError, counted

if TYPE_CHECKING:
    from dragoman.alignment.sentence_pairs import Sentence


def align(
    source: Annotated[Path, typer.Argument(help="A document or book.", show_default=False)],
    target: Annotated[Path, typer.Argument(help="Its translation, in any format.", show_default=False)],
    output: Annotated[Path, option("The pairs: .tsv or .tmx.", "--output", "-o", show_default=False)],
    source_lang: SourceLang = None,
    target_lang: TargetLang = None,
    model: Annotated[list[str], model_option(", whose translations help to find the pairs; optional")] = [],  # noqa: B006
    min_confidence: Annotated[float, option("Leave out pairs below it.", min=0, max=1)] = 0.0,
    overwrite: Overwrite = False,
) -> None:
    """Pair the sentences of two documents.

    Lengths and a lexicon that is learned from the documents decide. Several sentences may be the translation of one;
    those without a translation are left out. A TSV file has the confidence of each pair as its third column.

    \b
    dragoman align book.txt buch.docx -o pairs.tsv \\
        --source-lang en --target-lang de
    """
    from dragoman.alignment.sentence_pairs import align_sentences

    langs = source_lang, target_lang
    refuse_pair_file(output, (".tsv", ".tmx"), langs)
    refuse_output(output, overwrite=overwrite, inputs=[source, target])
    left, right = (_sentences(path) for path in (source, target))
    translations = _translations(left, model, source_lang, target_lang) if model else None
    alignment = align_sentences(left, right, translations)
    pairs = [
        (_join(left, group.sources), _join(right, group.targets), f"{group.confidence:.3f}")
        for group in alignment.groups
        if not group.is_gap and group.confidence >= min_confidence
    ]
    if not pairs:
        raise DataError("no sentence has a translation", target, advice="check that the texts belong together")
    columns = ("source", "target", "confidence")
    with pair_writer([output], langs, overwrite=overwrite, columns=columns) as write:
        for pair in pairs:
            write(*pair)
    if not alignment.is_clear:
        say(f"warning: nothing shows that {target} translates {source}; look at the pairs before you use them")
    gaps = [group for group in alignment.groups if group.is_gap]
    n_left, n_right = sum(len(gap.sources) for gap in gaps), sum(len(gap.targets) for gap in gaps)
    unpaired = f"{n_left:,} of {len(left):,}, {n_right:,} of {len(right):,}"
    say(f"wrote {counted(len(pairs), 'pair')} to {output}; sentences without a translation: {unpaired}")


def _sentences(path: Path) -> list[Sentence]:
    """Return the sentences of a document that have words.

    Raises:
        DataError: it cannot be read, or has none.
    """
    from dragoman.alignment.sentence_pairs import Sentence
    from dragoman.documents import open_document
    from dragoman.text.sentences import has_words, sanitize_paragraphs, sentences

    found = [
        Sentence(sentence, paragraph)
        for paragraph, segment in enumerate(open_document(path).segments())
        for sentence in sentences(sanitize_paragraphs(segment.text))
        if has_words(sentence)
    ]
    if not found:
        raise DataError("no sentences", path, advice="give a document with text")
    return found


def _translations(
    sentences: Sequence[Sentence], model: Sequence[str], source_lang: str | None, target_lang: str | None
) -> list[str]:
    """Return the translation of each sentence, by greedy search."""
    from dragoman.translator import Translator

    translator = Translator.load(*model)
    texts = [sentence.text for sentence in sentences]
    found = translator.translate(texts, beam_size=1, source_lang=source_lang, target_lang=target_lang)
    return [each.text for each in found]


def _join(sentences: Sequence[Sentence], span: range) -> str:
    """Return some sentences as one text, with spaces between them where their script has spaces."""
    from dragoman.text.languages import lacks_spaces

    texts = [" ".join(sentences[index].text.split()) for index in span]
    return ("" if lacks_spaces(texts) else " ").join(texts)
