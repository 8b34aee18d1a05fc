"""Languages in the names of files: train.de.gz is German, corpus.en-de.tsv has pairs from English to German."""

from __future__ import annotations

import re
from pathlib import Path

from dragoman.data.formats.column_names import Languages
from dragoman.data.text_files.compression import COMPRESSED_SUFFIXES
from dragoman.data.text_files.file_signatures import has_document_suffix
from dragoman.settings.text_origin import LANGUAGE_CODE
from dragoman.text.tags import UNKNOWN

#: Ends of file names that look like languages: kinds of files, sides, and processing of the text.
_NOT_LANGUAGES = re.compile("bpe|csv|dat|dev|hyp|lc|log|low|out|raw|ref|sp|spm|src|sys|tgt|tmp|tok|trg|xml")


def file_language(name: str) -> str:
    """Return the language that a file name ends in: "train.de.gz" and "train.de.txt" are German; else "und"."""
    return _language(Path(file_stem(name)).suffix.removeprefix(".")) or UNKNOWN


def file_stem(name: str) -> str:
    """Return the name of a file without its folder and kind: "data/train.de.txt.gz" is "train.de"."""
    path = Path(Path(name).name)
    while path.suffix in (".txt", *COMPRESSED_SUFFIXES) or has_document_suffix(path):
        path = path.with_suffix("")
    return path.name


def table_languages(name: str) -> Languages:
    """Return the languages in the name of a table; None for each that the name lacks.

    >>> table_languages("corpus.en-de.tsv.gz"), table_languages("a.src-tgt.tsv")
    (('en', 'de'), (None, None))
    """
    match = re.fullmatch("([a-z]{2,3})[-_]([a-z]{2,3})", Path(file_stem(name)).suffix.removeprefix("."))
    return (_language(match[1]), _language(match[2])) if match else (None, None)


def _language(suffix: str) -> str | None:
    is_code = LANGUAGE_CODE.fullmatch(suffix) and not _NOT_LANGUAGES.fullmatch(suffix)
    return suffix if is_code and not has_document_suffix(f"x.{suffix}") else None
