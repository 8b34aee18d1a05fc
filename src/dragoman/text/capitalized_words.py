"""Words that have a capital wherever they stand, and are translated: days, months, peoples, religions, feasts."""

from __future__ import annotations

from collections.abc import Mapping

from dragoman.text.calendar_names import MONTHS, WEEKDAYS

#: In the singular; the plural has an "s". Those that are also first names or surnames are in the plural: "Normans".
_ENGLISH = """
Afghan African Albanian Algerian American Andalusian Angolan Arab Argentine Argentinian Armenian Asian Australian
Austrian Azerbaijani Aztec Babylonian Basque Bavarian Belarusian Belgian Berber Bolivian Bosnian Brazilian Breton
Briton Bulgarian Cambodian Canadian Caribbean Castilian Catalan Celt Chilean Colombian Cossack Croat Croatian Cuban
Cypriot Czech Dane Ecuadorian Egyptian Englishman Englishmen Englishwoman Englishwomen Eskimo Estonian Ethiopian
European Filipino Finns Flemings Frenchman Frenchmen Frenchwoman Frenchwomen Gaul Georgian German Ghanaian Greek Gypsy
Gypsies Haitian Hawaiian Hungarian Icelander Inca Indian Indonesian Inuit Iranian Iraqi Irishman Irishmen Israeli
Italian Jamaican Jordanian Kabyle Kazakh Kenyan Korean Kurd Latvian Lebanese Liberian Libyan Lithuanian Luxembourger
Macedonian Malaysian Mayan Mexican Mongol Mongolian Moor Moroccan Nepali Nigerian Normans Norwegian Pakistani
Palestinian Parisian Persian Peruvian Phoenician Pole Polynesian Prussian Roman Romanian Russian Saudi Saxon
Scandinavian Scot Scotsman Scotsmen Senegalese Serb Serbian Siberian Sicilian Slav Slovak Slovene Slovenian Somali
Spaniard Sudanese Swabian Swede Syrian Taiwanese Tatar Thai Tibetan Tunisian Turk Tyrolean Ukrainian Uruguayan Uzbek
Venezuelan Venetian Viking Welshman Yemeni Yugoslav
British Burmese Chinese Danish Dutch English Finnish Flemish Francophone French Gaelic Hebrew Hindi Irish Japanese
Javanese Latin Maltese Mandarin Polish Portuguese Sanskrit Scottish Spanish Swedish Swiss Turkish Vietnamese Welsh
Esperanto
Anglican Baptist Bible Buddhism Buddhist Calvinist Catholic Catholicism Christianity Christians God Gospel
Hindu Hinduism Islam Islamic Jew Jewish Judaism Koran Lutheran Mass Messiah Methodist Mormon Muslim Orthodox
Pope Protestant Puritan Quran Satan Shiite Sikh Sunni Torah
Capitalist Communism Communist Conservative Democrat Fascist Marxism Marxist Nazi Republican Socialist Zionist
Advent Christmas Easter Halloween Hanukkah Lent Olympics Olympic Passover Pentecost Ramadan Thanksgiving
Antarctic Arctic Earth Internet Renaissance
"""
#: Without the ends of the feminine and of the plural, except those that are also first names or countries.
_FRENCH = """
Afghan Africain Albanais Allemand Américain Anglais Arabe Argentin Asiatique Australien Autrichien Basque Belge Breton
Britannique Bulgare Canadien Catalan Chilien Chinois Colombien Coréen Corses Cubain Danois Espagnol Estonien Européen
Finlandais Flamand Français Gaulois Grec Grecque Hollandais Hongrois Indien Iranien Irlandais Islandais Israélien
Italien Italienne Japonais Juif Juive Kurde Letton Libanais Lituanien Marocain Mexicain Mongol Néerlandais Normand
Norvégien Norvégienne Palestinien Parisien Parisienne Persan Péruvien Polonais Portugais Québécois Romaines Romains
Roumain Russe Serbe Slovaque Slovène Suédois Suisses Syrien Taïwanais Tchèque Tunisien Turc Turque Ukrainien Vietnamien
Africaine Australienne Autrichienne Canadienne Chilienne Coréenne Européenne Indienne Iranienne Israélienne
Palestinienne Syrienne Tunisienne Ukrainienne
Bible Carême Coran Dieu Église État Islam Noël Pâques Pentecôte Ramadan Terre Toussaint
"""


def _with_ends(words: str, *ends: str) -> frozenset[str]:
    return frozenset(word + end for word in words.split() for end in ("", *ends))


_CALENDAR = frozenset(word for names in (MONTHS, WEEKDAYS) for words in names.values() for word in words)
_OF_LANGUAGES: Mapping[str, frozenset[str]] = {
    "en": _with_ends(_ENGLISH, "s") | {f"{day}s" for day in WEEKDAYS["en"]},
    "fr": _with_ends(_FRENCH, "e", "s", "es") - {"Argentine"},  # the country
}


def is_translated(word: str, language: str) -> bool:
    """Return True for a word with a capital that is no name, but has a translation of its own.

    Args:
        language: the code of its language, without a region.

    >>> is_translated("Germans", "en"), is_translated("Mondays", "en"), is_translated("Jackson", "en")
    (True, True, False)
    """
    return word in _CALENDAR or word in _OF_LANGUAGES.get(language, ())
