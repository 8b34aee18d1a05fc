"""The direction of each text: as the caller names it, or by the tags that the text begins with."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import NamedTuple

from dragoman.content.language import ANY_OF
from dragoman.errors import ConfigError
from dragoman.text.languages import find_code
from dragoman.text.tags import TAG, UNKNOWN, Direction, describe_directions, split_tags, target_tag, with_tag
from dragoman.text.tokenizer import Tokenizers
from dragoman.translator.checking import string
from dragoman.translator.options import CallOptions, SearchOptions, TextOptions, split_options

#: Unknown tags that are warned of, and the longest.
_MOST_WARNINGS, _LONGEST_TAG = 10, 40

_log = logging.getLogger(__name__)


class TaggedText(NamedTuple):
    """A text with its languages, and the tags that the model reads before it."""

    text: str
    #: The tags that the text began with, each once, and all that the model reads.
    typed_tags: str
    tags: str
    #: None if nobody named it, and the model reads several languages.
    source_lang: str | None
    target_lang: str
    #: The source languages of the model, where that of the text is open.
    open_source: str = UNKNOWN

    @property
    def pair(self) -> tuple[str, str]:
        """The codes of the source language, or of several with `ANY_OF` between them, and of the target language."""
        return self.source_lang or self.open_source, self.target_lang

    @property
    def source(self) -> str:
        """The text that the model reads, tags included."""
        return with_tag(self.tags, self.text) if self.tags else self.text


class Directions:
    """The directions of a model.

    Args:
        tokenizers: those of the model.
    """

    def __init__(self, tokenizers: Tokenizers) -> None:
        self._directions = tokenizers.directions
        self._sources = tuple(dict.fromkeys(source for source, _ in tokenizers.directions))
        self._open_source = ANY_OF.join(self._sources)
        self._targets = tokenizers.targets
        self._tags = tokenizers.source.tags
        self._has_both_tags = tokenizers.has_both_tags
        self._languages = {tokenizers.tag(target): target for target in self._targets} if tokenizers.is_tagged else {}
        self._untrained: set[Direction] = set()
        self._unknown_tags: set[str] = set()

    def tagged(self, text: str, source_lang: str | None = None, target_lang: str | None = None) -> TaggedText:
        """Return a text with its languages and tags. A tag that a person typed wins over `target_lang`.

        A direction that the model was not trained in is allowed if it reads the one language and writes the other.
        There is one warning for each, and one for each of the first unknown tags, which are read as text.

        Raises:
            ConfigError: the model does not read or write a language, or no target language is named and there are
                several.
        """
        repeated, rest = split_tags(text, self._tags) if self._tags and not self._has_both_tags else ((), text)
        typed = tuple(dict.fromkeys(repeated))
        self._warn_unknown_tag(rest)
        source, target = self.find(source_lang, target_lang)
        typed_target = next((self._languages[tag] for tag in typed if tag in self._languages), None)
        if (target := typed_target or target) is None:
            problem = f"the model translates into several languages: {', '.join(self._targets)}"
            example = next(each for each in self._targets if each != source)
            advice = f'name one of them, such as --target-lang {example}, or target_lang="{example}" in Python'
            raise ConfigError(problem, advice=advice)
        self._warn_untrained(source, target)
        if self._has_both_tags:
            if source is None:
                problem = "the model reads several languages, and needs to know that of the text"
                raise ConfigError(problem, advice="name it, such as --source-lang en")
            return TaggedText(rest, "", target_tag(source), source, target, self._open_source)
        added = [tag for tag, language in self._languages.items() if language == target and tag not in typed]
        return TaggedText(rest, " ".join(typed), " ".join([*added, *typed]), source, target, self._open_source)

    def split(self, options: CallOptions) -> tuple[TextOptions, SearchOptions]:
        """Return the options of texts, their languages checked as `find` does, and the options of a search.

        Raises:
            ConfigError: a language is wrong, or is named as both source and target without such a direction.
        """
        of_texts, of_search = split_options(options)
        named = of_texts.get("source_lang"), of_texts.get("target_lang")
        source, target = self.find(*named)
        is_same = None not in named and source == target and UNKNOWN not in (*self._sources, *self._targets)
        if is_same and (source, target) not in self._directions:
            advice = f"name another one; it translates {describe_directions(self._directions)}"
            raise ConfigError(f"{source} is both the source and the target language", advice=advice)
        return of_texts, of_search

    def find(self, source_lang: str | None, target_lang: str | None) -> tuple[str | None, str | None]:
        """Return the codes of a direction as the model has them: `zh` for `zh-CN`. None is open.

        Raises:
            ConfigError: the model does not read or write a language.
        """
        for code, name in ((source_lang, "source_lang"), (target_lang, "target_lang")):
            if code is not None:
                string(code, name)
        source = self._find(source_lang, self._sources, "read")
        return source, self._find(target_lang, self._targets, "write")

    def both_ways(self, source_lang: str | None, target_lang: str | None) -> Direction | None:
        """Return the direction between two languages if the model translates the other way too; None if it does not.

        Raises:
            ConfigError: as `find`.
        """
        source, target = self.find(source_lang, target_lang)
        if source is None or target is None or (target, source) not in self._directions:
            return None
        return source, target

    def require_both_ways(self, languages: TaggedText) -> None:
        """Refuse a text whose translation the model cannot read back.

        Raises:
            ConfigError: it does not translate the other way, or nobody named the source language.
        """
        source, target = languages.source_lang, languages.target_lang
        if source is None:
            raise ConfigError(
                "reranking needs to know the language of the text",
                advice='name it, such as --source-lang en, or source_lang="en" in Python',
            )
        if (target, source) not in self._directions:
            problem = f"reranking reads translations back, and the model does not translate {target} to {source}"
            raise ConfigError(problem, advice=f"leave it out; it translates {describe_directions(self._directions)}")

    def _find(self, code: str | None, known: Sequence[str], verb: str) -> str | None:
        """Return the model's own code for a language; the only one if `code` is None."""
        if code is None:
            return known[0] if len(known) == 1 else None
        if (found := find_code(code, known)) is not None:
            return found
        if known == (UNKNOWN,):
            return code
        advice = f"it translates {describe_directions(self._directions)}"
        raise ConfigError(f"the model does not {verb} {code!r}", advice=advice)

    def _warn_unknown_tag(self, text: str) -> None:
        match = TAG.match(text.lstrip()) if self._tags else None
        tag = match[0] if match else ""
        is_readable = 0 < len(tag) <= _LONGEST_TAG and tag.isprintable()
        if is_readable and tag not in self._unknown_tags and len(self._unknown_tags) < _MOST_WARNINGS:
            self._unknown_tags.add(tag)
            directions = describe_directions(self._directions)
            problem = f"the model has no tag {tag}"
            if self._has_both_tags:
                problem = f"the model takes no tag from a text, such as {tag}"
            _log.warning(f"{problem}, so it is read as text; it translates {directions}")

    def _warn_untrained(self, source: str | None, target: str) -> None:
        is_known = source is None or UNKNOWN in (*self._sources, *self._targets) or (source, target) in self._directions
        if not is_known and source is not None and (source, target) not in self._untrained:
            self._untrained.add((source, target))
            problem = f"the model was not trained to translate {source} to {target}, only its other directions"
            _log.warning(f"{problem}; expect worse translations")
