"""The words of the captions in English and German: nouns, adjectives, verbs, places, and what goes with what.

The room owns the vocabulary and nothing of the grammar: `captions` puts the words into sentences.
Order of reading: what is said of a word; the vocabulary, written as a vocabulary book; looking words up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, IntEnum
from functools import cache
from types import MappingProxyType
from typing import Final

# ------------------------------------------------------------------------------------------------------- words
#
# The lexicon has each word once, so words are compared by identity (eq=False), which also makes their sets quick.


class Case(Enum):
    """The three cases that captions need; the genitive is not among them."""

    NOMINATIVE = "nominative"
    ACCUSATIVE = "accusative"
    DATIVE = "dative"


class Form(IntEnum):
    """A column of the tables of German endings. German plurals have no gender, so the plural is the fourth column."""

    MASCULINE = 0
    FEMININE = 1
    NEUTER = 2
    PLURAL = 3


@dataclass(frozen=True, eq=False)
class Adjective:
    """Two adjectives of one meaning.

    `stem` is the German form that takes endings: "hoh" for hoch.
    """

    english: str
    stem: str
    is_colour: bool = False

    def german(self, ending: str) -> str:
        """Rosa is never declined."""
        if self.stem.endswith("a"):
            return self.stem
        return self.stem.removesuffix("e") + ending


class Kind(Enum):
    """How a noun may be counted."""

    COUNT = ""  # a dog, two dogs
    MASS = "mass"  # coffee, the coffee
    PAIR = "pair"  # shoes, the shoes
    UNIQUE = "unique"  # the sea


@dataclass(frozen=True, eq=False)
class Noun:
    """Two nouns of one meaning, and the adjectives that suit them.

    `oblique` is the German singular outside the nominative: weak nouns change there (der Junge, den Jungen).
    """

    english: str
    english_plural: str
    gender: Form
    german: str
    german_plural: str
    oblique: str
    kind: Kind
    adjectives: tuple[Adjective, ...]

    def decline(self, case: Case, plural: bool) -> str:
        if not plural:
            return self.german if case is Case.NOMINATIVE else self.oblique
        needs_n = case is Case.DATIVE and not self.german_plural.endswith(("n", "s"))
        return self.german_plural + "n" * needs_n


class Counting(Enum):
    """How many objects a verb takes."""

    ANY = "a box, the boxes, two boxes, boxes"
    FEW = "a box, the boxes, two boxes"
    ONE = "a book, the book"
    OWN = "a man takes off the coat, two men the coats"
    SAME = "a man wears a hat, two men wear hats"
    BULK = "flowers, rice"
    THE = "the kitchen"
    BARE = "soccer; the guitar, where German has no article either"


@dataclass(frozen=True, eq=False)
class Verb:
    """A verb with everything it asks of its company.

    `english` is the progressive with its preposition; `preposition` and `case` are what the German object needs;
    `particle` closes the German sentence (a separable prefix, "spazieren", "in der Hand"); `who` and `what` name the
    nouns or groups of nouns of the lexicon, `where` and `setting` its groups of places, that make a sensible scene.
    """

    english: str
    singular: str
    plural: str
    who: str
    what: str = ""
    where: str = ""
    counting: Counting = Counting.ANY
    case: Case = Case.ACCUSATIVE
    preposition: str = ""
    reflexive: bool = False
    particle: str = ""
    crowd: bool = True  # false where six would not fit: on a sofa, into a taxi
    dressed: bool = True  # false where a coat would surprise: in the sea
    making: bool = False  # true where the object is only coming about: nobody builds an old house
    needs_place: bool = False  # without one "is sitting" says too little
    setting: str = ""  # a second place around the first: on a bench in the park


@dataclass(frozen=True)
class Site:
    """A preposition in both languages and a noun that goes with it."""

    english: str
    german: str
    noun: Noun


# ---------------------------------------------------------------------------------------------- the vocabulary
#
# Written as a vocabulary book. A group of nouns, the adjectives that suit all of it, then each noun: English singular
# and plural, German article, singular and plural, and for weak nouns the singular of the other cases. "_" is a space.
# A group of places: the two prepositions, and the nouns after them.

_COLOURS = "red rot, blue blau, green grün, yellow gelb, black schwarz, white weiß, brown braun, pink rosa"
_ADJECTIVES = """
    young jung, old alt, tall groß, little klein, happy fröhlich, tired müde, friendly freundlich, strong stark,
    curious neugierig, hungry hungrig, big groß, small klein, new neu, beautiful schön, heavy schwer, long lang,
    interesting interessant, high hoh, quiet ruhig, hot heiß, cold kalt, fresh frisch, ripe reif, sweet süß
