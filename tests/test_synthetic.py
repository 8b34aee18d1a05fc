"""Corpora the project makes itself: right, deterministic, disjoint; and German that a German would have written."""

import os
import random
import subprocess
import sys
from collections import defaultdict
from functools import cache
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.corpora import captions
from dragoman.corpora.caption_drawing import draw
from dragoman.corpora.captions import NounPhrase, Place, Pronoun, Sentence
from dragoman.corpora.captions_lexicon import all_verbs, nouns, sites
from dragoman.corpora.synthetic import LENGTHS, SHOWCASE, SYMBOLS, TASKS, SyntheticCorpus, is_held_out, make_corpus
from dragoman.errors import ConfigError

# ------------------------------------------------------------------- a reader of English, to go from text to tree

_EVERY_NOUN = tuple(
    dict.fromkeys(
        noun
        for verb in all_verbs()
        for noun in (
            *nouns(verb.who),
            *nouns(verb.what),
            *(site.noun for site in sites(f"{verb.where} {verb.setting}")),
        )
    )
)
_DETERMINERS = (captions.A, captions.THE, captions.BARE, captions.THE_PLURAL, captions.BARE_PLURAL, *captions.NUMBERS)


@cache
def _readings() -> dict[str, list[NounPhrase]]:
    found: dict[str, list[NounPhrase]] = defaultdict(list)
    for noun, determiner in product(_EVERY_NOUN, _DETERMINERS):
        for adjective in (None, *noun.adjectives):
            phrase = NounPhrase(noun, determiner, adjective)
            found[phrase.english()].append(phrase)
    return found


def read_phrases(text: str) -> list[NounPhrase]:
    """Every noun phrase of the lexicon that reads `text`."""
    return _readings().get(text, [])


def read_subjects(text: str) -> list[tuple[NounPhrase | Pronoun, NounPhrase | None]]:
    pronouns = [pronoun for pronoun in captions.PRONOUNS if pronoun.english == text]
    plain: list[tuple[NounPhrase | Pronoun, NounPhrase | None]] = [(pronoun, None) for pronoun in pronouns]
    plain += [(phrase, None) for phrase in read_phrases(text)]
    person, _, garment = text.partition(" in ")
    return plain + list(product(read_phrases(person), read_phrases(garment)))


def read_places(text: str, kinds: tuple[str, ...]) -> list[tuple[Place, ...]]:
    """Every way to read `text` as places, the first of the first kind and so on; empty text is no place."""
    if not text:
        return [()]
    if not kinds:
        return []
    found = []
    words = text.split()
    for end in range(1, len(words) + 1):
        head, tail = " ".join(words[:end]), " ".join(words[end:])
        for site in sites(kinds[0]):
            if head.startswith(site.english + " "):
                places = [
                    Place(site.english, site.german, phrase)
                    for phrase in read_phrases(head.removeprefix(site.english + " "))
                    if phrase.noun is site.noun
                ]
                found += [(place, *rest) for place in places for rest in read_places(tail, kinds[1:])]
    return found


def read(text: str) -> list[Sentence]:
    """Every tree of the grammar that reads `text` in English."""
    text = text[0].lower() + text[1:].removesuffix(".")
    auxiliary = " is " if " is " in text else " are "
    left, _, right = text.partition(auxiliary)
    found = []
    subjects = read_subjects(left)
    for verb in all_verbs():
        if not f"{right} ".startswith(verb.english + " "):
            continue
        words = right.removeprefix(verb.english).split()
        for end in range(len(words) + 1) if verb.what else [0]:
            objects: list[NounPhrase | None] = [None]
            if verb.what:
                readings = read_phrases(" ".join(words[:end]))
                objects = [phrase for phrase in readings if phrase.noun in nouns(verb.what)]
            rests = read_places(" ".join(words[end:]), (verb.where, verb.setting)) if objects else []
            for (subject, clothing), phrase, places in product(subjects, objects, rests):
                known = nouns("man")[0] if isinstance(subject, Pronoun) else subject.noun
                fits = known in nouns(verb.who)
                if fits and subject.plural == (auxiliary == " are "):
                    found.append(Sentence(verb, subject, clothing, phrase, places))
    return found


