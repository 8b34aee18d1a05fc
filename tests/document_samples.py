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
        draw.choice(["", "  ", "- ", "\t"]) + draw.choice([*SENTENCES, ""]) for _ in range(draw.randint(1, 12))
    )


MAKERS: dict[str, Callable[[random.Random], str]] = {
    "html": html_page,
    "md": markdown,
    "po": po,
    "srt": subtitles,
    "txt": plain_text,
}