"""

_NOUNS: Final = """
adults: young old tall happy tired friendly strong
    man men der Mann Männer, woman women die Frau Frauen, farmer farmers der Bauer Bauern Bauern,
    doctor doctors der Arzt Ärzte, teacher teachers der Lehrer Lehrer, waitress waitresses die Kellnerin Kellnerinnen,
    nurse nurses die Krankenschwester Krankenschwestern, soldier soldiers der Soldat Soldaten Soldaten,
    student students der Student Studenten Studenten, tourist tourists der Tourist Touristen Touristen,
    musician musicians der Musiker Musiker, policeman policemen der Polizist Polizisten Polizisten,
    policewoman policewomen die Polizistin Polizistinnen, neighbor neighbors der Nachbar Nachbarn Nachbarn
family: happy tired friendly
    mother mothers die Mutter Mütter, father fathers der Vater Väter, gentleman gentlemen der Herr Herren Herrn,
    grandmother grandmothers die Großmutter Großmütter, grandfather grandfathers der Großvater Großväter
children: little tired curious friendly
    boy boys der Junge Jungen Jungen, girl girls das Mädchen Mädchen, child children das Kind Kinder
infants: little tired hungry
    baby babies das Baby Babys
animals: big small young old hungry black white brown
    dog dogs der Hund Hunde, horse horses das Pferd Pferde, pony ponies das Pony Ponys,
    donkey donkeys der Esel Esel, cow cows die Kuh Kühe, goat goats die Ziege Ziegen, pig pigs das Schwein Schweine,
    rabbit rabbits das Kaninchen Kaninchen, bird birds der Vogel Vögel, duck ducks die Ente Enten
small_animals: small young old hungry black white brown
    cat cats die Katze Katzen, mouse mice die Maus Mäuse
wild_animals: big small young old hungry
    monkey monkeys der Affe Affen Affen, elephant elephants der Elefant Elefanten Elefanten,
    camel camels das Kamel Kamele
insects: big small
    butterfly butterflies der Schmetterling Schmetterlinge
garment: new old beautiful COLOURS
    hat hats der Hut Hüte, cap caps die Mütze Mützen, shirt shirts das Hemd Hemden, coat coats der Mantel Mäntel,
    jacket jackets die Jacke Jacken, sweater sweaters der Pullover Pullover, scarf scarves der Schal Schals,
    dress dresses das Kleid Kleider
footwear (pair): new old beautiful COLOURS
    shoe shoes der Schuh Schuhe, boot boots der Stiefel Stiefel, glove gloves der Handschuh Handschuhe
vehicle: new old big small COLOURS
    bicycle bicycles das Fahrrad Fahrräder, motorcycle motorcycles das Motorrad Motorräder,
    scooter scooters der Roller Roller, car cars das Auto Autos, bus buses der Bus Busse,
    truck trucks der Lastwagen Lastwagen, taxi taxis das Taxi Taxis, boat boats das Boot Boote,
    train trains der Zug Züge
container: heavy big small COLOURS
    box boxes die Kiste Kisten, bag bags die Tasche Taschen, basket baskets der Korb Körbe,
    suitcase suitcases der Koffer Koffer
toy: new old big small COLOURS
    ball balls der Ball Bälle, umbrella umbrellas der Regenschirm Regenschirme, kite kites der Drachen Drachen
balloon: big small COLOURS
    balloon balloons der Luftballon Luftballons
