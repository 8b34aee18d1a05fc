"""Frequent words of common languages: articles, pronouns, prepositions and forms of "be", chosen by hand from grammars.

A word of several languages is listed in each where it is frequent. Single letters are not used, since they also occur
in text of no language.
"""

from __future__ import annotations

FREQUENT_WORDS = {
    name: frozenset(words.split())
    for name, words in {
        "bg": "се на да от за не си са че по като това ще беше този тази аз съм което как мен към или един само бе ли",
        "ca": "el la els les de del que no és una un amb per en al com més aquest aquesta ho són va ser hi però molt",
        "cs": "je se na že to není jsem jsou by ve do za jak ale pro jako tak když byl byla jsme pak co mu ten já ti",
        "da": "det er og at en til på ikke jeg af den der har for med som et du vi han hun de var kan skal mig hvad om",
        "de": "der die das und ist nicht ein eine ich zu den mit auf er sie es dem im sich wir hat von für auch du",
        "en": "the of and to is in it you that he was for on are with as his they at be this have from she not we had",
        "es": "el la los las de que en un una es no se por con para su del al lo como más pero está yo me este fue",
        "et": "on ei ja ta see ma et oli mis ka kui aga selle oma või siis nii mida sa ole me nad seda välja üks mu",
        "fi": "on ei ja se hän että en oli mitä ole minä tämä mutta ovat kun niin olen joka sen sinä hänen voi kuin",
        "fr": "le la les des de et est un une que qui dans il elle je ne pas pour sur au avec ce nous vous du son à en",
        "hr": "je se na da su nije sam što od za ali bio kao ovo koji ja ti mi smo će bi iz kako samo biti to ne si",
        "hu": "az és nem hogy egy van volt ez meg csak is már én még ha mint ki kell vagy de azt nagyon mi el ezt itt",
        "id": "yang dan di itu ini dengan untuk tidak dari dalam akan pada saya dia adalah ada ke mereka bisa anda",
        "it": "il la di che non è un una per in sono mi ho con del della si le lo da gli ha questo come ma più nel al",
        "lt": "ir yra kad ne aš tai jis ji buvo su kaip į iš apie mano tu mes bet labai už tik nuo gali man kas šis",
        "lv": "ir un es ka tas nav viņš ar par uz no viņa bija to man kā tu mēs ko bet ļoti vai šis mans lai pie gan",
        "nb": "det er og en til på ikke jeg av den har for med som et du vi han hun de var kan skal meg hva om jeg fra",
        "nl": "de het een en van is niet ik dat in je op te zijn hij met voor ze er was aan heeft ook maar we naar om",
        "pl": "nie się to jest na że do co jak ale za po czy tak mnie już był tego jego ten są przez od tym dla być",
        "pt": "o os as de que não do da em um uma para com por no na se ele eu mais como mas foi está muito isso você",
        "ro": "de și în nu la un o pe este cu că să se din ce mai am pentru el ea sunt care lui îi au fost dar mi te",
        "ru": "не что он на это как но по из его она так же от был меня мы вы за бы мне то есть если они или для был к",
        "sk": "je sa na že to nie som by vo do za ako ale pre tak keď bol bola sme čo mu ten ja ti sú už len aby má",
        "sl": "je se na da in ni sem so pa za kot to ki po tudi bi ne od bil jaz ga si smo če kaj ali pri ko bo",
        "sq": "të dhe një në për nuk që është me nga ka si e do më kam ai unë jam ajo ishte kjo këtë por mund po tij",
        "sr": "је се на да су није сам што од за али био као ово који ја ти ми смо ће би из како само бити то не си",
        "sv": "det är och att en på inte jag av den har för med som ett du vi han hon de var till kan ska mig om vad",
        "tr": "bir ve bu ne için çok ben o mi değil var ama gibi daha kadar sen ile da de olarak şey onun bana ki yok",
        "uk": "не що він на це як але із його вона так від був мене ми ви за мені до та є якщо вони або для було щоб у",
        "vi": "là và của không có một tôi trong cho này được người với đã anh đó các những để khi bạn cô ấy rất làm",
    }.items()
}
FREQUENT_WORDS = {name: frozenset(word for word in words if len(word) > 1) for name, words in FREQUENT_WORDS.items()}

#: Groups of languages, or of names of one language, that these words do not tell apart.
_GROUPS = (
    "da nb nn no sv",
    "hr bs sr sh sl",
    "cs sk",
    "id ms",
    "es ca gl pt",
    "fr oc",
    "it co sc",
    "nl af",
    "de lb gsw nds",
    "ru uk be bg mk sr",
    "en sco",
)
ALIKE = {
    name: frozenset(name_alike for group in _GROUPS if name in group.split() for name_alike in group.split()) - {name}
    for name in {name for group in _GROUPS for name in group.split()}
}
