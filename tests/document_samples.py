"""Real-looking documents of every format, made from small parts so that each file is another one."""

from __future__ import annotations

import random
from collections.abc import Callable

from extras import import_extra

SENTENCES = [
    "A man is riding a horse.",
    "Where is the station?",
    "She reads a book, and he sleeps.",
    "Prices & taxes: 12 < 20, or 3,50 €!",
    "Il fait beau aujourd’hui",
    "今天天气很好。",
    "I never thought",
    "that we would meet again…",
    "Run it (twice) — then stop.",
    "Ünïcödé “quotes”, 'apostrophes'",
    "x",
]


def require_documents() -> None:
    """Skip a file of tests where the extra is missing."""
    for module in ("markdown_it", "polib"):
        import_extra(module, "documents")


def _html_text(draw: random.Random, depth: int = 0) -> str:
    parts = []
    for _ in range(draw.randint(1, 3)):
        sentence = draw.choice(SENTENCES).replace("&", draw.choice(["&amp;", "&"])).replace("<", "&lt;")
        parts.append(
            draw.choice(
                [
                    "{}",
                    "{}",
                    "<b>{}</b>",
                    "{} H<sub>2</sub>O, the 1<sup>st</sup> note<sup><a href=#b>[1]</a></sup>",
                    '<a href="/x?a=1&amp;b=2" title="The &quot;link&quot;">{}</a>',
                    "<em class=x>{}</EM>",
                    "{}<br>",
                    "{}<br/>\n",
                    '<img src="a.png" alt="A cat">{}',
                    "{} <code>ls &lt; a</code>",
                    "<span translate='no'>Foo {}</span>",
                    "{}&nbsp;&copy;",
                    "<!-- a > b -->{}",
                    "</i>{}<b>",
                    "<script>if (a < b) { x('</p>') }</script>{}",
                ]
            ).replace("{}", sentence if depth > 2 or draw.random() < 0.7 else _html_text(draw, depth + 1))
        )
    return draw.choice([" ", "\n  ", ""]).join(parts)


def html_page(draw: random.Random) -> str:
    body = "".join(
        draw.choice(
            [
                "<p>{}</p>\n",
                "<div><div>{}</div></div>",
                "<ul>\n<li>{}\n<li>x</ul>",
                "<h1 id=a>{}</h1>\r\n",
                "<table><tr><td>{}<td>1</table>",
                "<pre>{}</pre>",
                "<button>{}</button><input placeholder='Your name' value=1>",
                "<a><div>{}</div></a>",
                "<p translate=no>{}</p>",
                "{}",
                "<select><option>{}</select>",
                "<![CDATA[x]]>{}",
            ]
        ).replace("{}", _html_text(draw))
        for _ in range(draw.randint(1, 8))
    )
    head = "<!DOCTYPE html>\n<html lang='en'><head><title>A page</title><style>p > b {}</style></head><body>"
    return draw.choice([f"{head}{body}</body></html>\n", body, f"<?xml version='1.0'?>\n<html>{body}</html>"])


def _markdown_text(draw: random.Random) -> str:
    return " ".join(
        draw.choice(
            [
                "{}",
                "**{}**",
                "*{}*",
                "`a * b` {}",
                "[{}](http://a.org/x_y 'T')",
                "[{}][ref]",
                "![alt *x*](a.png) {}",
                '![{}](a.png "A \\"red\\" house")',
                "![ref] {} [ref], [ref][]",
                '<img src="a.png" alt="A small cat"> {}',
                "[![The build](b.svg (It is *green*))](http://a.org)",
                "\\* {} \\_",
                "{} <http://x.org>",
                "<b>{}</b>",
                "~~{}~~",
                "***{}*** x",
                "{}  \nnext",
                "{}\\\nnext",
                "{}[^1]",
                "{} &copy; &amp;",
                "_{}_",
                "* {}",
            ]
        ).replace("{}", draw.choice(SENTENCES))
        for _ in range(draw.randint(1, 4))
    )


