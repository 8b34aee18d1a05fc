"""Names of places that differ between languages: Hungary is Ungarn, Hongrie and 匈牙利."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from dragoman.text.languages import base_language

#: The columns of the table.
_LANGUAGES = ("en", "de", "fr", "zh")
#: The usual form of each language, and others after a slash; "~" before a form that means something else, too.
_PLACES = """
Afghanistan Afghanistan Afghanistan 阿富汗; Africa Afrika Afrique 非洲; Albania Albanien Albanie 阿尔巴尼亚;
Algeria Algerien Algérie 阿尔及利亚; Algiers Algier Alger 阿尔及尔; America Amerika/USA Amérique 美国/美洲;
Amsterdam Amsterdam Amsterdam 阿姆斯特丹; Antarctica Antarktis Antarctique 南极洲;
Argentina Argentinien Argentine 阿根廷; Armenia Armenien Arménie 亚美尼亚; Asia Asien Asie 亚洲;
Athens Athen Athènes 雅典; Australia Australien Australie 澳大利亚/澳洲; Austria Österreich Autriche 奥地利;
Azerbaijan Aserbaidschan Azerbaïdjan 阿塞拜疆; Baghdad Bagdad Bagdad 巴格达; Bangkok Bangkok Bangkok 曼谷;
Bangladesh Bangladesch Bangladesh 孟加拉国; Barcelona Barcelona Barcelone 巴塞罗那; Basel Basel Bâle 巴塞尔;
Bavaria Bayern Bavière 巴伐利亚; Beijing Peking Pékin 北京; Belarus Belarus/Weißrussland Biélorussie 白俄罗斯;
Belgium Belgien Belgique 比利时; Belgrade Belgrad Belgrade 贝尔格莱德; Berlin Berlin Berlin 柏林;
Bern Bern Berne 伯尔尼; Bolivia Bolivien Bolivie 玻利维亚; Bosnia Bosnien Bosnie 波斯尼亚;
Boston Boston Boston 波士顿; Brazil Brasilien Brésil 巴西; Britain Großbritannien Grande-Bretagne 英国;
~Brittany Bretagne Bretagne 布列塔尼; Brussels Brüssel Bruxelles 布鲁塞尔; Bucharest Bukarest Bucarest 布加勒斯特;
Budapest Budapest Budapest 布达佩斯; Bulgaria Bulgarien Bulgarie 保加利亚;
Burma/Myanmar Birma/Myanmar Birmanie/Myanmar 缅甸; Cairo Kairo Le_Caire/Caire 开罗;
California Kalifornien Californie 加利福尼亚/加州; Cambodia Kambodscha Cambodge 柬埔寨;
Cameroon Kamerun Cameroun 喀麦隆; Canada Kanada Canada 加拿大; Chicago Chicago Chicago 芝加哥; Chile Chile Chili 智利;
China China Chine 中国; Cologne Köln Cologne 科隆; Colombia Kolumbien Colombie 哥伦比亚;
Copenhagen Kopenhagen Copenhague 哥本哈根; Corsica Korsika Corse 科西嘉; Crete Kreta Crète 克里特;
Croatia Kroatien Croatie 克罗地亚; Cuba Kuba Cuba 古巴; Cyprus Zypern Chypre 塞浦路斯;
Damascus Damaskus Damas 大马士革; Denmark Dänemark Danemark 丹麦; Dresden Dresden Dresde 德累斯顿;
Dublin Dublin Dublin 都柏林; Ecuador Ecuador Équateur 厄瓜多尔; Edinburgh Edinburgh Édimbourg 爱丁堡;
Egypt Ägypten Égypte 埃及; England England Angleterre 英国/英格兰; Estonia Estland Estonie 爱沙尼亚;
Ethiopia Äthiopien Éthiopie 埃塞俄比亚; Europe Europa Europe 欧洲; Finland Finnland Finlande 芬兰;
Florida Florida Floride 佛罗里达; France Frankreich France 法国; Frankfurt Frankfurt Francfort 法兰克福;
Geneva Genf Genève 日内瓦; Germany Deutschland Allemagne 德国; Ghana Ghana Ghana 加纳; Greece Griechenland Grèce 希腊;
Greenland Grönland Groenland 格陵兰; Guangzhou Guangzhou ~Canton 广州; Haiti Haiti Haïti 海地;
Hamburg Hamburg Hambourg ~汉堡; Hanoi Hanoi Hanoï/Hanoi 河内; Hanover Hannover Hanovre 汉诺威;
Hawaii Hawaii Hawaï/Hawaii 夏威夷; Helsinki Helsinki Helsinki 赫尔辛基; Hiroshima Hiroshima Hiroshima 广岛;
Hungary Ungarn Hongrie 匈牙利; Iceland Island Islande 冰岛; India Indien Inde 印度;
Indonesia Indonesien Indonésie 印度尼西亚; Iran Iran Iran 伊朗; Iraq Irak Irak 伊拉克; Ireland Irland Irlande 爱尔兰;
Israel Israel Israël 以色列; Istanbul Istanbul Istanbul 伊斯坦布尔; Italy Italien Italie 意大利/义大利;
Jamaica Jamaika Jamaïque 牙买加; Japan Japan Japon 日本; Jerusalem Jerusalem Jérusalem 耶路撒冷;
Kazakhstan Kasachstan Kazakhstan 哈萨克斯坦; Kenya Kenia Kenya 肯尼亚; Kiev Kiew Kiev 基辅;
Korea Korea Corée 韩国/朝鲜; Kyoto Kyoto Kyoto 京都; Laos Laos Laos 老挝; Latvia Lettland Lettonie 拉脱维亚;
Lebanon Libanon Liban 黎巴嫩; Libya Libyen Libye 利比亚; Lisbon Lissabon Lisbonne 里斯本;
Lithuania Litauen Lituanie 立陶宛; London London Londres 伦敦; Luxembourg Luxemburg Luxembourg 卢森堡;
Macedonia Mazedonien Macédoine 马其顿; Madagascar Madagaskar Madagascar 马达加斯加; Madrid Madrid Madrid 马德里;
Malaysia Malaysia Malaisie 马来西亚; Malta Malta Malte 马耳他; Manila Manila Manille 马尼拉;
Melbourne Melbourne Melbourne 墨尔本; Mexico Mexiko Mexique 墨西哥; Moldova ~Moldau/Moldawien Moldavie 摩尔多瓦;
Mongolia Mongolei Mongolie 蒙古; Montreal Montreal Montréal 蒙特利尔; Morocco Marokko Maroc 摩洛哥;
Moscow Moskau Moscou 莫斯科; Mumbai Mumbai Mumbai/Bombay 孟买; Munich München Munich 慕尼黑;
Naples Neapel Naples 那不勒斯; Nepal Nepal Népal 尼泊尔; Netherlands Niederlande/Niederlanden Pays-Bas 荷兰;
Nigeria Nigeria Nigeria 尼日利亚; Normandy Normandie Normandie 诺曼底; Norway Norwegen Norvège 挪威;
Nuremberg Nürnberg Nuremberg 纽伦堡; Oslo Oslo Oslo 奥斯陆; Oxford Oxford Oxford 牛津;
Pakistan Pakistan Pakistan 巴基斯坦; Palestine Palästina Palestine 巴勒斯坦; Paris Paris Paris 巴黎;
Peru Peru Pérou 秘鲁; Philadelphia Philadelphia Philadelphie 费城; Philippines Philippinen Philippines 菲律宾;
Poland Polen Pologne 波兰; Portugal Portugal Portugal 葡萄牙; Prague Prag Prague 布拉格; Quebec Quebec Québec 魁北克;
Rhine Rhein Rhin 莱茵河; Romania Rumänien Roumanie 罗马尼亚; Rome Rom Rome 罗马; Russia Russland Russie 俄罗斯;
Sardinia Sardinien Sardaigne 撒丁岛; Scandinavia Skandinavien Scandinavie 斯堪的纳维亚;
Scotland Schottland Écosse 苏格兰; Seoul Seoul Séoul 首尔; Serbia Serbien Serbie 塞尔维亚;
Seville Sevilla Séville 塞维利亚; Shanghai Shanghai Shanghai 上海; Siberia Sibirien Sibérie 西伯利亚;
Sicily Sizilien Sicile 西西里; Singapore Singapur Singapour 新加坡; Slovakia Slowakei Slovaquie 斯洛伐克;
Slovenia Slowenien Slovénie 斯洛文尼亚; Somalia Somalia Somalie 索马里; Spain Spanien Espagne 西班牙;
Stockholm Stockholm Stockholm 斯德哥尔摩; Strasbourg Straßburg Strasbourg 斯特拉斯堡; Sudan Sudan Soudan 苏丹;
Sweden Schweden Suède 瑞典; Switzerland Schweiz Suisse 瑞士; Sydney Sydney Sydney 悉尼/雪梨;
Syria Syrien Syrie 叙利亚; Taipei Taipeh Taipei 台北; Taiwan Taiwan Taïwan 台湾; Tanzania Tansania Tanzanie 坦桑尼亚;
Tehran Teheran Téhéran 德黑兰; Texas Texas Texas 得克萨斯/德州; Thailand Thailand Thaïlande 泰国;
Tibet Tibet Tibet 西藏; Tokyo Tokio/Tokyo Tokyo 东京; Toronto Toronto Toronto 多伦多; Tunisia Tunesien Tunisie 突尼斯;
Turkey Türkei Turquie 土耳其; Tuscany Toskana Toscane 托斯卡纳; Uganda Uganda Ouganda 乌干达;
Ukraine Ukraine Ukraine 乌克兰; Uruguay Uruguay Uruguay 乌拉圭; Uzbekistan Usbekistan Ouzbékistan 乌兹别克斯坦;
Venezuela Venezuela Venezuela 委内瑞拉; Venice Venedig Venise 威尼斯; Vienna Wien Vienne 维也纳;
Vietnam Vietnam Viêt_Nam/Vietnam 越南; Warsaw Warschau Varsovie 华沙; Washington Washington Washington 华盛顿;
Yemen Jemen Yémen 也门; Zurich Zürich Zurich 苏黎世; Alps Alpen Alpes 阿尔卑斯山; Danube Donau Danube 多瑙河;
Mediterranean Mittelmeer Méditerranée 地中海; Thames Themse Tamise 泰晤士河; Himalayas Himalaya Himalaya 喜马拉雅山;
~Florence Florenz ~Florence 佛罗伦萨; ~Milan Mailand ~Milan 米兰; Genoa Genua Gênes 热那亚; Turin Turin Turin 都灵;
~Nice Nizza ~Nice 尼斯; ~Jordan Jordanien Jordanie 约旦; ~Georgia Georgien Géorgie 格鲁吉亚;
Holland Holland Hollande 荷兰; Wales Wales Pays_de_Galles/pays_de_Galles/Galles 威尔士;
South_Korea Südkorea Corée_du_Sud 韩国; North_Korea Nordkorea Corée_du_Nord 朝鲜;
South_Africa Südafrika Afrique_du_Sud 南非; New_Zealand Neuseeland Nouvelle-Zélande 新西兰;
Saudi_Arabia Saudi-Arabien Arabie_saoudite 沙特阿拉伯; South_America Südamerika Amérique_du_Sud 南美洲;
North_America Nordamerika Amérique_du_Nord 北美洲; Northern_Ireland Nordirland Irlande_du_Nord 北爱尔兰;
New_York New_York New_York 纽约; Los_Angeles Los_Angeles Los_Angeles 洛杉矶; Hong_Kong Hongkong Hong_Kong 香港;
San_Francisco San_Francisco San_Francisco 旧金山; Sri_Lanka Sri_Lanka Sri_Lanka 斯里兰卡;
New_Mexico New_Mexico Nouveau-Mexique 新墨西哥
"""

#: English adjectives of places, except those that only add an "n": "Russian". Britain is also called England.
_ADJECTIVES = """
Argentina Argentine; Belgium Belgian; Brazil Brazilian; Britain British/England/English; Burma Burmese;
Canada Canadian; Chile Chilean; China Chinese; Denmark Danish; Egypt Egyptian; England English; Europe European;
Finland Finnish; France French; Germany German; Greece Greek; Holland Dutch; Hungary Hungarian; Iceland Icelandic;
Iran Iranian; Iraq Iraqi; Ireland Irish; Israel Israeli; Italy Italian; Japan Japanese; Lebanon Lebanese;
Mexico Mexican; Morocco Moroccan; Netherlands Dutch; Norway Norwegian; Pakistan Pakistani; Paris Parisian;
Peru Peruvian; Poland Polish; Portugal Portuguese; Rome Roman; Scotland Scottish; Spain Spanish; Sweden Swedish;
Switzerland Swiss; Taiwan Taiwanese; Thailand Thai; Tibet Tibetan; Turkey Turkish; Ukraine Ukrainian;
Venice Venetian; Vienna Viennese; Vietnam Vietnamese; Wales Welsh
"""


def accepted_forms(name: str, source: str, target: str) -> tuple[str, ...]:
    """Return the forms of a place, and its English adjectives: 意大利音乐 is "Italian music".

    >>> accepted_forms("意大利", "zh", "en"), accepted_forms("Russland", "de", "en")
    (('Italy', 'Italian'), ('Russia', 'Russian'))
    """
    forms = place_forms(name, source, target)
    if not forms or base_language(target) != "en":
        return forms
    regular = [f"{forms[0]}n"] if forms[0].endswith("a") else []
    return (*forms, *_adjectives().get(forms[0], regular))


def place_forms(name: str, source: str, target: str) -> tuple[str, ...]:
    """Return how the target language writes the name of a place, the usual form first; none if the same or unknown.

    Args:
        source, target: the codes of the languages.

    >>> place_forms("Hungary", "en", "de"), place_forms("Genf", "de", "fr"), place_forms("Quispe", "en", "de")
    (('Ungarn',), ('Genève',), ())
    """
    forms = place_rows(base_language(source)).get(name, {}).get(base_language(target), ())
    return () if name in forms else forms


@cache
def place_rows(language: str) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """Return the forms in all languages of each name in a language."""
    rows: dict[str, Mapping[str, tuple[str, ...]]] = {}
    for entry in _PLACES.split(";"):
        cells = dict(zip(_LANGUAGES, entry.split(), strict=True))
        row = {code: tuple(cell.removeprefix("~").replace("_", " ").split("/")) for code, cell in cells.items()}
        if language in row and not cells[language].startswith("~"):
            for name in row[language]:
                rows.setdefault(name, row)
    return rows


@cache
def _adjectives() -> Mapping[str, list[str]]:
    pairs = (entry.split() for entry in _ADJECTIVES.split(";"))
    return {place: adjectives.split("/") for place, adjectives in pairs}
