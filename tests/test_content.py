"""Numbers, dates and amounts: found, written, and missed in a translation that has lost or changed them."""

from __future__ import annotations

from decimal import Decimal
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.content.comparing import CHECKS, faults
from dragoman.content.entity import Entity
from dragoman.content.find import find
from dragoman.content.language import Language, language_of
from dragoman.content.spoken_numbers import numbers_in_words
from dragoman.content.write import write

CODES = sorted(path.name.removesuffix(".json") for path in (files("dragoman.content") / "cldr").iterdir())
#: The tests' own words for numbers, not those of the package: an error in its tables would be in both.
ONES = {
    "en": "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen",
    "de": "null ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn "
    "siebzehn achtzehn neunzehn",
    "fr": "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept "
    "dix-huit dix-neuf",
}
TENS = {
    "en": "twenty thirty forty fifty sixty seventy eighty ninety",
    "de": "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig",
    "fr": "vingt trente quarante cinquante soixante soixante quatre-vingt quatre-vingt",
}


def in_words(number: int, language: str) -> str:
    """Write a number below 10,000 in words; an oracle that shares nothing with the code under test."""
    if language == "zh":
        return chinese(number)
    ones = ONES[language].split()
    if number < 20:
        return ones[number]
    if number < 100:
        tens, one = TENS[language].split()[number // 10 - 2], number % 10
        if language == "fr" and number // 10 in (7, 9):
            return f"{tens}-{ones[one + 10]}"
        together = {"en": f"{tens}-{ones[one]}", "de": f"{ones[one]}und{tens}", "fr": f"{tens}-{ones[one]}"}
        return together[language] if one else tens
    size, name = (1000, ("thousand", "tausend", "mille")) if number >= 1000 else (100, ("hundred", "hundert", "cent"))
    word = name[["en", "de", "fr"].index(language)]
    head, rest = in_words(number // size, language), number % size
    first = word if language == "fr" and number // size == 1 else f"{head} {word}"
    parts = [first, *([in_words(rest, language)] if rest else [])]
    return "".join(part.replace(" ", "") for part in parts) if language == "de" else " ".join(parts)


def chinese(number: int) -> str:
    written, digits = "", str(number)
    for place, digit in enumerate(digits):
        unit = ("", "十", "百", "千")[len(digits) - place - 1]
        zero = "" if written.endswith("零") or not digits[place:].strip("0") else "零"
        written += "零一二三四五六七八九"[int(digit)] + unit if digit != "0" or number == 0 else zero
    return written


def test_the_oracle_writes_numbers_as_people_do() -> None:
    assert [in_words(number, "en") for number in (7, 21, 305)] == ["seven", "twenty-one", "three hundred five"]
    assert [in_words(number, "de") for number in (21, 305, 1954)] == [
        "einundzwanzig",
        "dreihundertfünf",
        "eintausendneunhundertvierundfünfzig",
    ]
    assert [in_words(number, "fr") for number in (97, 200, 1071)] == [
        "quatre-vingt-dix-sept",
        "deux cent",
        "mille soixante-onze",
    ]
    assert [in_words(number, "zh") for number in (0, 21, 305, 1954, 2006, 9000)] == [
        "零",
        "二十一",
        "三百零五",
        "一千九百五十四",
        "二千零六",
        "九千",
    ]


#: Source, translation, languages.
RIGHT = [
    ("I am twenty-one.", "Ich bin einundzwanzig.", ("en", "de")),
    ("At seven-thirty.", "Um halb acht.", ("en", "de")),
    ("More than two dozen prizes.", "Plus d'une vingtaine de prix.", ("en", "fr")),
    ("It costs five dollars.", "Es kostet 5 $.", ("en", "de")),
    ("In 2012 118,800 people came.", "2012 kamen 118.800 Menschen.", ("en", "de")),
    ("It is 220 km (140 miles) away.", "Es ist 220 km entfernt.", ("en", "de")),
    ("It is 140 miles away and has 3 floors.", "Es ist 220 km entfernt und hat 3 Stockwerke.", ("en", "de")),
    ("A 4x4 is advised.", "Ein Geländewagen wird empfohlen.", ("en", "de")),
    ("It took 1.5 hours.", "Es dauerte eine und eine halbe Stunde.", ("en", "de")),
    ("See you on Tuesday.", "Até terça-feira.", ("en", "pt")),
    ("Two million people live here.", "Hier wohnen zwei Millionen Menschen.", ("en", "de")),
    ("The city has 4.7 million inhabitants.", "Die Stadt hat 4,7 Millionen Einwohner.", ("en", "de")),
    ("It has a million inhabitants.", "Sie hat eine Million Einwohner.", ("en", "de")),
    ("Two million people live here.", "Hier wohnen 2 Mio. Menschen.", ("en", "de")),
    ("Two million people live here.", "Hier wohnen 2.000.000 Menschen.", ("en", "de")),
    ("Zwei Billionen Euro.", "Two trillion euros.", ("de", "en")),
    ("Deux millions de gens vivent ici.", "这里住着两百万人。", ("fr", "zh")),
    ("Deux cents millions de gens.", "两亿人。", ("fr", "zh")),
    ("城里住着三百万人。", "Three million people live in the town.", ("zh", "en")),
    ("他有两亿元。", "He has two hundred million yuan.", ("zh", "en")),
    ("千万别忘了。", "Never forget it.", ("zh", "en")),
    ("Thanks a million!", "Tausend Dank!", ("en", "de")),
    ("Un million de fois merci.", "Thank you so much.", ("fr", "en")),
    ("I shop on Black Friday.", "J'achète au Black Friday.", ("en", "fr")),
    ("J'achète au Black Friday.", "I shop on Black Friday.", ("fr", "en")),
    ("黑色星期五见。", "Rendez-vous au Black Friday.", ("zh", "fr")),
    ("Mardi gras est passé.", "Mardi Gras is over.", ("fr", "en")),
    ("We rest on Good Friday.", "我们在耶稣受难日休息。", ("en", "zh")),
    ("She teaches Sunday school.", "她教主日学。", ("en", "zh")),
    ("Paper on Mondays, glass on Fridays.", "Altpapier am Montag, Glas freitags.", ("en", "de")),
    ("Le musée est fermé les mardis.", "The museum is closed on Tuesdays.", ("fr", "en")),
    ("I arrive on 3/3/2026.", "Ich komme am 3. März 2026 an.", ("en", "de")),
    ("I arrive on March 3.", "我3月3号到。", ("en", "zh")),
    ("It is -5 °C.", "Es sind minus 5 Grad.", ("en", "de")),
    ("It is -5 °C.", "Es sind −5 °C.", ("en", "de")),
    ("It is -5 °C.", "外面零下5度。", ("en", "zh")),
    ("Pages 3-5, 10 -12", "Seiten 3 bis 5, 10 12", ("en", "de")),
    ("今晚气温将降到零下12度", "The temperature will fall to 12 degrees below zero.", ("zh", "en")),
    ("今晚气温将降到零下12度", "Heute Nacht fällt die Temperatur auf 12 Grad unter Null.", ("zh", "de")),
    ("今晚气温将降到零下12度", "La température tombera à -12 degrés.", ("zh", "fr")),
    ("负5分", "5 points", ("zh", "en")),
    ("Es sind minus fünf Grad.", "It is minus five degrees.", ("de", "en")),
    ("It is minus five degrees.", "气温零下五度。", ("en", "zh")),
    ("It is five degrees below zero.", "Il fait cinq degrés au-dessous de zéro.", ("en", "fr")),
    ("Il fait au moins froid, moins de cinq degrés.", "It is less than five degrees.", ("fr", "en")),
    ("Five minus two is three.", "Fünf weniger zwei ist drei.", ("en", "de")),
    ("42.195 km", "42,195 km", ("en", "de")),
    ("We owe you EUR 1,249.00.", "Wir schulden 1.249,00 EUR.", ("en", "de")),
    ("42.195 km", "42.195公里", ("en", "zh")),
    ("Ça coûte 1 250,00 €.", "Es kostet 1.250,00 €.", ("fr", "de")),
    ("Ça coûte 1 250,00 €.", "It costs 1,250.00 euros.", ("fr", "en")),
    ("It weighs 2.5 kilos.", "Es wiegt 2,5 Kilo.", ("en", "de")),
    ("Come at 5.30 pm.", "Komm um 5.30 pm.", ("en", "de")),
    ("Blender 4.2 is out.", "Blender 4.2 ist da.", ("en", "de")),
    ("from Blender 4.2 to 4.3", "von Blender 4.2 bis 4.3", ("en", "de")),
    ("12,500 km", "12 500 km", ("en", "de")),
    ("12.500 km", "12 500 km", ("de", "fr")),
    ("Install version 2.125.", "Installiere Version 2.125.", ("en", "de")),
    ("Install v2.125.", "Installiere v2.125.", ("en", "de")),
    ("安装版本2.125。", "Installe la version 2.125.", ("zh", "fr")),
    ("See § 2.125.", "Siehe § 2.125.", ("en", "de")),
    ("Zimmer Nr. 1.250", "Room No. 1,250", ("de", "en")),
    ("Zimmer Nr. 1.250", "Room No. 1.250", ("de", "en")),
    ("Python 3.125 is out.", "Python 3.125 ist da.", ("en", "de")),
    ("Needs numpy==2.125.", "Benötigt numpy==2.125.", ("en", "de")),
    ("seit dem 3.4.1990", "since 3/4/1990", ("de", "en")),
    ("seit dem 3.4.1990", "since April 3, 1990", ("de", "en")),
    ("Ruf 030 1234567 an.", "Call 030-1234567.", ("de", "en")),
    ("En 2019, 20 000 personnes", "In 2019, 20,000 people", ("fr", "en")),
    ("It costs twenty dollars.", "Es kostet 20 $.", ("en", "de")),
    ("It costs $5 and $6.", "Es kostet 5 und 6 Dollar.", ("en", "de")),
    ("From $25 to $30 a day.", "25–30 $ pro Tag.", ("en", "de")),
    ("From $25 to $30 a day.", "每天25到30美元。", ("en", "zh")),
    ("这本书120元。", "This book is 120 yuan.", ("zh", "en")),
    ("这本书120日元。", "This book is 120 yen.", ("zh", "en")),
    ("At half past three.", "Um halb vier.", ("en", "de")),
    ("At quarter to six.", "Um 5.45 Uhr.", ("en", "de")),
    ("On May 5 at half past three.", "Am 5. Mai um halb vier.", ("en", "de")),
    ("On May 5 at half past three.", "Am fünften Mai um halb vier.", ("en", "de")),
    ("Um halb acht.", "At seven-thirty.", ("de", "en")),
    ("À midi et quart.", "At quarter past twelve.", ("fr", "en")),
    ("J'ai attendu une heure et demie.", "I waited for an hour and a half.", ("fr", "en")),
    ("两点一刻走。", "Um Viertel nach zwei geht es los.", ("zh", "de")),
    ("It weighs two pounds.", "Es wiegt zwei Kilo.", ("en", "de")),
    ("Ils ont voyagé en sept pays.", "Sie reisten durch sieben Länder.", ("fr", "de")),
    ("Ich warte, bis Jan um 15 Uhr kommt.", "我等扬到15点来。", ("de", "zh")),
    ("Euro 2024 starts today.", "2024年欧洲杯今天开始。", ("en", "zh")),
    ("我有3点建议。", "I have some suggestions.", ("zh", "en")),
    ("It costs 1,250.50.", "Es kostet 1.250,50.", ("en", "de")),
    ("Es kostet 1.250,50.", "It costs 1,250.50.", ("de", "en")),
    ("at 3 pm", "um 15 Uhr", ("en", "de")),
    ("um 15 Uhr", "at 3 pm", ("de", "en")),
    ("at 12:30 am", "um 0.30 Uhr", ("en", "de")),
    ("um 0.30 Uhr", "at 12:30 am", ("de", "en")),
    ("at 2:30", "um halb drei", ("en", "de")),
    ("at 7:45", "um Viertel vor acht", ("en", "de")),
    ("um Viertel vor acht", "at 7:45", ("de", "en")),
    ("at 3:00 pm", "à 15 h", ("en", "fr")),
    ("à 15 h", "at 3:00 pm", ("fr", "en")),
    ("for ten years", "seit 10 Jahren", ("en", "de")),
    ("seit 10 Jahren", "for ten years", ("de", "en")),
    ("30,000 people", "3万人", ("en", "zh")),
    ("3万人", "30,000 people", ("zh", "en")),
    ("1.5 million people", "150万人", ("en", "zh")),
    ("150万人", "1.5 million people", ("zh", "en")),
    ("1.5 million people", "1 500 000 personnes", ("en", "fr")),
    ("1 500 000 personnes", "1.5 million people", ("fr", "en")),
    ("on 11/25/2026", "am 25. November 2026", ("en", "de")),
    ("am 25. November 2026", "on 11/25/2026", ("de", "en")),
    ("in the 1960s", "dans les années 60", ("en", "fr")),
    ("dans les années 60", "in the 1960s", ("fr", "en")),
    ("a 17th century church", "une église du XVIIe siècle", ("en", "fr")),
    ("une église du XVIIe siècle", "a 17th century church", ("fr", "en")),
    ("in 1954", "neunzehnhundertvierundfünfzig", ("en", "de")),
    ("neunzehnhundertvierundfünfzig", "in 1954", ("de", "en")),
    ("in 2005", "二〇〇五年", ("en", "zh")),
    ("二〇〇五年", "in 2005", ("zh", "en")),
    ("$20.00", "20 $", ("en", "fr")),
    ("20 $", "$20.00", ("fr", "en")),
    ("Wait an hour.", "等1小时。", ("en", "zh")),
    ("等1小时。", "Wait an hour.", ("zh", "en")),
    ("25 boys and 30 girls", "30 filles et 25 garçons", ("en", "fr")),
    ("30 filles et 25 garçons", "25 boys and 30 girls", ("fr", "en")),
    ("CO2", "carbon dioxide", ("de", "en")),
    ("nothing", "rien", ("en", "fr")),
    ("rien", "nothing", ("fr", "en")),
    ("我有3万块钱。", "I have 30,000 yuan.", ("zh", "en")),
    ("这个城市有200多万人。", "There are more than 2 million people.", ("zh", "en")),
    ("5到6万人，20-30万人", "50,000 to 60,000, 200,000-300,000 people", ("zh", "en")),
    ("他跑了5千米。", "He ran 5 km.", ("zh", "en")),
    ("5 billion people", "5 Milliarden Menschen", ("en", "de")),
    ("5 to 6 million people", "5 bis 6 Mio. Menschen", ("en", "de")),
    ("2 million 300 thousand", "2 Millionen 300 Tausend", ("en", "de")),
    ("$300+ billion", "plus de 300 milliards de dollars", ("en", "fr")),
    ("30 thousand people", "30 mille personnes", ("en", "fr")),
    ("It costs 50 cents.", "Ça coûte 50 cents.", ("en", "fr")),
    ("a 4K film", "4K电影", ("en", "zh")),
    ("the gene orf3b", "基因 orf3b", ("en", "zh")),
    ("3 million people", "3 millones de personas", ("en", "es")),
    ("Il y a 1 000 000 de gens.", "There are 1,000,000 people.", ("fr", "en")),
    ("There are 1 250 books.", "Es sind 1250 Bücher.", ("en", "de")),
    ("Ruf 030 1234567 an.", "Call 0301234567.", ("de", "en")),
    ("Ruf +49 30 1234567 an.", "Call +49301234567.", ("de", "en")),
    ("Call 555 1234.", "Ruf 5551234 an.", ("en", "de")),
    ("on 2026-11-25", "am 20261125", ("en", "de")),
    ("He is 1 m 55 tall.", "Er ist 155 cm groß.", ("en", "de")),
    ("The game starts at 20:45 on January 25.", "比赛1月25日晚上8:45开始。", ("en", "zh")),
    ("Le 25 janvier à 20 h 45, venez.", "1月25日请20:45来。", ("fr", "zh")),
    ("We met on 3 April at 11:45.", "我们在四月三日十一点四十五分见面。", ("en", "zh")),
    ("We met at 11:45, not on 3 April.", "我们11:45见面，不是4月3日。", ("en", "zh")),
    ("他有3只猫。", "He has cats.", ("zh", "en")),
    ("票价30元，8月25日。", "It is 30 yuan on August 25.", ("zh", "en")),
    ("有50万人。", "There are half a million people.", ("zh", "en")),
    ("Come at 3 pm.", "Komm um 3 Uhr nachmittags.", ("en", "de")),
    ("Come at 3 p.m.", "Viens à quinze heures.", ("en", "fr")),
    ("Come at 8 pm.", "晚上八点来。", ("en", "zh")),
    ("下午3点来。", "Come at 3 o'clock in the afternoon.", ("zh", "en")),
    ("Komm um 7 Uhr abends.", "Come at 7 in the evening.", ("de", "en")),
    ("Come at 12 pm.", "Komm um 12 Uhr.", ("en", "de")),
    ("Come at 3 am.", "Komm um 3 Uhr.", ("en", "de")),
    ("Der Zug fährt um 18.30 Uhr.", "The train leaves at 6:30.", ("de", "en")),
    ("Viens à 3 heures du\xa0soir.", "Come at 3 pm.", ("fr", "en")),
    ("120 cm long, 75 cm high", "120 Zentimeter lang, 75 cm hoch", ("en", "de")),
    ("He drove at 120 km/h.", "Il roulait à 120 kilomètres par heure.", ("en", "fr")),
    ("-12 °C tonight", "今晚零下12度", ("en", "zh")),
    ("16 GB of RAM", "16 Go de RAM", ("en", "fr")),
    ("It costs EUR 50.", "Es kostet 50 €.", ("en", "de")),
    ("他身高185厘米。", "He is 185 cm tall.", ("zh", "en")),
    ("More than two million people.", "两百多万人。", ("en", "zh")),
    ("It is $2.50.", "Es sind 2,50 $.", ("en", "de")),
    ("It is 2.50.", "Es sind 2,5.", ("en", "de")),
    ("It is 2.00.", "Es sind 2.", ("en", "de")),
    ("It is 0.00.", "Es ist nichts.", ("en", "de")),
    ("It is 1,250.", "Es sind 1250.", ("en", "de")),
    ("06.12.34.56.78", "06 12 34 56 78", ("en", "de")),
    ("on 26.11.2026", "am 26/11/2026", ("en", "de")),
    ("3.5 million", "3500000", ("en", "de")),
    ("It is $5.", "Es kostet 5 Dollar.", ("en", "de")),
    ("It is 5 €.", "Ça coûte 5 euros.", ("en", "fr")),
    ("It is £5.", "5 英镑。", ("en", "zh")),
    ("The $ sign", "Das Zeichen", ("en", "de")),
    ("Ho trentuno anni.", "I am 31 years old.", ("it", "en")),
    ("Mam dwadzieścia dwa lata.", "I am 22 years old.", ("pl", "en")),
    ("Мне двадцать два года, 5 марта.", "I am 22, since March 5.", ("ru", "en")),
    ("Ik ben tweeëntwintig.", "Ich bin 22.", ("nl", "de")),
    ("3月5日に5ドル払った。", "I paid $5 on 5 March.", ("ja", "en")),
    ("Costó cinco dólares y 30 metros.", "It cost $5 and 30 m.", ("es", "en")),
    ("It is 5:30 pm, and -3 °C.", "Son las diecisiete y media, y tres bajo cero.", ("en", "es")),
    ("um halb drei", "at 2:30", ("de", "en")),
    ("um halb sechs", "at 5:30", ("de", "en")),
    ("um halb eins", "at 12:30", ("de", "en")),
    ("om half drie", "at 2:30", ("nl", "en")),
    ("carbon dioxide", "CO2", ("en", "de")),
    ("a film in high resolution", "un film 4K", ("en", "fr")),
    ("a 4K film of 5 m", "un film 4K de 5 m", ("en", "fr")),
    ("some genes", "orf3b等基因", ("en", "zh")),
    ("a file of music", "MP3文件", ("en", "zh")),
    ("a flight to Rome", "ein Flug mit der A380 nach Rom", ("en", "de")),
    ("我有3万块钱。", "I have 30k yuan.", ("zh", "en")),
    ("有3万5千人，不是3万5。", "There are 35,000 people, not 35,000.", ("zh", "en")),
    ("这要10万4500元。", "This costs 104,500 yuan.", ("zh", "en")),
    ("5千4百万人です。", "There are 54 million people.", ("ja", "en")),
    ("3億4千万人です。", "There are 340 million people.", ("ja", "en")),
    ("3억 4천만에서 5억 명", "from 340 million to 500 million people", ("ko", "en")),
    ("Two to three million years.", "200～300万年です。", ("en", "ja")),
    ("Two thirds and a quarter.", "3分の2と4分の1です。", ("en", "ja")),
    ("A fifth of it.", "그것의 5분의 1입니다.", ("en", "ko")),
    ("One of the causes.", "原因の1つです。", ("en", "ja")),
    ("It costs $5.", "5ドルです。", ("en", "ja")),
    ("It is 69 cm long.", "長さは69センチです。", ("en", "ja")),
    ("Guests in their twenties.", "20代の客です。", ("en", "ja")),
    ("A century ago.", "100年前です。", ("en", "ja")),
    ("In the 9th century.", "På 800-talet.", ("en", "sv")),
    ("In the 1970s.", "في السبعينيات.", ("en", "ar")),
    ("Come at 3 pm.", "Kom klockan 3 på eftermiddagen.", ("en", "sv")),
    ("The storm is 645 miles away.", "Stormen är 645 engelska mil bort.", ("en", "sv")),
    ("In May 1969 or June.", "В мае 1969 года или в июне.", ("en", "ru")),
    ("The environment is hostile.", "Окружающая среда неблагоприятна.", ("en", "ru")),
    ("A tank holds 55,000 barrels.", "Ein Tank fasst 55.000 Fässer.", ("en", "de")),
    ("It is 10 o'clock.", "Jest godzina dziesiąta.", ("en", "pl")),
    ("Two to three million years.", "Dva až tři miliony let.", ("en", "cs")),
]
WRONG = [
    ("I am twenty-one.", "Ich bin zwanzig.", ("en", "de")),
    ("Call 030 1234567.", "Ruf 030,1234567 an.", ("en", "de")),
    ("Ruf 030 1234567 an.", "Call 030.1234567.", ("de", "en")),
    ("J'ai soixante et onze ans.", "I am seventy.", ("fr", "en")),
    ("他二十一岁。", "He is twelve.", ("zh", "en")),
    ("It costs five dollars.", "Es kostet fünf Euro.", ("en", "de")),
    ("It cost fifty euros.", "Costó cincuenta dólares.", ("en", "es")),
    ("It costs 5 dollars.", "Das kostet im Haus 5 Euro.", ("en", "de")),
    ("It costs $5.", "Ça coûte 5 euros à des amis.", ("en", "fr")),
    ("It is 5 inches long.", "Es ist 5 Meter lang.", ("en", "de")),
    ("It is 10 miles away.", "Es ist 10 Kilometer entfernt.", ("en", "de")),
    ("See you on Tuesday.", "Até segunda-feira.", ("en", "pt")),
    ("There are 70,000 books.", "Il y a 70,000 livres.", ("en", "fr")),
    ("It is 220 km away.", "Es ist 140 kg schwer.", ("en", "de")),
    ("Two million people live here.", "Hier wohnen zwei Milliarden Menschen.", ("en", "de")),
    ("Two million people live here.", "Hier wohnen Menschen.", ("en", "de")),
    ("Žijí zde dva miliony lidí.", "People live here.", ("cs", "en")),
    ("Drei Milliarden Sterne.", "Three million stars.", ("de", "en")),
    ("城里住着三百万人。", "Three billion people live in the town.", ("zh", "en")),
    ("We rest on Friday.", "Nous nous reposons.", ("en", "fr")),
    ("On black days I shop on Friday.", "J'achète.", ("en", "fr")),
    ("On Sunday, school is closed.", "学校关门。", ("en", "zh")),
    ("Paper on Mondays, glass on Fridays.", "Le papier le lundi, le verre le lundi.", ("en", "fr")),
    ("Das Museum ist montags geschlossen.", "The museum is closed on Tuesdays.", ("de", "en")),
    ("I arrive on March 3.", "Ich komme am March 3 an.", ("en", "de")),
    ("I arrive on March 3.", "我3号到。", ("en", "zh")),
    ("It is -5 °C.", "Es sind 5 °C.", ("en", "de")),
    ("外面-5 °C。", "It is 5 °C.", ("zh", "en")),
    ("42.195 km", "42.195 km", ("en", "de")),
    ("42.195 km", "42 195 km", ("en", "fr")),
    ("We owe you EUR 1,249.00.", "Wir schulden 1,249.00 EUR.", ("en", "de")),
    ("42.195 km", "42195 km", ("en", "fr")),
    ("Ça coûte 1 250,00 €.", "It costs 1 250,00 euros.", ("fr", "en")),
    ("I paid $4.50 for 2.", "Für 2 zahlte ich 4.50 $.", ("en", "de")),
    ("42,195 km", "42,195 km", ("de", "en")),
    ("12,500 km", "12,500 km", ("en", "de")),
    ("12.500 km", "12.500 km", ("de", "zh")),
    ("Chapter 2.125", "Kapitel 2 125", ("en", "de")),
    ("In London 2.125 million live.", "In London leben 2.125 Millionen.", ("en", "de")),
    ("A conversion: 2.125 km", "Eine Umrechnung: 2.125 km", ("en", "de")),
    ("Ils ont voyagé en sept. 2020.", "Sie reisten im Mai 2020.", ("fr", "de")),
    ("Es dauert bis Jan. 2024.", "要到2024年3月。", ("de", "zh")),
    ("He paid 20 euros in 2024.", "他在2024年付了20元。", ("en", "zh")),
    ("It is 17:45.", "Es ist 2:30.", ("en", "de")),
    ("I am 18.", "Ich bin 30.", ("en", "de")),
    ("around 1830", "um 1930", ("en", "de")),
    ("20 of 20", "20 von", ("en", "de")),
    ("I see a dog.", "Ich sehe 4 Hunde.", ("en", "de")),
    ("in 2006", "im Jahr", ("en", "de")),
    ("page 1,250", "Seite 1.350", ("en", "de")),
    ("我有3万块钱。", "I have 3 million money.", ("zh", "en")),
    ("这个城市有200万人。", "There are 200 million people.", ("zh", "en")),
    ("他有1.5亿。", "He has 1.5 million.", ("zh", "en")),
    ("5 billion people", "5 Billionen Menschen", ("en", "de")),
    ("请在8月25日之前付清。", "Please pay by 25 October.", ("zh", "en")),
    ("我的护照5月3日到期。", "My passport is 3 years old.", ("zh", "en")),
    ("票价30元，8月25日。", "It is yuan on August 25.", ("zh", "en")),
    ("他付了3万5千元。", "He paid 3,000 yuan.", ("zh", "en")),
    ("Come at 3 pm.", "Komm um 3 Uhr.", ("en", "de")),
    ("Come at 3 pm.", "Komm um 3 Uhr vormittags.", ("en", "de")),
    ("Come at 3 am.", "Komm um 15 Uhr.", ("en", "de")),
    ("Come at 12:30 am.", "Komm um 12.30 Uhr.", ("en", "de")),
    ("It costs EUR 50.", "Es kostet 50.", ("en", "de")),
    ("It is $2.50.", "Es sind $250.", ("en", "de")),
    ("It is 250.", "Es sind 2,50.", ("en", "de")),
    ("It is $5.", "Es kostet 5.", ("en", "de")),
    ("It is €5 or $6.", "5 € ou 6.", ("en", "fr")),
    ("um halb drei", "at 5:30", ("de", "en")),
    ("He paid EUR50.", "Er zahlte EUR60.", ("en", "de")),
    ("She is tall.", "Sie ist 1m55 groß.", ("en", "de")),
    ("A long way.", "Ein Weg von 5V.", ("en", "de")),
    ("我有3万5。", "I have 30,005 yuan.", ("zh", "en")),
    ("3億4千万人です。", "There are 34 million people.", ("ja", "en")),
    ("5천만 명", "5 million people", ("ko", "en")),
    ("He has dogs.", "犬が4匹います。", ("en", "ja")),
    ("It costs $5.", "5ユーロです。", ("en", "ja")),
]
#: Languages that have no line of code of their own.
SPANISH_AND_DUTCH = [
    ("Tengo veintidós años.", "I am 22 years old.", ("es", "en"), None),
    ("Vinieron doscientas cincuenta personas.", "250 people came.", ("es", "en"), None),
    ("Vinieron doscientas cincuenta personas.", "350 people came.", ("es", "en"), "numbers"),
    ("Cuesta 1.250,50 €.", "It costs €1,250.50.", ("es", "en"), None),
    ("Cuesta 50 €.", "It costs $50.", ("es", "en"), "money"),
    ("El 3 de mayo de 2026", "On May 3, 2026", ("es", "en"), None),
    ("El 3 de mayo de 2026", "On June 3, 2026", ("es", "en"), "dates"),
    ("Nos vemos el lunes.", "See you on Tuesday.", ("es", "en"), "weekdays"),
    ("Come at 3 pm.", "Ven a las 3 de la tarde.", ("en", "es"), None),
    ("Come at 3 pm.", "Ven a las 3 de la mañana.", ("en", "es"), "times"),
    ("Er waren tweehonderdvijftig mensen.", "There were 250 people.", ("nl", "en"), None),
    ("Er waren tweehonderdvijftig mensen.", "There were 240 people.", ("nl", "en"), "numbers"),
    ("The table is 120 cm long.", "De tafel is 120 cm lang.", ("en", "nl"), None),
    ("The table is 120 cm long.", "De tafel is 120 km lang.", ("en", "nl"), "measures"),
    ("It is -5 °C.", "Het is min 5 graden.", ("en", "nl"), None),
    ("It is -5 °C.", "Het is 5 °C.", ("en", "nl"), "minus"),
    ("Op 5 maart om 15.30 uur", "On March 5 at 3:30 pm", ("nl", "en"), None),
]


@pytest.mark.parametrize(("source", "translation", "languages"), RIGHT)
def test_a_right_translation_has_no_fault(source: str, translation: str, languages: tuple[str, str]) -> None:
    assert faults(source, translation, languages) == []


@pytest.mark.parametrize(("source", "translation", "languages"), WRONG)
def test_a_wrong_translation_has_a_fault_that_can_be_switched_off(
    source: str, translation: str, languages: tuple[str, str]
) -> None:
    found = faults(source, translation, languages)
    assert found
    assert not faults(source, translation, languages, off={fault.check for fault in found})


@pytest.mark.parametrize(("source", "translation", "languages", "check"), SPANISH_AND_DUTCH)
def test_a_language_needs_data_only(
    source: str, translation: str, languages: tuple[str, str], check: str | None
) -> None:
    assert {fault.check for fault in faults(source, translation, languages)} == ({check} if check else set())


@pytest.mark.parametrize(
    ("source", "language", "right", "wrong"),
    [
        (
            "On 15.12.2026.",
            "de",
            ["15.12.2026", "15/12/2026", "15. 12. 2026", "2026-12-15"],
            ["15,12,2026", "15.12,2026"],
        ),
        (
            "On 03/04/2027.",
            "fr",
            ["03/04/2027", "03.04.2027", "03-04-2027"],
            ["03 04 2027", "03,04,2027", "03/04 2027"],
        ),
        ("It was €450.00.", "de", ["450 €", "450,00 €", "450,0 €"], ["450,000 €", "450 00 €", "€450,00", "450.00 €"]),
        ("It was $1,450.00.", "de", ["1450 $", "1.450,00 $"], ["1.450,000 $", "1.450.00 $"]),
        ("It was 1.5 kg.", "fr", ["1,5 kg", "1,50 kg"], ["1,500 kg", "1.5 kg"]),
        ("It has 12,34,567 people.", "fr", ["1234567", "1 234 567"], ["12 34 567"]),
        ("Use $1 and £2.", "de", ["$1 2 £"], ["$1 £2"]),
        ("Call 555-123-4567-8.", "de", ["555 123 4567 8"], ["555-123-4567-9"]),
    ],
)
def test_a_number_keeps_separators_that_its_language_has(
    source: str, language: str, right: list[str], wrong: list[str]
) -> None:
    for translation in right:
        assert not faults(source, translation, ("en", language)), translation
    for translation in wrong:
        assert faults(source, translation, ("en", language)), translation


def test_checks_have_ids() -> None:
    assert len({check.id for check in CHECKS}) == len(CHECKS)


@pytest.mark.parametrize("languages", [("xx", "en"), ("en", "und"), ("la", "sw")])
def test_a_language_without_data_is_not_checked(languages: tuple[str, str]) -> None:
    assert faults("25 dogs on Monday", "7", languages) == []


def known(code: str) -> Language:
    language = language_of(code)
    assert language is not None
    return language


@given(st.integers(0, 9999), st.sampled_from(["en", "de", "fr", "zh"]))
def test_numbers_in_words_are_read(number: int, code: str) -> None:
    assert number in numbers_in_words(in_words(number, code), known(code))


@pytest.mark.parametrize("code", CODES)
def test_a_written_entity_is_found_again(code: str) -> None:
    language = known(code)
    for entity in (
        Entity("date", 0, 0, (2026, 5, 3)),
        Entity("date", 0, 0, (None, 11, 25)),
        Entity("weekday", 0, 0, 2),
        Entity("money", 0, 0, (Decimal("1250.50"), "EUR")),
        Entity("measure", 0, 0, (Decimal(120), "length-kilometer")),
        Entity("cardinal", 0, 0, Decimal(1_234_567)),
        Entity("percent", 0, 0, Decimal(75)),
    ):
        form = write(entity, language)[0]
        found = find(form, language)
        assert [(each.kind, each.value) for each in found] == [(entity.kind, entity.value)], form
        assert form[found[0].start : found[0].end].strip() in form


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("other", ["en", "de"])
def test_the_usual_form_of_another_value_is_a_fault(code: str, other: str) -> None:
    if code == other:
        return
    for kind, value, wrong in (
        ("cardinal", Decimal(1954), Decimal(1945)),
        ("money", (Decimal(35), "EUR"), (Decimal(35), "INR")),
        ("date", (2026, 5, 13), (2026, 9, 13)),
        ("weekday", 2, 4),
        ("measure", (Decimal(120), "length-kilometer"), (Decimal(120), "mass-kilogram")),
    ):
        source, right, false = (
            write(Entity(kind, 0, 0, each), known(language))[0]  # type: ignore[arg-type]
            for each, language in ((value, other), (value, code), (wrong, code))
        )
        assert faults(source, right, (other, code)) == []
        assert faults(source, false, (other, code)) != []


#: Pieces of texts whose reading or comparing could take quadratic time.
HOSTILE = (
    *(
        "one ",
        "two ",
        "1",
        "1.",
        "1,",
        "1-",
        "1 111 ",
        "三千",
        "quatre-vingt-",
        "IV ",
        "1万",
        "1万5",
        "fünf",
        "1 million ",
    ),
    *("1k ", "12:30 ", "-5 ", "$5 ", "EUR5 ", "5 km ", "1 m 55 ", "20 % ", "May 3 ", "Monday ", "3 pm ", "3分の1 "),
)


@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_text_takes_no_long_time(piece: str) -> None:
    text = piece * (10_000 // len(piece))
    for source, target in ((text, "x 4711"), (f"7 {text} 1848", text)):
        assert isinstance(faults(source, target, ("en" if piece.isascii() else "zh", "de")), list)


STRANGE = {
    "long": "9" * 5000,
    "long after a comma": f"1,{'9' * 5000}",
    "scales": f"3 {'million ' * 900}",
    "Chinese scales": f"3{'億' * 600}",
    "hour": "24:30",
    "day": "99 May",
    "other digits": "²½Ⅷ",
}


@pytest.mark.parametrize("text", STRANGE.values(), ids=STRANGE)
def test_strange_numbers_are_found_and_written_without_an_error(text: str) -> None:
    for code in ("en", "zh", "ja", "de"):
        language = language_of(code)
        assert language is not None
        assert all(write(entity, language) for entity in find(text, language))
        assert isinstance(faults(text, "1", (code, "en")), list)
