"""The options of commands in a text, told from words after a dash: "use --help", but not "he left --then came back".

Nearly all words that look like options are options, in manuals and in messages of programs. A dash before a word has
prose on both sides. So an option needs evidence: in its own letters, beside it, or elsewhere in its text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from dragoman.text.languages import UNSPACED

#: Options that no word after a dash looks like: "--output=FILE", "--no-verify", "--utf8".
_CLEAR = re.compile(r"-[^=]*(?:[=\[\d._]|[a-z]-[a-z])")
#: Words that often follow a dash in prose, before another word: "He came --then he left.", "He came -I think- at noon."
_PROSE = re.compile(
    r"--?(?:i|a|y|à|o|he|she|it|they|we|you|who|which|that|this|these|there|then|what|where|when|while|and|but|or|so|if|"
    r"as|because|not|no|yes|even|nor|for|in|on|at|to|with|the|an|is|was|er|sie|es|wir|ich|du|und|oder|aber|der|die|das|"
    r"dann|wenn|als|wie|il|elle|je|tu|nous|vous|ils|et|ou|mais|si|le|la|les|un|une|qui|que|ce|comme|quand)\s"
    r"[^\W\d_A-Z][^\W\d_]*(?![\w=])"
)
_ANY = r"--?[A-Za-z][\w-]{0,40}"
_JOINT = r"(?:\s?[,/|]\s?|\s(?:or|and|oder|und|ou|et)\s|\s|\]\s\[)"
_NOUNS = "options?|flags?|switch(?:es)?|arguments?|parameters?|optionen|schalter|paramètres?|command|commande"
#: What stands beside an option, whatever its letters: another option, a sign, a word for options, a Chinese character.
_CLEARLY_BEFORE = re.compile(
    rf"(?:(?<![\w-]){_ANY}(?:[= ][A-Z<\[][\w<>\]-]{{0,20}})?{_JOINT}|[=/|\[{{<`{UNSPACED}]\s?|\b(?:{_NOUNS})\s)\Z",
    re.IGNORECASE,
)
_CLEARLY_AFTER = re.compile(
    rf"{_JOINT}{_ANY}(?![\w-])|['`]|\s?[|\]/}}>{UNSPACED}]|\s{{2,}}|\t|\s?(?:<|\[|%[sd])|\s['\"“„«‘]?%|"
    rf"[-\s]?(?:{_NOUNS})\b",
    re.IGNORECASE,
)
_OPENED, _CLOSED = re.compile(r"['\"“„«‘(（]\s?\Z"), re.compile(r"(?:\s[\w.-]{1,16})?\s?['\"”“»’)）]")
#: The name of a value: "-o FILE".
_VALUE_AFTER = re.compile(r"\s(?:[A-Z]{2,}|[A-Z](?=\s?[|\].,]))(?![\w-])")
#: Words before an option that no dash follows.
_WORD_BEFORE = re.compile(
    r"(?:\b(?:with|without|using|use|used|uses|via|pass|passing|specify|specifying|specified|add|adding|try|see|of|by|to|"
    r"for|from|than|the|both|either|neither|nor|if|unless|when|combine|implies|imply|like|set|give|given|need|requires?|"
    r"mit|ohne|per|durch|von|nutzen|benutzen|verwenden|sie|dass|die|der|das|den|des|bei|für|zu|wenn|setzt|erfordert|"
    r"avec|sans|par|utilisez|utiliser|utilise|pour|les?|la|de|du|que|si|voir|ajoutez|essayez|spécifier|implique|"
    r"utilisant|nécessite)\s|:\s)\Z",
    re.IGNORECASE,
)
#: A command before an option, at the beginning of a line or a quotation: "git commit --amend", "Run git add -p".
_COMMAND_BEFORE = re.compile(
    r"(?:(?:^|[\n:]|(?<![^\s(\[])['\"“„«‘])\s*(?:[$#>]\s)?"
    r"(?!(?:he|she|it|they|we|you|i|a|an|the|this|that|er|sie|es|wir|ich|du|il|elle|on|je|tu|nous|vous|ils|my|his|her)\s)"
    r"[a-z][\w.+-]{0,20}(?:\s[a-z0-9][\w.+/-]{0,20}){0,2}\s|"
    r"(?:^|[.:;!?]\s|\n)\s*(?:Run|Type|Try|Execute|Enter|Call|Use|Invoke)\s(?:[a-z][\w.+/-]{0,20}\s){0,3})\Z"
)
_LINE_START = re.compile(r"(?:^|[\n\t])\s*\Z")
_WORD_AFTER = re.compile(
    r"\s(?:requires?|needs?|cannot|must|may|should|implies|takes|doesn't|instead|together|used|specified|given|ignored|"
    r"erfordert|benötigt|muss|ne|doit|nécessite|requiert)\b"
)
#: After a long option alone: a suffix and a letter ("-s", "-C") have the same words, or nothing, after them.
_WORD_AFTER_LONG = re.compile(
    r"\s(?:is|are|was|can|only|has|does|will|to|not|if|for|ist|sind|kann|können|und|nicht|wird|an|aus|est|sont|peut|"
    r"pour|n'est|a\sété)\b|\Z|:?\s*\n"
)
_FOUR_WORDS = re.compile(r"(?:\s[^\W\d_]+\b){4}")
_ABOUT_OPTIONS = re.compile(rf"\b(?:{_NOUNS})\b|选项|選項", re.IGNORECASE)
_BEFORE, _AFTER = 72, 64


def without_dashes(text: str, places: Sequence[tuple[int, int]], *, is_technical: bool) -> list[tuple[int, int]]:
    """Return the places of a text that look like options without those that are words after a dash.

    A text with one clear option keeps all.

    Args:
        text: the text.
        places: those that look like options.
        is_technical: it has code or placeholders.

    >>> text = "He came, --then he left."
    >>> without_dashes(text, [(9, 15)], is_technical=False)
    []
    >>> without_dashes("Say: use --help for more.", [(9, 15)], is_technical=False)
    [(9, 15)]
    """
    if any(_is_option(text, *place) for place in places):
        return list(places)
    if is_technical or _ABOUT_OPTIONS.search(text):
        return [place for place in places if not _is_prose(text, *place)]
    return []


def _is_option(text: str, start: int, end: int) -> bool:
    """Return True if there is evidence at a place that an option is there."""
    before, option, after = text[max(0, start - _BEFORE) : start], text[start:end], text[end : end + _AFTER]
    is_quoted = _OPENED.search(before) and _CLOSED.match(after)
    if _CLEAR.match(option) or is_quoted or _CLEARLY_BEFORE.search(before) or _CLEARLY_AFTER.match(after):
        return True
    is_long = option.startswith("--")
    if _is_prose(text, start, end) or (is_long and option[2].isupper()):
        return False
    is_after_command = _COMMAND_BEFORE.search(before) and not _FOUR_WORDS.match(after)
    patterns = [_VALUE_AFTER, _WORD_AFTER, *([_WORD_AFTER_LONG] if is_long else [])]
    is_before_word = any(pattern.match(after) for pattern in patterns)
    return bool(is_after_command or is_before_word or _LINE_START.search(before) or _WORD_BEFORE.search(before))


def _is_prose(text: str, start: int, end: int) -> bool:
    return _PROSE.match(text[start:end].lower() + text[end : end + _AFTER]) is not None