def markdown(draw: random.Random) -> str:
    blocks = []
    for _ in range(draw.randint(1, 9)):
        text = _markdown_text(draw)
        line = text.replace("\n", " ").replace("|", "")
        blocks.append(
            draw.choice(
                [
                    text,
                    f"# {line} #",
                    f"{line}\n===",
                    f"- {line}\n  and more of it\n- [x] {line}",
                    f"> {line}\n> second\nlazy",
                    f"1. {line}\n\n   {line}",
                    f"```python\n{line}\n```",
                    f"    {line}",
                    f"| a | {line} |\n|---|:-:|\n| 1 \\| 2 | {line} |",
                    f"<div>\n{line}\n</div>",
                    "[ref]: http://b.org 'x'",
                    "[ref]: <http://b.org>\n  'The \\'old\\' page'",
                    '<p align="center"><img src="a.png" alt="A logo"></p>',
                    "---",
                    f"{line}\nwhich goes on and on over two lines of the file\n\tand three",
                ]
            )
        )
    front = draw.choice(["", "", "---\ntitle: x\n---\n"])
    return front + "\n\n".join(blocks) + draw.choice(["\n", "", "\n\n"])


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", '\\n"\n"') + '"'


def po(draw: random.Random) -> str:
    entries = [
        'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n'
        + '"Plural-Forms: nplurals=2; plural=(n > 1);\\n"'
    ]
    for number in range(draw.randint(1, 8)):
        text = f"{number} {draw.choice(SENTENCES)}" + draw.choice(
            [
                "",
                "\n",
                " %s and {name}",
                " :func:`x` ``y``",
                " :ref:`the docs <a>`",
                "\n  two\n\nlines\n",
                " **b** *e*",
                '"q" \\',
            ]
        )
        comment = draw.choice(["", "# note\n", "#: a.c:1\n#, c-format\n", "#. extracted\n"])
        context = draw.choice(["", "", f'msgctxt "c{number}"\n'])
        entries.append(
            draw.choice(
                [
                    f'{comment}{context}msgid {_quoted(text)}\nmsgstr ""',
                    f"{comment}{context}msgid {_quoted(text)}\nmsgid_plural {_quoted(text + 's')}"
                    + '\nmsgstr[0] ""\nmsgstr[1] ""',
                    f"{comment}{context}msgid {_quoted(text)}\nmsgstr {_quoted(text.upper())}",
                    f'#, fuzzy\n#| msgid "old"\n{context}msgid {_quoted(text)}\nmsgstr "alt"',
                ]
            )
        )
    return "\n\n".join([*entries, '#~ msgid "gone"\n#~ msgstr "weg"']) + "\n"


def subtitles(draw: random.Random) -> str:
    is_vtt = draw.random() < 0.5
    blocks = (
        ["WEBVTT - title\nKind: captions", "NOTE a comment --\nmore", "STYLE\n::cue { color: red }"] if is_vtt else []
    )
    for number in range(1, draw.randint(2, 9)):
        text = draw.choice(
            [
                "{}",
                "{}\n{}",
                "<i>{}</i>",
                "- {}\n- {}",
                "{\\an8}{}",
                "<b>{}</b> {}",
                "<font color='red'>{}\n{}</font>",
                "",
                "♪ {} ♪",
                "{} &amp; {}",
                "<v Roger>{}",
            ]
        ).replace("{}", draw.choice(SENTENCES), 1)
        text = text.replace("{}", draw.choice(SENTENCES))
        comma = "." if is_vtt else ","
        settings = draw.choice(["", " align:start" if is_vtt else ""])
        times = f"00:00:{number:02}{comma}000 --> 00:00:{number:02}{comma}900{settings}"
        head = draw.choice(["", f"{number}\n"]) if is_vtt else f"{number}\n"
        blocks.append(f"{head}{times}\n{text}")
    return "\n\n".join(blocks) + draw.choice(["\n", "\n\n", ""])