furniture: new old COLOURS
    chair chairs der Stuhl Stühle, bench benches die Bank Bänke, sofa sofas das Sofa Sofas, bed beds das Bett Betten,
    table tables der Tisch Tische, mat mats die Matte Matten, carpet carpets der Teppich Teppiche,
    blanket blankets die Decke Decken, door doors die Tür Türen, lamp lamps die Lampe Lampen
thing: new old big small
    key keys der Schlüssel Schlüssel, clock clocks die Uhr Uhren, television televisions der Fernseher Fernseher,
    window windows das Fenster Fenster, ladder ladders die Leiter Leitern
book: interesting
    book books das Buch Bücher
letter: long interesting
    letter letters der Brief Briefe
papers: new old
    newspaper newspapers die Zeitung Zeitungen, map maps die Landkarte Landkarten
picture: new old big small beautiful
    picture pictures das Bild Bilder
instrument: new old beautiful
    guitar guitars die Gitarre Gitarren, violin violins die Geige Geigen, flute flutes die Flöte Flöten
game (mass):
    soccer - der Fußball -, tennis - das Tennis -, chess - das Schach -
fruit: big small ripe sweet
    apple apples der Apfel Äpfel, banana bananas die Banane Bananen, orange oranges die Orange Orangen,
    pear pears die Birne Birnen, strawberry strawberries die Erdbeere Erdbeeren
vegetable: big small fresh
    tomato tomatoes die Tomate Tomaten, carrot carrots die Karotte Karotten, potato potatoes die Kartoffel Kartoffeln
dish: big small
    cake cakes der Kuchen Kuchen, pizza pizzas die Pizza Pizzas
food (mass): fresh
    bread - das Brot -, cheese - der Käse -, meat - das Fleisch -, fish - der Fisch -
hot_food (mass): hot
    soup - die Suppe -, rice - der Reis -
drink (mass): hot cold
    coffee - der Kaffee -, tea - der Tee -, milk - die Milch -
cold_drink (mass): cold fresh
    juice - der Saft -, water - das Wasser -
flower: beautiful small red yellow white blue pink
    flower flowers die Blume Blumen
nature: big small
    tree trees der Baum Bäume, rock rocks der Felsen Felsen, puddle puddles die Pfütze Pfützen,
    stone stones der Stein Steine
barrier: high old white
    fence fences der Zaun Zäune, wall walls die Mauer Mauern
building: old new big small beautiful
    house houses das Haus Häuser, church churches die Kirche Kirchen, school schools die Schule Schulen,
    hotel hotels das Hotel Hotels, statue statues die Statue Statuen, bridge bridges die Brücke Brücken,
    stable stables der Stall Ställe
outdoors: big small beautiful quiet
    park parks der Park Parks, garden gardens der Garten Gärten, forest forests der Wald Wälder,
    meadow meadows die Wiese Wiesen, beach beaches der Strand Strände, lake lakes der See Seen,
    river rivers der Fluss Flüsse, village villages das Dorf Dörfer, farm farms der Bauernhof Bauernhöfe,
    street streets die Straße Straßen, playground playgrounds der Spielplatz Spielplätze
indoors: big small new old
    kitchen kitchens die Küche Küchen, living_room living_rooms das Wohnzimmer Wohnzimmer,
    office offices das Büro Büros, library libraries die Bibliothek Bibliotheken,
    classroom classrooms das Klassenzimmer Klassenzimmer, café cafés das Café Cafés,
    restaurant restaurants das Restaurant Restaurants, store stores der Laden Läden,
    supermarket supermarkets der Supermarkt Supermärkte, workshop workshops die Werkstatt Werkstätten,
    garage garages die Garage Garagen
unique (unique):
    market - der Markt -, station - der Bahnhof -, bus_stop - die Bushaltestelle -, city - die Stadt -,
    rain - der Regen -, snow - der Schnee -, sun - die Sonne -, grass - das Gras -, sea - das Meer -