# -------------------------------------------------------------------------------------------------- the German

TRANSLATIONS = [
    # The three genders as subject, indefinite and definite.
    ("A man is sleeping.", "Ein Mann schläft."),
    ("A woman is wearing a hat.", "Eine Frau trägt einen Hut."),
    ("A girl is laughing.", "Ein Mädchen lacht."),
    ("The tired father is working in the office.", "Der müde Vater arbeitet im Büro."),
    ("The old woman is working in the garden.", "Die alte Frau arbeitet im Garten."),
    ("The little child is crying in the kitchen.", "Das kleine Kind weint in der Küche."),
    # Pronouns: she and they differ in the verb only.
    ("He is sewing a dress.", "Er näht ein Kleid."),
    ("She is singing in the rain.", "Sie singt im Regen."),
    ("They are singing in the rain.", "Sie singen im Regen."),
    # Adjectives after ein (mixed), nominative and accusative.
    ("An old man is eating a ripe banana.", "Ein alter Mann isst eine reife Banane."),
    ("A black cat is sleeping.", "Eine schwarze Katze schläft."),
    ("A white horse is drinking cold water.", "Ein weißes Pferd trinkt kaltes Wasser."),
    ("A tired boy is carrying a heavy suitcase.", "Ein müder Junge trägt einen schweren Koffer."),
    ("She is buying a red dress.", "Sie kauft ein rotes Kleid."),
    # Adjectives after der (weak), plural after die, and with no article (strong).
    ("The young man is painting the white fence.", "Der junge Mann streicht den weißen Zaun."),
    ("The old farmers are selling fresh bread.", "Die alten Bauern verkaufen frisches Brot."),
    ("The soldier is drinking hot coffee.", "Der Soldat trinkt heißen Kaffee."),
    ("A nurse is drinking cold milk.", "Eine Krankenschwester trinkt kalte Milch."),
    ("Two women are wearing black coats.", "Zwei Frauen tragen schwarze Mäntel."),
    # Numbers, and plurals of every formation.
    ("Three small dogs are lying in the sun.", "Drei kleine Hunde liegen in der Sonne."),
    ("Many children are playing in the snow.", "Viele Kinder spielen im Schnee."),
    ("The mothers are peeling apples.", "Die Mütter schälen Äpfel."),
    ("Two girls are reading books in the library.", "Zwei Mädchen lesen in der Bibliothek Bücher."),
    # Dative: contractions, adjectives, plural -n, and none where the plural ends in -s or -n.
    ("A man in a blue shirt is fishing.", "Ein Mann in einem blauen Hemd angelt."),
    ("The woman in the red jacket is waiting.", "Die Frau in der roten Jacke wartet."),
    ("Two men in white shirts are dancing.", "Zwei Männer in weißen Hemden tanzen."),
    ("Four girls in black coats are singing.", "Vier Mädchen in schwarzen Mänteln singen."),
    ("A boy is helping three tired men.", "Ein Junge hilft drei müden Männern."),
    ("A nurse is helping several children.", "Eine Krankenschwester hilft mehreren Kindern."),
    ("The children are riding ponies.", "Die Kinder reiten auf Ponys."),
    ("They are riding old bicycles.", "Sie fahren auf alten Fahrrädern."),
    # Weak nouns.
    ("A woman is greeting the boy.", "Eine Frau begrüßt den Jungen."),
    ("A girl is talking to a tall student.", "Ein Mädchen spricht mit einem großen Studenten."),
    ("He is pointing at the elephant.", "Er zeigt auf den Elefanten."),
    ("The girl is following the gentleman.", "Das Mädchen folgt dem Herrn."),
    ("The gentlemen are smiling at a policeman.", "Die Herren lächeln einen Polizisten an."),
    # Separable and reflexive verbs, and a verb that ends in a verb.
    ("A doctor is turning off the lamp.", "Ein Arzt schaltet die Lampe aus."),
    ("She is putting on a pink sweater.", "Sie zieht einen rosa Pullover an."),
    ("A tourist is looking at a picture.", "Ein Tourist sieht sich ein Bild an."),
    ("The waitress is resting under a tree.", "Die Kellnerin ruht sich unter einem Baum aus."),
    ("A child is flying a red kite.", "Ein Kind lässt einen roten Drachen steigen."),
    ("A man is walking in the park.", "Ein Mann geht im Park spazieren."),
    # Rest takes the dative, motion the accusative; other prepositions have their own case.
    ("The dog is lying in the meadow.", "Der Hund liegt auf der Wiese."),
    ("A dog is running into the house.", "Ein Hund rennt ins Haus."),
    ("A boy is jumping into the lake.", "Ein Junge springt in den See."),
    ("The boy is climbing a big tree.", "Der Junge klettert auf einen großen Baum."),
    ("A woman is walking to the station.", "Eine Frau geht zum Bahnhof."),
    ("A woman is walking to the school.", "Eine Frau geht zur Schule."),
    ("They are walking along the river.", "Sie gehen am Fluss entlang."),
    ("A man is getting off the bus.", "Ein Mann steigt aus dem Bus aus."),
    # Word order: what is known before the place, what is new after it.
    ("She is reading the letter in the kitchen.", "Sie liest den Brief in der Küche."),
    ("She is reading a letter in the kitchen.", "Sie liest in der Küche einen Brief."),
    ("A man is waiting for a bus at the bus stop.", "Ein Mann wartet an der Bushaltestelle auf einen Bus."),
    ("A woman is sitting on a bench in the park.", "Eine Frau sitzt auf einer Bank im Park."),
    # One English verb, two German ones.
    ("A girl is riding a camel on the beach.", "Ein Mädchen reitet am Strand auf einem Kamel."),
    ("A girl is riding a scooter in the park.", "Ein Mädchen fährt im Park auf einem Roller."),
    ("A boy is eating an apple.", "Ein Junge isst einen Apfel."),
    ("A monkey is eating an apple.", "Ein Affe frisst einen Apfel."),
    ("The musician is playing the violin.", "Der Musiker spielt Geige."),
    ("Two children are playing with a ball.", "Zwei Kinder spielen mit einem Ball."),
    # What one holds is in der Hand, what one takes off is known.
    ("A child is holding a balloon.", "Ein Kind hält einen Luftballon in der Hand."),
    ("She is holding the book at the station.", "Sie hält das Buch am Bahnhof in der Hand."),
    ("Four gentlemen are holding balloons by the lake.", "Vier Herren halten am See Luftballons in der Hand."),
    ("He is taking off the shoes.", "Er zieht die Schuhe aus."),
    ("The tired boys are taking off the coats.", "Die müden Jungen ziehen die Mäntel aus."),
    # Places that neither stutter (auf dem Markt auf) nor surprise.
    ("She is picking up a key in the forest.", "Sie hebt im Wald einen Schlüssel auf."),
    ("He is waiting for the train at the station.", "Er wartet am Bahnhof auf den Zug."),
    ("A cow is standing in the meadow.", "Eine Kuh steht auf der Wiese."),
    ("She is picking an apple in the garden.", "Sie pflückt im Garten einen Apfel."),
    # What is being made is new.
    ("The soldier is building a new stable.", "Der Soldat baut einen neuen Stall."),
    ("A nurse is cooking soup.", "Eine Krankenschwester kocht Suppe."),
    ("A father is hanging up a picture in the kitchen.", "Ein Vater hängt in der Küche ein Bild auf."),
]