def plain_text(draw: random.Random) -> str:
    return "\n".join(
        draw.choice(["", "  ", "- ", "\t", "  -o, --out FILE  ", "Name     12  "]) + draw.choice([*SENTENCES, ""])
        for _ in range(draw.randint(1, 12))
    )


_CELLS = [
    *("{}", "{}", "{}\n{}", "- {}\n- {}", " {} ", "  \t{}"),
    *("<p>{} <b>{}</b></p>", "{} &amp; {}", "<ul>\n<li>{}</li>\n</ul>", "{}<br>{}"),
    *("", "42", "1.299,00", "SKU-100/7", "https://a.example/x?y=1,2", "img/lamp.png", "=SUM(A1;B2)", "-5", "@x"),
]


def _table(draw: random.Random, delimiter: str) -> str:
    """A table with the columns `text` and `more`, each cell quoted if it must be, and some others too."""

    def quoted(cell: str) -> str:
        must = any(sign in cell for sign in (delimiter, '"', "\n")) or cell.startswith(" ")
        return '"' + cell.replace('"', '""') + '"' if must or always or draw.random() < 0.2 else cell

    def cell() -> str:
        return draw.choice(_CELLS).replace("{}", draw.choice([*SENTENCES, 'He said: "Go!"']), 1).replace("{}", "Two.")

    always = draw.random() < 0.3 or delimiter == "\t"
    names = ["id", "text", draw.choice(["price", "Preis (€), netto"]), "more"]
    rows = [names] + [[f"A-{n}", cell(), draw.choice(["3,50", "", "x"]), cell()] for n in range(draw.randint(1, 9))]
    lines = [delimiter.join(map(quoted, row)) for row in rows]
    lines[1:1] = draw.choice([[], [], [""]])
    return "\n".join(lines) + draw.choice(["\n", "", "\n\n"])


def csv_table(draw: random.Random) -> str:
    return _table(draw, draw.choice([",", ";"]))


def tsv_table(draw: random.Random) -> str:
    return _table(draw, "\t")


#: The columns of tables to translate.
COLUMNS = "text,more"
MAKERS: dict[str, Callable[[random.Random], str]] = {
    "html": html_page,
    "md": markdown,
    "po": po,
    "srt": subtitles,
    "txt": plain_text,
    "csv": csv_table,
    "tsv": tsv_table,
}


def _inline(draw: random.Random, codes: list[str], depth: int = 0) -> str:
    """The content of a source. In each form, "#" becomes a number of its own."""
    parts = []
    for _ in range(draw.randint(1, 3)):
        text = draw.choice(SENTENCES).replace("&", "&amp;").replace("<", "&lt;")
        form = draw.choice(["{}", "{}", *codes]).replace("#", str(draw.randint(1, 10**9)))
        inner = text if depth > 2 or draw.random() < 0.7 else _inline(draw, codes, depth + 1)
        parts.append(form.replace("{}", inner))
    return draw.choice([" ", "\n  ", ""]).join(parts)


_CODES_1 = [
    '<g id="#" ctype="bold">{}</g>',
    '{} <x id="#"/>',
    '<bpt id="#">&lt;b></bpt>{}<ept id="#">&lt;/b></ept>',
    '<bx id="#" rid="1"/>{}<ex id="#" rid="1"/>',
    '<ph id="#" equiv-text="%s">%s</ph> {}',
    '<it id="#" pos="open">&lt;i></it>{}',
    '{}<x id="#" ctype="lb"/>{}',
    '<mrk mtype="protected">Foo {}</mrk> {}',
    '<mrk mtype="term">{}</mrk>',
    "{} %s {0} &lt;b&gt;bold&lt;/b&gt;",
    "<![CDATA[x < 1 & <b>y</b>]]><!-- note --> {}",
    '<x id="START_LINK" ctype="x-a"/>{}<x id="CLOSE_LINK" ctype="x-a"/>',
    "<g id='#'/>{}",
]
_CODES_2 = [
    '<pc id="#">{}</pc>',
    '{} <ph id="#" dataRef="d1"/>',
    '<sc id="#"/>{}<ec id="#" startRef="#"/>',
    '<sc id="#" isolated="yes"/>{}',
    '{}<cp hex="001A"/>',
    '<mrk id="#" translate="no">Foo {}</mrk> {}',
    '<mrk id="#" type="term">{}</mrk>',
    '<sm id="#"/>{}<em startRef="#"/>',
    '<ph id="#" type="fmt" subType="xlf:lb"/>{}',
]
_CODES_TMX = [
    '<bpt i="#">&lt;b></bpt>{}<ept i="#">&lt;/b></ept>',
    '{} <ph x="#">%s</ph>',
    '<it pos="begin">&lt;i></it>{}',
    "<hi>{}</hi>",
    "{}<ut>x</ut>",
]


