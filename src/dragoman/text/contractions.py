"""Contractions that are typed without their apostrophe: "dont" is read as "don't".

Edited text has no words such as "dont", so a model that learned from such text does not know them, and may
translate "I dont know" as "I know". Words with a meaning of their own, such as "its", "well" and "quelle", stay.
The list has the contractions that are frequent in Tatoeba and never occur there without their apostrophe.
"""

from __future__ import annotations

import re

from dragoman.text.languages import base_language
from dragoman.text.shouting import rewrite_words

_ENGLISH = """
ain't aren't can't couldn't didn't doesn't don't hadn't hasn't haven't isn't mustn't needn't shouldn't wasn't weren't
won't wouldn't I'm I've you're you've you'll you'd he's he'd she's it'll it'd we've they're they've they'll they'd
that's that'll there's there'll what's what're what'll where's who's who'll who'd how's when's why's here's could've
might've must've should've would've today's tomorrow's yesterday's everyone's everything's someone's
nobody's o'clock
"""
_FRENCH = """
c'est c'était d'accord d'acheter d'aide d'aider d'aller d'argent d'autre d'autres d'avoir d'eau d'elle d'entre
d'essayer d'habitude d'ici d'où d'un d'être j'adore j'ai j'aime j'aimerais j'apprécie j'attends j'aurais j'avais
j'en j'espère j'ignore j'irai j'y j'étais jusqu'à l'accident l'ai l'aime l'air l'amour l'anglais l'année l'argent
l'autre l'avion l'eau l'heure l'histoire l'homme l'hôpital l'hôtel l'instant l'intention l'un l'école l'étranger
l'été lorsqu'il m'aider m'avez m'est n'a n'ai n'aime n'arrive n'aurais n'avais n'avait n'avez n'avons
n'en n'es n'est n'importe n'ont n'oublie n'étais n'était n'êtes qu'as qu'est qu'il qu'ils qu'on qu'un qu'une
quelqu'un s'agit s'est s'il s'y t'aider t'aime t'avoir t'en aujourd'hui
"""
#: The written form of each typed form, in small letters, by language.
CONTRACTIONS = {
    language: {form.replace("'", "").lower(): form for form in forms.split()}
    for language, forms in (("en", _ENGLISH), ("fr", _FRENCH))
}


#: The word before another one.
_WORD_BEFORE = re.compile(r"([^\W\d_]{2,}) \Z")
#: Characters of the longest word that is looked at.
_LONGEST = 40


def with_apostrophes(text: str, language: str) -> str:
    """Return a text with the apostrophes that its contractions lack, except in addresses and the like.

    Words in capitals stay ("IM"), and so does a word with a capital after another one, which may be a name ("Jony
    Ive"); but "Hi Im Tom" has none.

    Args:
        language: the code of its language.

    >>> with_apostrophes("Im sorry, i cant find `dont.py`", "en")
    "I'm sorry, i can't find `dont.py`"
    """
    forms = CONTRACTIONS.get(base_language(language), {})

    def written(_: int, match: re.Match[str]) -> str:
        word = match[0]
        form = forms.get(word.lower())
        if form is None or word.isupper():
            return word
        if word[0].islower():
            return form
        before = _WORD_BEFORE.search(match.string[max(0, match.start() - _LONGEST) : match.start()])
        may_be_name = before is not None and before[1][0].isupper() and word != "Im"
        return word if may_be_name else form[0].upper() + form[1:]

    return rewrite_words(text, written) if forms else text