# Each was once a sentence of the grammar: grammatical in both languages, but nobody's caption.
NONSENSE = [
    "The teacher is picking up the bag at the market.",
    "A man is waiting for the train at the bus stop.",
    "Four mice are standing in the meadow.",
    "A cat is lying on the farm.",
    "The mother is selling long letters.",
    "The student is jumping over a new stone.",
    "A girl is buying an old balloon.",
    "A teacher is feeding big cats.",
    "A boy is picking an orange in the meadow.",
    "A father is hanging up a picture in the garden.",
    "The nurse is drawing the elephant in the office.",
    "He is washing a taxi next to the church.",
    "She is closing the umbrella.",
    "A farmer is holding the flower in the garden.",
]


@pytest.mark.parametrize("english", NONSENSE)
def test_the_grammar_has_no_caption_that_nobody_would_write(english: str) -> None:
    assert read(english) == []


@pytest.fixture(scope="module")
def trees() -> list[Sentence]:
    generator = random.Random(7)
    return [draw(generator) for _ in range(15_000)]


def test_nothing_is_old_or_hot_before_it_is_made(trees: list[Sentence]) -> None:
    making = {"building", "cooking", "knitting", "sewing", "writing"}
    made = [tree.object for tree in trees if tree.object and tree.verb.english in making]
    adjectives = {phrase.adjective.english for phrase in made if phrase.adjective}
    assert "new" in adjectives
    assert not adjectives & {"old", "hot"}