def xliff_1(draw: random.Random) -> str:
    units = []
    for number in range(draw.randint(1, 8)):
        source = _inline(draw, _CODES_1)
        note = draw.choice(
            ["", "<note>A note</note>", '<alt-trans><source>x</source><target state="new"/></alt-trans>']
        )
        target = draw.choice(
            [
                *("", "", "<target/>", '<target state="new"></target>', '<target state="final"/>'),
                *("<target state='needs-translation'>Alt</target>", '<target state="translated">Fertig</target>'),
            ]
        )
        space = draw.choice(["", ' xml:space="preserve"', ' translate="no"', ' approved="yes"'])
        segments = draw.choice(["", "", f'<seg-source><mrk mtype="seg" mid="1">{source}</mrk> </seg-source>\n      '])
        units.append(
            f"    <trans-unit id='{number}'{space}>\n      <source>{source}</source>\n      {segments}{target}{note}\n"
            "    </trans-unit>\n"
        )
    body = draw.choice(["{}", '<group id="g" translate="no">{}</group>', "{}<!-- the end -->"]).replace(
        "{}", "".join(units)
    )
    target = draw.choice(["", " target-language='de-AT'", ' target-language=""'])
    name = draw.choice(["", ' xmlns="urn:oasis:names:tc:xliff:document:1.2"'])
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<xliff{name} version="1.2">\n'
        f'  <file original="a" source-language="en"{target} datatype="plaintext"><header/><body>\n{body}</body>'
        "</file>\n</xliff>\n"
    )


def xliff_2(draw: random.Random) -> str:
    units = []
    for number in range(draw.randint(1, 8)):
        source = _inline(draw, _CODES_2)
        target = draw.choice(["", "", "<target/>", "<target>Fertig</target>"])
        state = draw.choice(["", ' state="initial"', " id='s1' state='translated' subState=\"a:b\""])
        units.append(
            f'<unit id="u{number}"><notes><note>{{}}</note></notes>\n<segment{state}>\n<source>{source}</source>'
            f"\n{target}</segment><ignorable><source> </source></ignorable></unit>\n"
        )
    root = '<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" version="2.0" srcLang="en"'
    target = draw.choice(["", ' trgLang="de"'])
    return f"{root}{target}>\n<file id='f'>{''.join(units)}</file></xliff>\n"


def tmx(draw: random.Random) -> str:
    units = []
    for _ in range(draw.randint(1, 8)):
        variants = [("en", _inline(draw, _CODES_TMX))]
        variants += draw.choice([[], [], [("de", "Fertig")], [("de-AT", "")], [("fr", "Fini")]])
        draw.shuffle(variants)
        written = "".join(f'\n  <tuv xml:lang="{code}"><seg>{text}</seg></tuv>' for code, text in variants)
        units.append(f"<tu><prop type='x'>{{}}</prop>{written}</tu>\n")
    head = '<?xml version="1.0"?>\n<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n<tmx version="1.4"><header srclang="en"/><body>\n'
    return f"{head}{''.join(units)}</body></tmx>\n"


#: Formats whose translation adds texts to the file.
BILINGUAL: dict[str, tuple[str, Callable[[random.Random], str]]] = {
    "xliff 1.2": ("xlf", xliff_1),
    "xliff 2": ("xliff", xliff_2),
    "tmx": ("tmx", tmx),
}