"""

_SITES: Final = """
court: in/in park garden, on/auf playground, on/an beach
nature: in/in park garden forest, in/auf meadow, on/an beach, by/an lake river, in/in grass
campsite: in/in forest, by/an lake river, on/an beach, in/auf meadow, on/auf farm
market: at/auf market
trail: in/in park forest village, on/an beach, by/an lake river
weather: in/in rain snow sun
playground: in/in park garden, on/auf playground, in/auf meadow, on/an beach
garden: in/in garden, in/auf meadow, on/auf farm
plot: in/in garden, on/auf farm
farm: on/auf farm
pasture: in/auf meadow, in/in stable, next_to/neben fence tree, under/unter tree
town: on/auf street bridge, at/auf market, at/an station bus_stop, in/in village city
home: in/in kitchen living_room garden
rooms: in/in kitchen living_room
kitchen: in/in kitchen restaurant
eatery: in/in café restaurant
study: in/in library classroom office living_room
workshop: in/in workshop garage
work: in/in workshop garage office kitchen garden restaurant, on/auf farm, at/auf market
shop: in/in store supermarket, at/auf market
boutique: in/in store
gallery: in/in library hotel, at/auf market
stop: at/an station bus_stop
platform: at/an station
shore: by/an lake river, on/auf bridge
stage: on/auf street, in/in park garden café restaurant, at/auf market
sunny: in/in grass sun
lawn: in/in grass sun, on/an beach, in/auf meadow
beside: next_to/neben house church school hotel statue tree bus truck, in_front_of/vor house church school hotel
    store, behind/hinter house church tree fence
