"""Words with capitals that may be names, and the second search for those that a translation has lost.

The model of the second part is a function from the text that it reads to its translation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny import many_tokenizers

from dragoman.decoding.hypothesis import Hypothesis
from dragoman.errors import DeadlineError
from dragoman.settings.search_config import SearchConfig
from dragoman.text.name_words import find_names
from dragoman.text.spelling import KnownWords, Spelling
from dragoman.text.terms import Term, TermList
from dragoman.text.tokenizer import Tokenizers
from dragoman.translator import Candidate, ModelFacts, Pipeline, Request, SearchJob, StopCondition, Translation
from dragoman.translator.directions import Directions
from dragoman.translator.finishing import Finisher
from dragoman.translator.lost_names import NameCheck
from dragoman.translator.padding import IdPair
from dragoman.translator.planning import Planner
from dragoman.translator.searching import decoded_text

PARTS = ["Tom", "Jackson", "saw", "O'Connor's", "L'Italie", "12", "我和", "é.", "“", "À-B", "Straße", "ß"]
WORDS = st.lists(st.sampled_from(PARTS)).map(" ".join)
#: Spelled in one piece by the vocabulary of the tests, because the text it learned from has them.
TEXT = "She is reading a book on the mat."


def found(text: str, language: str, *, marked: bool | None = None) -> list[str]:
    return [
        text[word.start : word.end]
        for group in find_names(text, language)
        for word in group
        if marked is None or word.is_marked == marked
    ]


@given(st.text() | WORDS, st.sampled_from(["en", "de", "fr", "zh", "und"]))
def test_names_are_words_with_capitals_in_order(text: str, language: str) -> None:
    places = [place for group in find_names(text, language) for word in group for place in word[:2]]
    assert places == sorted(set(places))
    for name in found(text, language):
        assert name[0].isupper()
        assert name != name.upper()
        assert not re.search(r"[\s\d]", name)


@pytest.mark.parametrize(
    ("language", "text", "marked", "unmarked"),
    [
        ("en", "Marisol saw Tom's dog and O'Connor in Berlin.", ["Tom", "O'Connor", "Berlin"], ["Marisol"]),
        ("en", 'He said: "Imogen is here." NASA is not.', [], ["He", "Imogen"]),
        ("en", "See you on Monday in May.", [], ["See"]),
        ("en", "On Mondays the Germans and Quispe eat Chinese food.", ["Quispe"], ["On"]),
        ("en", "Grilled Salmon With Lemon and Butter", [], []),
        ("en", "write to Ann@example.org or @Ann, not to Bob.Smith", [], []),
        ("fr", "J'ai vu l'Italie et Jean-Paul. Est-ce que D'Angelo vient ?", ["Italie", "Jean-Paul", "D'Angelo"], []),
        ("fr", "L'Italie est belle.", [], ["Italie"]),
        ("fr", "Je vois Romain et les Romains.", ["Romain"], ["Je"]),
        ("en", "We saw Norman, Finn and Christian, and the Normans.", ["Norman", "Finn", "Christian"], ["We"]),
        ("fr", "Trois Américaines de Quispe fêtent Noël.", ["Quispe"], ["Trois"]),
        ("de", "Dass Ingeborg mit der Katze und dem alten Hund bei Müller wohnt.", [], ["Dass", "Ingeborg", "Müller"]),
        ("de", "Eine Freundschaft ohne Vertrauen.", [], ["Eine", "Vertrauen"]),
        ("zh", "告诉Müller，Quispe在这里。", ["Müller", "Quispe"], []),
        ("zh", "我认识Tom、Mary、John和Peter。", ["Tom", "Mary", "John", "Peter"], []),
    ],
)
def test_names_of_a_sentence(language: str, text: str, marked: list[str], unmarked: list[str]) -> None:
    assert found(text, language, marked=True) == marked
    assert found(text, language, marked=False) == unmarked


def test_neighbours_are_one_group() -> None:
    text = "Tell Wang Fang, Li Wei and Tom that it is late."
    groups = [[text[word.start : word.end] for word in group] for group in find_names(text, "en")]
    assert groups == [["Tell", "Wang", "Fang"], ["Li", "Wei"], ["Tom"]]


@pytest.fixture(scope="module")
def tokenizers() -> Tokenizers:
    return many_tokenizers(reserved=4)


@dataclass
class Model:
    """A search and a decoder that are functions: `log_prob` gives the same log-probability to each token of a pair."""

    tokenizers: Tokenizers
    translate: Callable[[str], str | list[str]]
    log_prob: Callable[[str, str], float] = lambda source, target: -9.0
    stops_after: int = 99
    spelling: Spelling | None = None
    read: list[str] = field(default_factory=list)
    scored: list[tuple[str, str]] = field(default_factory=list)
    n_searches: int = 0

    def search(
        self, jobs: Sequence[SearchJob], *, batch_size: int | None = None, stop: StopCondition | None = None
    ) -> list[list[Candidate]]:
        self.n_searches += 1
        if self.n_searches > self.stops_after:
            raise DeadlineError("no time")
        return [self.candidates(decoded_text(self.tokenizers.source, job.ids)) for job in jobs]

    def candidates(self, text: str) -> list[Candidate]:
        self.read.append(text)
        written = self.translate(text)
        return [self.candidate(each) for each in ([written] if isinstance(written, str) else written)]

    def candidate(self, text: str) -> Candidate:
        ids = self.tokenizers.target.encode(text)
        hypothesis = Hypothesis(tuple(ids), -1.0, -2.0, (), finished=True)
        return Candidate(
            hypothesis, decoded_text(self.tokenizers.target, ids), tuple(self.tokenizers.target.pieces(ids))
        )

    def log_probs(self, pairs: Sequence[IdPair]) -> list[tuple[float, ...]]:
        texts = [tuple(map(self.tokenizers.target.decode, map(list, pair))) for pair in pairs]
        self.scored += [(source, target) for source, target in texts]
        values = [self.log_prob(*each) for each in self.scored[len(self.scored) - len(pairs) :]]
        return [(value,) * (len(ids) + 1) for value, (_, ids) in zip(values, pairs, strict=True)]

    def run(
        self, text: str, source: str = "en", target: str = "de", terms: TermList | None = None, **options: object
    ) -> Translation:
        directions = Directions(self.tokenizers)
        facts = ModelFacts(spelling=self.spelling)
        planner = Planner(self.tokenizers, directions, 400, ModelFacts())
        check = NameCheck(self, self.tokenizers, directions, 399, 512, facts)  # type: ignore[arg-type]
        finisher = Finisher(self, self.tokenizers, None, 512)  # type: ignore[arg-type]
        config = SearchConfig.model_validate({"beam_size": 3, **options})
        stages = Pipeline(planner, self, finisher, config, check)
        (translation,) = stages.translate(
            [
                Request(
                    text, source_lang=source, target_lang=target, terms=terms, rules=["first_words", "numbers", "names"]
                )
            ]
        )
        return translation


def careless(text: str) -> str:
    """Copy a text without its names, but with its masks."""
    return re.sub(r"(?<= )[A-Z]\w+ ?", "", text)


NAMES = st.sampled_from(["Quispe", "Müller", "Ingeborg", "Petrovna"])


@given(NAMES)
def test_a_lost_name_is_masked_and_comes_back(tokenizers: Tokenizers, name: str) -> None:
    model = Model(tokenizers, careless)
    text = f"the book is on {name} now."
    translation = model.run(text)
    assert model.read == [text, "the book is on ⟨1⟩ now."]
    assert (translation.text, translation.flags) == (text, ())
    assert model.scored == [("the book is on now.", text)]


def test_a_name_of_two_words_is_one_mask(tokenizers: Tokenizers) -> None:
    model = Model(tokenizers, lambda text: careless(text.replace("Fang", "")))
    assert model.run("the book is on Quispe Fangio now.").text == "the book is on Quispe Fangio now."
    assert model.read[-1] == "the book is on ⟨1⟩ now."


@given(NAMES)
def test_a_name_that_is_translated_is_searched_for_once(tokenizers: Tokenizers, name: str) -> None:
    model = Model(tokenizers, careless, log_prob=lambda source, target: -0.01)
    assert model.run(f"the book is on {name} now.").text == "the book is on now."
    assert model.n_searches == 1


@given(st.sampled_from([TEXT, "the dogs run over Quispe.", "A BOOK ON QUISPE.", "12 books"]))
def test_a_text_that_keeps_all_is_not_scored(tokenizers: Tokenizers, text: str) -> None:
    model = Model(tokenizers, lambda read: read)
    model.run(text)
    assert (model.n_searches, model.scored) == (1, [])


@pytest.mark.parametrize(("level", "is_name"), [(0, True), (2, True), (3, False), (9, False)])
def test_ordinary_words_are_no_names(tokenizers: Tokenizers, level: int, is_name: bool) -> None:
    """A frequent word of the training text that is mostly written in small letters."""
    words = KnownWords({"president": level, "quispe": 9}, capitalized=frozenset({"quispe"}))
    model = Model(tokenizers, careless, spelling=Spelling({"en": words}))
    assert ("President" in model.run("the book is on President now.").text) == is_name
    assert "Quispe" in model.run("the book is on Quispe now.").text


@pytest.mark.parametrize(
    ("text", "log_prob", "is_flagged"),
    [
        ("see Quispe here.", -9.0, True),
        ("see Quispe here.", -2.0, True),  # nothing but a name has a capital in its place
        ("Quispe is here now.", -9.0, True),
        ("Quispe is here now.", -1.0, False),  # a verb may have one here, and other words may stand for it
    ],
)
def test_a_word_that_stays_lost_is_flagged(
    tokenizers: Tokenizers, text: str, log_prob: float, is_flagged: bool
) -> None:
    """Its pieces have the log-probability together that one has, so often."""
    model = Model(tokenizers, lambda read: "is here.", lambda *_: log_prob)
    translation = model.run(text)
    assert model.n_searches == 2
    assert (translation.text, translation.flags) == ("is here.", ("word",) if is_flagged else ())


def test_a_word_that_stays_lost_for_lack_of_time_is_flagged(tokenizers: Tokenizers) -> None:
    assert Model(tokenizers, careless, stops_after=1).run("see Quispe now.").flags == ("word",)


def test_names_that_are_lost_together_are_masked_each_alone(tokenizers: Tokenizers) -> None:
    """With two masks, the model forgets the second; with one, the word before it."""
    model = Model(tokenizers, lambda text: careless(text.replace("⟨2⟩", "")))
    translation = model.run("see Quispe with Müller now.")
    assert model.read[1:] == ["see ⟨1⟩ with ⟨2⟩ now.", "see ⟨1⟩ with Müller now.", "see Quispe with ⟨1⟩ now."]
    assert (translation.text, translation.flags) == ("see Quispe with now.", ("word",))


@pytest.mark.parametrize(
    ("text", "is_taken"), [("see Quispe with Fangio now.", True), ("Quispe with Fangio now.", False)]
)
def test_a_lower_candidate_counts_where_only_names_have_capitals(
    tokenizers: Tokenizers, text: str, is_taken: bool
) -> None:
    """The first of the second search loses the other name."""
    written = [text.replace("Fangio", "her").replace("Quispe", "⟨1⟩"), text.replace("Quispe", "⟨1⟩")]
    first = text.replace("Quispe", "it")
    model = Model(tokenizers, lambda read: written if "⟨1⟩" in read else first)
    translation = model.run(text)
    assert translation.text == (text if is_taken else first)


def test_a_name_that_is_repeated_is_masked(tokenizers: Tokenizers) -> None:
    model = Model(tokenizers, lambda text: re.sub("Quispe", "Quispe Quispe", text), lambda *_: 0.0)
    assert model.run("the book is on Quispe now.").text == "the book is on Quispe now."


@pytest.mark.parametrize(("log_prob", "is_kept"), [(-0.01, True), (-9.0, False)])
def test_a_capital_at_the_beginning_is_no_proof(tokenizers: Tokenizers, log_prob: float, is_kept: bool) -> None:
    """The model must find the translation with the name probable itself."""
    model = Model(
        tokenizers,
        lambda text: text.replace("Quispe", "she"),
        lambda source, target: -9.0 if source.startswith("she") else log_prob,
    )
    assert model.run("Quispe is reading.").text == ("Quispe is reading." if is_kept else "she is reading.")
    assert model.n_searches == 2


@pytest.mark.parametrize("stops_after", [1, 2])
def test_too_little_time_leaves_the_first_translation(tokenizers: Tokenizers, stops_after: int) -> None:
    model = Model(tokenizers, careless, stops_after=stops_after)
    expected = "the book is on now." if stops_after == 1 else "the book is on Quispe now."
    assert model.run("the book is on Quispe now.").text == expected


def test_a_worse_translation_does_not_replace_the_first(tokenizers: Tokenizers) -> None:
    """The second one loses the number."""
    model = Model(tokenizers, lambda text: re.sub(r"⟨2⟩|Quispe ", "", text))
    assert "25" in model.run("the book is on Quispe 25 now.").text


@pytest.mark.parametrize(
    ("second", "is_kept"),
    [
        ("⟨1⟩ is reading on Fangio now.", True),
        ("⟨1⟩ is reading now.", False),
        ("⟨1⟩ is reading on Müller now.", False),
        ("⟨1⟩ is reading on Fangio, Fangio now.", False),
        ("⟨1⟩ is reading on fangio now.", True),
    ],
)
def test_one_name_is_not_lost_for_another(tokenizers: Tokenizers, second: str, is_kept: bool) -> None:
    """The first translation lacks Quispe, and has Fangio."""
    first = "now is reading on Fangio."
    model = Model(tokenizers, lambda text: second if "⟨1⟩" in text else first)
    translation = model.run("now Quispe is reading on Fangio.")
    assert model.n_searches == 2
    assert translation.text == (second.replace("⟨1⟩", "Quispe") if is_kept else first)


@pytest.mark.parametrize(("source", "target"), [("en", "zh"), ("zh", "en")])
def test_a_model_of_one_direction_is_left_alone(tokenizers: Tokenizers, source: str, target: str) -> None:
    model = Model(tokenizers, careless)
    if (source, target) in tokenizers.directions:
        model.run("the book is on Quispe now.", source, target)
        assert (model.n_searches, model.scored) == (1, [])
    else:
        assert (target, source) in tokenizers.directions


def test_words_of_a_term_are_no_names(tokenizers: Tokenizers) -> None:
    """The list says how to translate them; a mask would hide that the translation lacks them."""
    model = Model(tokenizers, careless)
    text = "the book is on Quispe now."
    translation = model.run(text, terms=TermList([Term("quispe", ("Katze",))]))
    assert set(model.read) == {text}
    assert (translation.text, translation.missing_terms) == ("the book is on now.", ("quispe",))


def test_a_name_is_not_masked_in_a_term(tokenizers: Tokenizers) -> None:
    model = Model(tokenizers, careless)
    translation = model.run("see Quispe Bird and Quispe now.", terms=TermList([Term("Quispe Bird", ("is",))]))
    assert model.read[-1] == "see Quispe Bird and ⟨1⟩ now."
    assert translation.missing_terms == ("Quispe Bird",)


def test_samples_are_not_searched_again(tokenizers: Tokenizers) -> None:
    model = Model(tokenizers, careless)
    model.run("the book is on Quispe now.", sample=True)
    assert model.n_searches == 1
