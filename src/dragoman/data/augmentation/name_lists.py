"""Names of people and places from many countries, which translations keep, and some with their Chinese forms."""

from __future__ import annotations

from typing import Literal

NameKind = Literal["female", "male", "person", "place"]
NAME_KINDS: tuple[NameKind, ...] = ("female", "male", "person", "place")

_FEMALE = """
Mary Maria Marie Anna Emma Mia Lena Laura Julia Sarah Lisa Lea Hannah Sophie Clara Ida Greta Frieda Heike Ursula
Monika Petra Sabine Birgit Katrin Anja Nadine Jasmin Chloé Camille Léa Manon Inès Élodie Amélie Céline Margaux
Zoé Noémie Hélène Aurélie Alice Jane Emily Olivia Charlotte Grace Lucy Ruby Betty Nancy Susan Linda Karen Carol
Ellen Rachel Megan Heather Shirley Sofía Lucía Carmen Pilar Ximena Giulia Chiara Francesca Beatriz Inês Larissa
Agnieszka Zofia Małgorzata Zuzana Božena Jitka Katalin Ildikó Ilinca Irina Olga Svetlana Natalia Oksana Ayşe
Elif Zeynep Fatima Aisha Layla Noor Yasmin Priya Ananya Deepika Lakshmi Mei Xiu Yuki Sakura Haruka Keiko Ji-woo
Thuy Linh Ngoc Siti Dewi Amina Chiamaka Adaeze Thandiwe Wanjiru Astrid Ingrid Freja Signe Saoirse Niamh Aoife
Rhiannon Eleni Despina Tamar Rosalind Beatrice Teresa Alba Nova Elsie Ottilie Wilhelmina Jacqueline Véronique
"""
_MALE = """
Tom John Jack Mike Bill Jim Bob Ken Paul Peter Max Felix Jonas Lukas Leon Finn Emil Anton Karl Otto Jürgen
Günther Wolfgang Dieter Uwe Björn Torsten Jannik Matthias Stefan Andreas Louis Hugo Gabriel Raphaël Jules Théo
Mathis Étienne François René Benoît Gaël Loïc Thierry Pascal Olivier Noah Liam Oliver Ethan Harry George Arthur
Freddie Callum Dylan Kevin Brian Gary Steve Mark David Henry Walter Ralph Frank Scott Roger Diego Javier Álvaro
Joaquín Iñigo Luca Matteo Giovanni Enzo Duarte João Thiago Jakub Wojciech Paweł Łukasz Jiří Ondřej Dušan Miloš
Zoltán Gergő Răzvan Dmitri Sergei Vladimir Bogdan Mehmet Emre Burak Omar Khalid Youssef Tariq Rashid Arjun Rohan
Vikram Sanjay Wei Jun Haruto Kenji Hiroshi Takeshi Min-jun Minh Duc Tuan Budi Agus Kwame Chidi Sipho Kamau Lars
Sven Anders Mikkel Søren Eirik Seán Pádraig Gareth Nikos Giorgos Levan Ludwig Maximilian Konstantin Bartholomew
Quentin Xavier Zack Ivo Bo
"""
_FAMILY = """
Smith Jones Brown Miller Johnson Jackson Taylor Walker Wright Baker Schmidt Schneider Fischer Weber Wagner
Becker Schulz Hoffmann Krüger Müller Größl Weiß Martin Bernard Dubois Lefèvre Moreau Girard Rousseau Fontaine
Garnier García Fernández Muñoz Rossi Bianchi Ricci Silva Gonçalves Nowak Kowalski Wiśniewski Novák Dvořák
Horváth Popescu Ivanov Petrov Shevchenko Yılmaz Demir Haddad Rahman Hussain Sharma Patel Iyer Wang Zhang Nguyen
Pham Tanaka Suzuki Yamamoto Kim Park Okafor Mensah Dlamini Hansen Nilsson Lindqvist Virtanen O'Brien McDonald
MacLeod Papadopoulos Beridze Cohen Goldberg Lincoln Edison Picasso Mozart Fitzgerald Vandenberg Zimmermann
Rockefeller
"""
_PLACES = """
Boston Chicago London Paris Berlin Madrid Kyoto Osaka Tokyo Nagoya Yokohama Kobe Nara Hiroshima Sapporo Bangkok
Sydney Melbourne Toronto Vancouver Dallas Houston Denver Seattle Portland Cleveland Detroit Phoenix Oxford Leeds
Liverpool Dublin Cardiff Hamburg Dresden Leipzig Bremen Dortmund Düsseldorf Bielefeld Tübingen Potsdam Salzburg
Graz Zürich Bern Lyon Marseille Toulouse Bordeaux Nantes Lille Rennes Grenoble Nîmes Besançon Oslo Malmö
Göteborg Århus Tampere Riga Gdynia Poznań Łódź Brno Plovdiv Cluj Izmir Ankara Tbilisi Samarkand Lahore Mumbai
Chennai Kathmandu Hanoi Manila Jakarta Nairobi Kampala Accra Lagos Lima Quito Bogotá Montevideo Porto Sevilla
Bilbao Torino Bologna Reykjavík Springfield Fairview Ashford Glenwood Neustadt Altdorf Kleinhausen Saint-Malo
"""
_OTHERS = """
April August September November Internet God Chinese Japanese Mars Venus Saturn Esperanto Halloween Coca Cola
Union Bible France Europe Canada Portugal Nations All Hey Hi Bring Gold Winter Hotel Hunger Park Grand
Constitution Windows Titanic Street Tower Gate City Sir Miss Madame Monsieur Frau Herr Noël Celsius Fahrenheit
Thanksgiving Renaissance Mandarin Interlingua Buddhist Marines Museum Light Central Neptune Pluto Giants Lions
Visa Nature Time Times Valentine Golden Bell Jacksons
"""
_WITH_CHINESE = """
f Mary 玛丽 瑪麗 瑪莉|f Anna 安娜|f Alice 爱丽丝 愛麗絲|f Emily 艾米丽|f Jane 简|f Betty 贝蒂|f Lucy 露西
f Nancy 南希|f Linda 琳达|f Helen 海伦|f Susan 苏珊|f Julia 朱莉娅|f Lisa 丽莎|f Sophie 苏菲|f Laura 劳拉
f Emma 艾玛|f Sarah 莎拉|f Li Na 李娜|f Wang Fang 王芳|f Chen Jing 陈静|f Xiaomei 小梅|f Liu Ting 刘婷
m Tom 汤姆 湯姆|m John 约翰 約翰|m Jack 杰克|m Mike 迈克|m Peter 彼得|m Paul 保罗|m David 大卫|m Jim 吉姆
m Bob 鲍勃|m Bill 比尔|m George 乔治|m Henry 亨利|m Kevin 凯文|m Mark 马克|m Frank 弗兰克|m Max 马克斯
m Felix 费利克斯|m Oliver 奥利弗|m Li Ming 李明|m Wang Wei 王伟|m Zhang Qiang 张强|m Xiaoming 小明
m Zhao Lei 赵磊
p Boston 波士顿 波士頓|p London 伦敦 倫敦|p Paris 巴黎|p Tokyo 东京 東京|p Chicago 芝加哥|p Kyoto 京都
p Osaka 大阪|p Nagoya 名古屋|p Berlin 柏林|p Sydney 悉尼|p Beijing 北京|p Shanghai 上海|p Nanjing 南京
p Chengdu 成都|p Madrid 马德里|p Toronto 多伦多|p Seattle 西雅图|p Moscow 莫斯科|p Vienna 维也纳|p Rome 罗马
p Hawaii 夏威夷|p New York 纽约 紐約
"""
_KINDS: dict[str, NameKind] = {"f": "female", "m": "male", "p": "place"}

FEMALE, MALE, FAMILY, PLACES = (tuple(names.split()) for names in (_FEMALE, _MALE, _FAMILY, _PLACES))
#: Capitalised words on both sides that are no names of people or towns: other names would not fit in their place.
OTHERS = frozenset(_OTHERS.split())
#: Kind, form in Latin letters, Chinese forms.
WITH_CHINESE = tuple(
    (_KINDS[words[0]], " ".join(words[1 : -len(forms)]), forms)
    for words in (entry.split() for line in _WITH_CHINESE.strip().split("\n") for entry in line.split("|"))
    for forms in [tuple(word for word in words if not word.isascii())]
)