yard: next_to/neben house, in_front_of/vor house hotel school garage, behind/hinter house
seat: on/auf sofa bed mat carpet blanket, at/an table window
outdoor_seat: on/auf bench wall rock, under/unter tree
bedding: in/in bed, on/auf bench sofa mat blanket
couch: on/auf bench sofa bed mat carpet blanket
animal_bed: on/auf mat carpet blanket sofa bed, under/unter table bed chair tree bench
water: in/in lake river sea
"""

_PEOPLE = "adults family children"
_GROWN = "adults family"
_SPORTY = "children man woman student soldier tourist"  # those one expects to see jump and climb
_ANIMALS = "animals small_animals"
_PETS = "dog cat rabbit"
_RIDDEN = "horse pony donkey camel elephant"
_ACCESSORIES = "hat cap scarf shoe boot glove"
_TOPS = "shirt coat jacket sweater"
_PRODUCE = "fruit vegetable"
_LOOSE = "ball key bag box stone umbrella"

# A table, one entry a verb, and so not laid out by the formatter.
# fmt: off
_BEING: Final = (
    Verb("sitting", "sitzt", "sitzen", _PEOPLE, where="seat", needs_place=True, crowd=False),
    Verb("sitting", "sitzt", "sitzen", _PEOPLE, where="outdoor_seat", setting="playground", needs_place=True),
    Verb("sitting", "sitzt", "sitzen", "dog cat rabbit mouse", where="animal_bed", needs_place=True),
    Verb("resting", "ruht", "ruhen", _PEOPLE, where="outdoor_seat", setting="playground", reflexive=True,
         particle="aus"),
    Verb("standing", "steht", "stehen", _PEOPLE, where="beside weather town nature", needs_place=True),
    Verb("standing", "steht", "stehen", "horse pony donkey cow goat pig", where="pasture weather", needs_place=True),
    Verb("lying", "liegt", "liegen", f"{_PEOPLE} infants", where="couch lawn", needs_place=True, crowd=False),
    Verb("lying", "liegt", "liegen", "dog cat rabbit pig goat", where="pasture sunny", needs_place=True),
    Verb("sleeping", "schläft", "schlafen", f"{_PEOPLE} infants", where="bedding lawn", crowd=False),
    Verb("sleeping", "schläft", "schlafen", "dog cat rabbit mouse", where="animal_bed"),
    Verb("waiting", "wartet", "warten", _PEOPLE, where="stop beside weather"),
    Verb("laughing", "lacht", "lachen", f"{_PEOPLE} infants", where="home garden eatery"),
    Verb("crying", "weint", "weinen", "children infants", where="home seat"),
    Verb("singing", "singt", "singen", _PEOPLE, where="stage weather"),
    Verb("dancing", "tanzt", "tanzen", _PEOPLE, where="stage weather home"),
    Verb("working", "arbeitet", "arbeiten", _GROWN, where="work"),
    Verb("playing", "spielt", "spielen", "children dog cat rabbit monkey", where="playground weather"),
    Verb("swimming", "schwimmt", "schwimmen", f"{_PEOPLE} dog duck", where="water", dressed=False),
    Verb("fishing", "angelt", "angeln", _PEOPLE, where="shore"),
    Verb("camping", "zeltet", "zelten", _PEOPLE, where="campsite"),
    Verb("studying", "lernt", "lernen", "children man woman student nurse soldier", where="study"),
    Verb("shopping", "kauft", "kaufen", _PEOPLE, where="shop", particle="ein"),
    Verb("having breakfast", "frühstückt", "frühstücken", _PEOPLE, where="home eatery"),
    Verb("barking", "bellt", "bellen", "dog", where="garden beside"),
)
_GOING: Final = (
    Verb("walking", "geht", "gehen", _PEOPLE, where="trail weather", particle="spazieren", needs_place=True),
    Verb("walking through", "geht", "gehen", _PEOPLE, "park forest village garden city rain snow", preposition="durch",
         counting=Counting.ONE),
    Verb("walking along", "geht", "gehen", _PEOPLE, "beach river lake fence wall", preposition="an", case=Case.DATIVE,
         particle="entlang", counting=Counting.ONE),
    Verb("walking to", "geht", "gehen", _PEOPLE, "station bus_stop market school church beach lake hotel supermarket",
         preposition="zu", case=Case.DATIVE, counting=Counting.THE),
    Verb("going into", "geht", "gehen", _PEOPLE, "house church hotel café restaurant store library school",
         preposition="in", counting=Counting.ONE),
    Verb("running", "rennt", "rennen", "children dog cat rabbit man woman", where="playground weather"),
    Verb("running across", "rennt", "rennen", f"{_SPORTY} dog cat horse", "street bridge meadow playground",
         preposition="über", counting=Counting.ONE),
    Verb("running through", "rennt", "rennen", f"{_SPORTY} dog horse", "park forest village garden rain snow",
         preposition="durch", counting=Counting.ONE),
    Verb("running into", "rennt", "rennen", f"{_SPORTY} dog cat", "house garden stable forest school garage",
         preposition="in", counting=Counting.ONE),
    Verb("jumping over", "springt", "springen", f"{_SPORTY} dog cat horse", "fence wall puddle bench stone",
         preposition="über", counting=Counting.ONE),
    Verb("jumping into", "springt", "springen", f"{_SPORTY} dog duck", "lake river sea puddle", preposition="in",
         dressed=False, counting=Counting.ONE),
    Verb("climbing", "klettert", "klettern", f"{_SPORTY} cat monkey", "tree rock wall ladder", preposition="auf",
         counting=Counting.ONE),
    Verb("flying over", "fliegt", "fliegen", "bird duck butterfly", "house lake river forest church meadow garden",
         preposition="über", counting=Counting.ONE),
    Verb("riding", "reitet", "reiten", _PEOPLE, _RIDDEN, "trail", preposition="auf", case=Case.DATIVE,
         counting=Counting.SAME),
    Verb("riding", "fährt", "fahren", _PEOPLE, "bicycle motorcycle scooter", "trail", preposition="auf",
         case=Case.DATIVE, counting=Counting.SAME),
    Verb("driving", "fährt", "fahren", _GROWN, "car bus truck taxi", crowd=False, counting=Counting.ONE),
    Verb("getting on", "steigt", "steigen", _PEOPLE, "bus train", preposition="in", particle="ein",
         counting=Counting.ONE),
    Verb("getting into", "steigt", "steigen", _PEOPLE, "car taxi truck", preposition="in", particle="ein", crowd=False,
         counting=Counting.ONE),
    Verb("getting off", "steigt", "steigen", _PEOPLE, "bus train", preposition="aus", case=Case.DATIVE, particle="aus",
         counting=Counting.ONE),
)
_HANDLING: Final = (
    Verb("reading", "liest", "lesen", _PEOPLE, "book letter papers", "home garden eatery study",
         counting=Counting.SAME),
    Verb("writing", "schreibt", "schreiben", _PEOPLE, "letter book", "home garden eatery study", making=True,
         counting=Counting.SAME),
    Verb("drawing", "zeichnet", "zeichnen", _PEOPLE, f"{_ANIMALS} wild_animals tree flower", counting=Counting.SAME),
    Verb("painting", "streicht", "streichen", _GROWN, "fence door bench chair table boat", crowd=False,
         counting=Counting.ONE),
    Verb("carrying", "trägt", "tragen", _PEOPLE, "container umbrella", "town", counting=Counting.SAME),
    Verb("pushing", "schiebt", "schieben", _PEOPLE, "bicycle scooter", "town", counting=Counting.SAME),
    Verb("holding", "hält", "halten", _PEOPLE, "toy balloon flower book", "stop shore", particle="in der Hand",
         counting=Counting.SAME),
    Verb("throwing", "wirft", "werfen", _PEOPLE, "ball", "playground", counting=Counting.SAME),
    Verb("catching", "fängt", "fangen", f"{_SPORTY} dog cat", "ball butterfly", "playground", counting=Counting.SAME),
    Verb("building", "baut", "bauen", "adults", "house wall fence boat stable", making=True, counting=Counting.ONE),
    Verb("repairing", "repariert", "reparieren", _GROWN, "bicycle car truck bus motorcycle clock lamp", "workshop",
         crowd=False, counting=Counting.ONE),
    Verb("washing", "wäscht", "waschen", _GROWN, "car bus truck taxi dog horse", "yard", crowd=False,
         counting=Counting.ONE),
    Verb("cleaning", "putzt", "putzen", _PEOPLE, "window bicycle shoe boot", crowd=False, counting=Counting.ONE),
    Verb("opening", "öffnet", "öffnen", _PEOPLE, "door window box letter umbrella suitcase", counting=Counting.ONE,
         crowd=False),
    Verb("closing", "schließt", "schließen", _PEOPLE, "door window box suitcase bag", counting=Counting.ONE,
         crowd=False),
    Verb("buying", "kauft", "kaufen", _PEOPLE, f"{_PRODUCE} food flower garment container toy balloon", "shop",
         counting=Counting.SAME),
    Verb("selling", "verkauft", "verkaufen", _GROWN,
         f"{_PRODUCE} food flower book papers toy balloon garment container", "market", counting=Counting.BULK),
    Verb("looking for", "sucht", "suchen", _PEOPLE, f"key book container garment {_PETS} toy balloon",
         "home garden beside", counting=Counting.FEW),
    Verb("picking up", "hebt", "heben", _PEOPLE, _LOOSE, "trail", particle="auf", counting=Counting.FEW, crowd=False),
    Verb("hanging up", "hängt", "hängen", _GROWN, "picture lamp clock", "rooms eatery", particle="auf",
         counting=Counting.ONE, crowd=False),
    Verb("turning on", "schaltet", "schalten", _PEOPLE, "lamp television", "rooms", particle="ein",
         counting=Counting.ONE, crowd=False),
    Verb("turning off", "schaltet", "schalten", _PEOPLE, "lamp television", "rooms", particle="aus",
         counting=Counting.ONE, crowd=False),
    Verb("tidying up", "räumt", "räumen", _PEOPLE, "kitchen living_room office garage workshop classroom",
         particle="auf", counting=Counting.THE),
    Verb("playing the", "spielt", "spielen", _PEOPLE, "instrument", "stage weather", counting=Counting.BARE),
    Verb("playing", "spielt", "spielen", _PEOPLE, "game", "court", counting=Counting.BARE),
    Verb("playing with", "spielt", "spielen", "children dog cat", f"ball balloon {_PETS}", "home playground",
         preposition="mit", case=Case.DATIVE, counting=Counting.ONE),
    Verb("flying", "lässt", "lassen", _PEOPLE, "kite", "playground", particle="steigen", counting=Counting.SAME),
    Verb("photographing", "fotografiert", "fotografieren", _PEOPLE, f"{_ANIMALS} building flower tree",
         counting=Counting.ONE),
    Verb("looking at", "sieht", "sehen", _PEOPLE, "picture statue map", "gallery", reflexive=True, particle="an",
         counting=Counting.ONE),
)
_WEARING: Final = (
    Verb("wearing", "trägt", "tragen", _PEOPLE, _ACCESSORIES, counting=Counting.SAME),
    Verb("wearing", "trägt", "tragen", _PEOPLE, _TOPS, dressed=False, counting=Counting.SAME),
    Verb("putting on", "zieht", "ziehen", _PEOPLE, "coat jacket sweater shoe boot glove", particle="an", dressed=False,
         counting=Counting.SAME),
    Verb("taking off", "zieht", "ziehen", _PEOPLE, "coat jacket sweater shoe boot glove", particle="aus", dressed=False,
         counting=Counting.OWN),
    Verb("trying on", "probiert", "probieren", _PEOPLE, f"{_ACCESSORIES} {_TOPS}", "boutique", particle="an",
         dressed=False, counting=Counting.SAME),
    Verb("ironing", "bügelt", "bügeln", _GROWN, "shirt dress", "rooms", counting=Counting.SAME, crowd=False),
    Verb("sewing", "näht", "nähen", _GROWN, "shirt dress coat jacket", "home", counting=Counting.SAME, making=True,
         crowd=False),
    Verb("knitting", "strickt", "stricken", _GROWN, "sweater scarf cap glove", "home", counting=Counting.SAME,
         making=True),
)
_EATING: Final = (
    Verb("eating", "isst", "essen", _PEOPLE, "fruit dish food soup rice", "home garden eatery", counting=Counting.SAME),
    Verb("eating", "frisst", "fressen", "horse pony donkey goat pig rabbit monkey elephant", "apple banana pear carrot",
         "pasture farm", counting=Counting.SAME),
    Verb("drinking", "trinkt", "trinken", _PEOPLE, "drink cold_drink", "home garden eatery"),
    Verb("drinking", "trinkt", "trinken", f"{_ANIMALS} wild_animals", "water"),
    Verb("cooking", "kocht", "kochen", _PEOPLE, "soup rice potato meat fish", "kitchen", making=True,
         counting=Counting.BULK),
    Verb("baking", "backt", "backen", _PEOPLE, "dish bread", "kitchen", crowd=False, counting=Counting.ONE),
    Verb("cutting", "schneidet", "schneiden", _PEOPLE, f"{_PRODUCE} dish food", "kitchen", counting=Counting.SAME),
    Verb("peeling", "schält", "schälen", _PEOPLE, "apple orange pear banana potato carrot", "kitchen",
         counting=Counting.SAME),
    Verb("picking", "pflückt", "pflücken", _PEOPLE, "flower", "garden", counting=Counting.SAME),
    Verb("picking", "pflückt", "pflücken", _PEOPLE, "apple pear strawberry orange", "plot", counting=Counting.SAME),
    Verb("planting", "pflanzt", "pflanzen", _PEOPLE, "flower tree", "plot", counting=Counting.SAME),
    Verb("watering", "gießt", "gießen", _PEOPLE, "flower tree", "plot", counting=Counting.SAME),
)
_MEETING: Final = (
    Verb("feeding", "füttert", "füttern", _PEOPLE, f"{_ANIMALS} monkey elephant camel", "pasture farm"),
    Verb("petting", "streichelt", "streicheln", _PEOPLE, "dog cat horse pony donkey goat rabbit cow",
         "pasture garden"),
    Verb("chasing", "jagt", "jagen", "dog cat", "mouse bird duck rabbit cat", "garden nature"),
    Verb("watching", "beobachtet", "beobachten", f"{_PEOPLE} cat", "bird duck mouse rabbit butterfly", "nature garden"),
    Verb("hugging", "umarmt", "umarmen", _PEOPLE, "adults family children infants", "town home", counting=Counting.FEW),
    Verb("greeting", "begrüßt", "begrüßen", _PEOPLE, "adults family children", "town eatery", counting=Counting.FEW),
    Verb("smiling at", "lächelt", "lächeln", _PEOPLE, "adults family children infants", particle="an",
         counting=Counting.FEW),
    Verb("pointing at", "zeigt", "zeigen", _PEOPLE, f"building {_ANIMALS} wild_animals", preposition="auf",
         counting=Counting.ONE),
    Verb("waiting for", "wartet", "warten", _PEOPLE, "bus taxi adults family", "stop", preposition="auf",
         counting=Counting.ONE),
    Verb("waiting for", "wartet", "warten", _PEOPLE, "train", "platform", preposition="auf", counting=Counting.ONE),
    Verb("helping", "hilft", "helfen", _PEOPLE, "adults family children", "work", case=Case.DATIVE,
         counting=Counting.FEW),
    Verb("following", "folgt", "folgen", f"{_PEOPLE} {_PETS}", "adults family children", case=Case.DATIVE,
         counting=Counting.FEW),
    Verb("waving to", "winkt", "winken", _PEOPLE, "adults family children", "town", case=Case.DATIVE, particle="zu",
         counting=Counting.FEW),
    Verb("listening to", "hört", "hören", _PEOPLE, "adults family", "stage home", case=Case.DATIVE, particle="zu",
         counting=Counting.FEW),
    Verb("talking to", "spricht", "sprechen", _PEOPLE, "adults family children", "town eatery home", preposition="mit",
         case=Case.DATIVE, counting=Counting.FEW),
)
# fmt: on
VERBS: Final = (*_BEING, *_GOING, *_HANDLING, *_WEARING, *_EATING, *_MEETING)

# -------------------------------------------------------------------------------------------------- looking up


def _entries(page: str) -> list[list[str]]:
    """The comma-separated entries of a page, each as its fields."""
    return [[field.replace("_", " ") for field in entry.split()] for entry in page.split(",")]


def _groups(text: str) -> Iterator[tuple[str, str]]:
    """The groups of a page, each as its heading and what stands under or after it."""
    for group in re.split(r"\n(?=\S)", text.strip()):
        heading, _, page = group.partition(":")
        yield heading, page


@cache
def _adjectives() -> Mapping[str, Adjective]:
    plain = {english: Adjective(english, stem) for english, stem in _entries(_ADJECTIVES)}
    colours = {english: Adjective(english, stem, is_colour=True) for english, stem in _entries(_COLOURS)}
    return MappingProxyType(plain | colours)


@cache
def _noun_groups() -> Mapping[str, tuple[Noun, ...]]:
    genders = {"der": Form.MASCULINE, "die": Form.FEMININE, "das": Form.NEUTER}
    every_colour = " ".join(english for english, _ in _entries(_COLOURS))
    groups = {}
    for heading, group in _groups(_NOUNS):
        name, _, kind = heading.rstrip(")").partition(" (")
        suitable, _, page = group.replace("COLOURS", every_colour).partition("\n")
        suits = tuple(_adjectives()[word] for word in suitable.split())
        groups[name] = tuple(
            Noun(english, plural, genders[article], german, german_plural, (*weak, german)[0], Kind(kind), suits)
            for english, plural, article, german, german_plural, *weak in _entries(page)
        )
    return MappingProxyType(groups)


@cache
def nouns(words: str) -> tuple[Noun, ...]:
    """The nouns that `words` names, each by itself or by its group, without repetition."""
    single = {noun.english.replace(" ", "_"): (noun,) for group in _noun_groups().values() for noun in group}
    named = {**_noun_groups(), **single}
    return tuple(dict.fromkeys(noun for word in words.split() for noun in named[word]))


@cache
def sites(kinds: str) -> tuple[Site, ...]:
    """The places of the groups that `kinds` names, without repetition."""
    groups = dict(_groups(_SITES))
    found = []
    for kind in kinds.split():
        for entry in groups[kind].split(","):
            prepositions, *words = entry.split()
            english, german = prepositions.replace("_", " ").split("/")
            found += [Site(english, german, noun) for word in words for noun in nouns(word)]
    return tuple(dict.fromkeys(found))