def test_what_is_taken_off_is_known(trees: list[Sentence]) -> None:
    clothes = [tree.object for tree in trees if tree.object and tree.verb.english == "taking off"]
    assert {phrase.determiner.english for phrase in clothes} == {"the"}


def test_no_crowd_bakes_one_pizza(trees: list[Sentence]) -> None:
    crowds = {f"{number.english} " for number in captions.NUMBERS if number is not captions.TWO}
    alone = {"baking", "cleaning", "painting", "repairing", "washing"}
    subjects = [tree.english().lower() for tree in trees if tree.verb.english in alone]
    assert any(text.startswith("two ") for text in subjects)
    assert not any(text.startswith(tuple(crowds)) for text in subjects)


def test_a_coat_is_named_only_where_it_would_be_worn(trees: list[Sentence]) -> None:
    """Nobody in a coat puts on a shirt or jumps into the lake, though a man in one may wear a hat or buy a shirt."""
    dressed = {(tree.verb.english, tree.object.noun.english) for tree in trees if tree.clothing and tree.object}
    assert {verb for verb, _ in dressed} >= {"wearing", "buying"}
    assert not {verb for verb, _ in dressed} & {"putting on", "taking off", "trying on", "jumping into"}
    assert not dressed & set(product(("wearing",), ("shirt", "coat", "jacket", "sweater")))


@pytest.mark.parametrize(("english", "german"), [*SHOWCASE, *TRANSLATIONS])
def test_the_grammar_gives_the_german_a_german_would(english: str, german: str) -> None:
    trees = read(english)
    assert {tree.german() for tree in trees} == {german}
    assert {tree.english() for tree in trees} == {english}


def test_an_english_sentence_has_one_tree() -> None:
    generator = random.Random(5)
    for _ in range(300):
        sentence = draw(generator)
        assert read(sentence.english()) == [sentence]


def test_no_german_noun_has_two_genders() -> None:
    assert len({noun.german for noun in _EVERY_NOUN}) == len({(noun.german, noun.gender) for noun in _EVERY_NOUN})


def test_adjectives_of_one_english_form_have_one_stem() -> None:
    pairs = {(adjective.english, adjective.stem) for noun in _EVERY_NOUN for adjective in noun.adjectives}
    assert len({english for english, _ in pairs}) == len(pairs)


# --------------------------------------------------------------------------------------------- captions as a corpus


@pytest.fixture(scope="module")
def corpus() -> SyntheticCorpus:
    return make_corpus("captions", n_train=20_000)


def captions_vocabulary() -> set[str]:
    """The English nouns, verbs, adjectives and numbers, in the dictionary form or in -ing."""
    nouns_and_adjectives = {word.english for noun in _EVERY_NOUN for word in (noun, *noun.adjectives)}
    verbs = {verb.english.split()[0] for verb in all_verbs()}
    return nouns_and_adjectives | verbs | {number.english for number in captions.NUMBERS}


def test_vocabulary() -> None:
    assert len(captions_vocabulary()) >= 200


def test_every_word_of_the_lexicon_is_seen_in_training(corpus: SyntheticCorpus) -> None:
    seen = " " + " ".join(source.lower().rstrip(".") for source, _ in corpus.train) + " "
    names = {noun.english: {noun.english, noun.english_plural} for noun in _EVERY_NOUN}
    for word in captions_vocabulary():
        assert sum(seen.count(f" {form} ") for form in names.get(word, {word})) >= 25, word


def test_test_asks_for_no_unseen_form(corpus: SyntheticCorpus) -> None:
    trained = {word for pair in corpus.train for text in pair for word in text.lower().rstrip(".").split()}
    tested = {word for pair in corpus.test for text in pair for word in text.lower().rstrip(".").split()}
    assert len(tested - trained) <= 2


def test_sentences_are_short_and_written_as_sentences(corpus: SyntheticCorpus) -> None:
    for text in (text for pair in corpus.train for text in pair):
        assert len(text.split()) <= 14
        assert text[0].isupper()
        assert text.endswith(".")
        assert text == " ".join(text.split())


def test_held_out_combinations_are_tested_and_never_trained() -> None:
    corpus = make_corpus("captions", n_train=500, n_validation=100, n_test=200)

    def held_out(source: str) -> bool:
        return any(is_held_out(*combination) for tree in read(source) for combination in tree.combinations())

    assert not any(held_out(source) for source, _ in (*corpus.train, *corpus.validation))
    assert sum(held_out(source) for source, _ in corpus.test) >= 50


def test_the_showcase_is_in_no_split(corpus: SyntheticCorpus) -> None:
    everything = {source for split in (corpus.train, corpus.validation, corpus.test) for source, _ in split}
    assert not everything & {source for source, _ in SHOWCASE}


# ------------------------------------------------------------------------------------------------------- all tasks


@pytest.mark.parametrize("task", TASKS)
def test_sizes_are_as_asked_and_splits_share_no_source_even_across_seeds(task: str) -> None:
    first = make_corpus(task, 1_500, 100, 200, seed=1)
    second = make_corpus(task, 500, 50, 300, seed=2)
    assert [len(split) for split in (first.train, first.validation, first.test)] == [1_500, 100, 200]
    train = {source for source, _ in (*first.train, *second.train)}
    validation = {source for source, _ in (*first.validation, *second.validation)}
    test = {source for source, _ in (*first.test, *second.test)}
    assert not train & validation
    assert not train & test
    assert not validation & test
    assert len({source for source, _ in first.train}) == 1_500


@pytest.mark.parametrize("task", TASKS)
def test_the_seed_decides_everything(task: str) -> None:
    assert make_corpus(task, 50, 5, 5, seed=3) == make_corpus(task, 50, 5, 5, seed=3)
    assert make_corpus(task, 50, 5, 5, seed=3) != make_corpus(task, 50, 5, 5, seed=4)


def test_another_process_makes_the_same_corpus() -> None:
    program = (
        "from dragoman.corpora.synthetic import TASKS, make_corpus\n"
        "print(ascii([make_corpus(task, 40, 4, 4) for task in TASKS]))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()
        for hash_seed in ("1", "2")
    }
    assert outputs == {ascii([make_corpus(task, 40, 4, 4) for task in TASKS])}


@given(st.sampled_from(["copy", "reverse", "sort"]), st.integers(0, 1_000))
@settings(max_examples=30)
def test_copy_reverse_and_sort_are_right(task: str, seed: int) -> None:
    corpus = make_corpus(task, 10, 2, 2, seed=seed)
    for source, target in (*corpus.train, *corpus.validation, *corpus.test):
        symbols = source.split(" ")
        assert set(symbols) <= set(SYMBOLS)
        assert len(symbols) in LENGTHS
        answers = {"copy": symbols, "reverse": list(reversed(symbols)), "sort": sorted(symbols)}
        assert target.split(" ") == answers[task]


def test_an_empty_split_is_allowed() -> None:
    assert make_corpus("copy", 0, 0, 3).train == []


def test_an_unknown_task_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=r"'captoins'.*copy, reverse, sort, captions"):
        make_corpus("captoins")


@pytest.mark.parametrize("task", TASKS)
def test_far_too_many_pairs_are_refused_before_any_work(task: str) -> None:
    with pytest.raises(ConfigError, match="ask for fewer"):
        make_corpus(task, n_train=10**18)


def test_a_negative_number_is_refused() -> None:
    with pytest.raises(ConfigError, match="negative"):
        make_corpus("copy", n_train=-1)
