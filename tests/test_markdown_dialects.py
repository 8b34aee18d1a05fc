"""Markdown of MkDocs, Pandoc, MyST, kramdown, GitLab, Hugo, Jekyll, Docusaurus and Obsidian: marks stay, text does not.

In the samples, each letter of what is translated is written in upper case by the translation.
"""

from __future__ import annotations

import html
import re
import time

import pytest
from document_samples import require_documents
from extras import import_extra
from hypothesis import given
from hypothesis import strategies as st

from dragoman.documents import Document, parse_document
from dragoman.documents.document import Noted
from dragoman.translator import Translation

require_documents()

#: Of processor time; each case takes a fraction of it.
MOST_SECONDS = 3.0
LINKS = tuple((number, number) for number in range(30))


def filled(document: Document) -> str:
    """A translation into capitals of what is not verbatim."""
    translations = []
    for segment in document.segments():
        at, parts = 0, []
        for start, end in segment.verbatim:
            parts += [segment.text[at:start].upper(), segment.text[start:end]]
            at = end
        parts.append(segment.text[at:].upper())
        translations.append(Translation("".join(parts), 0.0, (), alignment=LINKS))
    return document.rebuild(translations).decode()


#: What is in the file, and what becomes of it.
BLOCKS = [
    ('!!! warning "A b"\n    The **dog**.\n\n    A cat.\n', '!!! warning "A B"\n    THE **DOG**.\n\n    A CAT.\n'),
    ("!!! note inline end\n    The dog.\n\nThe end.\n", "!!! note inline end\n    THE DOG.\n\nTHE END.\n"),
    ('???+ tip "A"\n    - one\n    - two\n', '???+ tip "A"\n    - ONE\n    - TWO\n'),
    ('A text.\n!!! note ""\n    The dog.\n', 'A TEXT.\n!!! note ""\n    THE DOG.\n'),
    (
        '=== "Linux"\n\n    Run it:\n\n    ```sh\n    ls\n    ```\n\n=== "Mac"\n    No.\n',
        '=== "LINUX"\n\n    RUN IT:\n\n    ```sh\n    ls\n    ```\n\n=== "MAC"\n    NO.\n',
    ),
    ("[TOC]\n\n[[_TOC_]]\n\n[[toc]]\n", "[TOC]\n\n[[_TOC_]]\n\n[[toc]]\n"),
    ('## The dog {#dog .big data-x="1"}\n', '## THE DOG {#dog .big data-x="1"}\n'),
    ("The dog.\n{: #dog .big}\n", "THE DOG.\n{: #dog .big}\n"),
    ("* The dog\n{:toc}\n", "* THE DOG\n{:toc}\n"),
    ("\\newpage\n\nThe dog.\n", "\\newpage\n\nTHE DOG.\n"),
    ("[^1]: A note.\n\n    The dog.\n\n        code\n", "[^1]: A NOTE.\n\n    THE DOG.\n\n        code\n"),
    ("[^1]:\n    A note.\n", "[^1]:\n    A NOTE.\n"),
    ("Term\n:   One.\n\n    Two.\n\n:   Three.\n", "TERM\n:   ONE.\n\n    TWO.\n\n:   THREE.\n"),
    ("*[HTML]: Hyper text\n*[CSS]: Style\nThe page.\n", "*[HTML]: HYPER TEXT\n*[CSS]: STYLE\nTHE PAGE.\n"),
    (":::tip My tip\nSome.\n:::\n", ":::tip MY TIP\nSOME.\n:::\n"),
    (":::note[A title]{.x}\nSome.\n:::\n", ":::note[A TITLE]{.x}\nSOME.\n:::\n"),
    ("::: {.note}\nSome.\n:::\n", "::: {.note}\nSOME.\n:::\n"),
    ("```{note} A title\n:class: wide\nSome.\n```\n", "```{note} A TITLE\n:class: wide\nSOME.\n```\n"),
    ("```{figure} a.png\n:alt: x\n\nSome.\n```\n", "```{figure} a.png\n:alt: x\n\nSOME.\n```\n"),
    ('```{r, fig.cap="x"}\na text\n```\n', '```{r, fig.cap="x"}\na text\n```\n'),
    ("(label)=\n# A title\n\n% a comment\n", "(label)=\n# A TITLE\n\n% a comment\n"),
    ("> [!NOTE]\n> Read it.\n", "> [!NOTE]\n> READ IT.\n"),
    ("> [!tip]- A title\n> Read it.\n", "> [!tip]- A TITLE\n> READ IT.\n"),
    ("| The rose is\n| red\n", "| THE ROSE IS\n| RED\n"),
    ("import T from '@theme/T';\n\n<T>\n\nText.\n\n</T>\n", "import T from '@theme/T';\n\n<T>\n\nTEXT.\n\n</T>\n"),
    ("{{% notice %}}\nA text.\n{{% /notice %}}\n", "{{% notice %}}\nA TEXT.\n{{% /notice %}}\n"),
    ("{{< highlight go >}}\na text\n{{< /highlight >}}\n", "{{< highlight go >}}\na text\n{{< /highlight >}}\n"),
    ("{% raw %}\na text\n{% endraw %}\nA text.\n", "{% raw %}\na text\n{% endraw %}\nA TEXT.\n"),
    ("+++\ntitle = 'a b'\n+++\nA text.\n", "+++\ntitle = 'a b'\n+++\nA TEXT.\n"),
    ('{\n  "title": "a b"\n}\n\nA text.\n', '{\n  "title": "a b"\n}\n\nA TEXT.\n'),
    ("Some.\n///\n\nMore.\n+++\n", "SOME.\n///\n\nMORE.\n+++\n"),
    ('--8<-- "file.md"\n', '--8<-- "file.md"\n'),
]  # fmt: skip
INLINE = [
    ("[The cat]{.small} and [a link](x.md){.y}", "[THE CAT]{.small} AND [A LINK](x.md){.y}"),
    ("Some `code`{.py} or ![An image](a.png){width=50%}.", "SOME `code`{.py} OR ![AN IMAGE](a.png){width=50%}."),
    ("Water is H~2~O and 5 m^2^ big.", "WATER IS H~2~O AND 5 m^2^ BIG."),
    ("A ==very **big**== dog and ++more words++.", "A ==VERY **BIG**== DOG AND ++MORE WORDS++."),
    ("A {++new++} and {--old--} text{>>a comment<<}.", "A {++NEW++} AND {--OLD--} TEXT{>>a comment<<}."),
    ("It is so.^[The *cat* is small.] Yes it is.", "IT IS SO.^[THE *CAT* IS SMALL.] YES IT IS."),
    (r"Some \textbf{raw text} and \LaTeX here.", r"SOME \textbf{raw text} AND \LaTeX HERE."),
    (r"Let \(a^2 + b\) be \(an aside\).", r"LET \(a^2 + b\) BE (AN ASIDE)."),
    ("Go :material-account: or :+1::rocket: at 10:30:45.", "GO :material-account: OR :+1::rocket: AT 10:30:45."),
    ("Find $231$ and $396$, or $x$.", "FIND $231$ AND $396$, OR $x$."),
    ("It costs $5 and $6, or $7-$8.", "IT COSTS $5 AND $6, OR $7-$8."),
    ("See [[A page|the text]], [[Page]] and ![[a.png]].", "SEE [[A page|THE TEXT]], [[Page]] AND ![[a.png]]."),
    ("He says so [@smith04, p. 3] in #some-tag. ^id-1", "HE SAYS SO [@smith04, p. 3] IN #some-tag. ^id-1"),
    ("A text %%hidden words%% is here.", "A TEXT %%hidden words%% IS HERE."),
    ("Hello {{ page.title }} and {% include x.html %}.", "HELLO {{ page.title }} AND {% include x.html %}."),
    ("See {ref}`the text <label>` and {{< ref \"a b\" >}}.", "SEE {ref}`the text <label>` AND {{< ref \"a b\" >}}."),
    ('A <Note title="b c">dog</Note> <sub>==is</sub>==.', 'A <Note title="B C">DOG</Note> <sub>==IS</sub>==.'),
    (r"See it\footnote{A note} in C:\Users\ann.", r"SEE IT\footnote{A note} IN C:\USERS\ANN."),
    ("One ~ two, a ^ b, a == b, C++ and C++.", "ONE ~ TWO, A ^ B, A == B, C++ AND C++."),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), [*BLOCKS, *((f"{a}\n", f"{b}\n") for a, b in INLINE)])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_marks_of_dialects_stay_and_their_texts_are_translated(text: str, expected: str, line_end: str) -> None:
    document = parse_document(text.replace("\n", line_end).encode(), "md")
    copied = document.rebuild([Translation(segment.text, 0.0, ()) for segment in document.segments()])
    assert copied.decode().replace("\r\n", "\n") == text
    assert filled(document).replace("\r\n", "\n") == expected


LEFT = [
    "+---+-----+\n| a | b c |\n+===+=====+\n| d | e   |\n+---+-----+\n",
    "Right     Left\n-------  ------\n    12   a text\n",
    "---- ----\na    b c\n---- ----\n",
    "\\begin{center}\nSome text\n\\end{center}\n",
    "@@ strange words @@\n",
    "!!strange words\n",
    "/// note | Title\n",
    "%% strange words\n",
    "=== A heading ===\n",
    "|||strange words\n",
]


@pytest.mark.parametrize("text", LEFT)
def test_what_is_not_known_is_left_alone_and_noted(text: str) -> None:
    document = parse_document(f"---\na: b\n---\nBefore.\n\n{text}\nAfter.\n".encode(), "md")
    assert [segment.text for segment in document.segments()] == ["Before.", "After."]
    assert filled(document) == f"---\na: b\n---\nBEFORE.\n\n{text}\nAFTER.\n"
    assert isinstance(document, Noted)
    (note,) = document.notes()
    assert note == f"1 block with marks that are not known left alone: the document:6: {text.splitlines()[0]}"


def test_ordinary_text_is_not_taken_for_marks() -> None:
    text = '...and so on.\n\n"Quoted" text.\n\n(An aside.)\n\n10 % of it.\n\n--- dash\n\n**Bold** text.\n\nA = b.\n'
    document = parse_document(text.encode(), "md")
    assert isinstance(document, Noted)
    assert not document.notes()
    assert len(document.segments()) == text.count("\n\n") + 1


def test_links_to_headings_are_noted_unless_the_target_is_named() -> None:
    text = "# The dog\n\n# A cat {#cat}\n\n<a id='top'></a>\n\n"
    text += "See [it](#the-dog), [that](#cat), [up](#top) or [x](https://a.md/b.md#c).\n"
    document = parse_document(text.encode(), "md")
    assert isinstance(document, Noted)
    (note,) = document.notes()
    assert note.startswith("1 link to headings, such as #the-dog: ")
    assert filled(document).endswith("SEE [IT](#the-dog), [THAT](#cat), [UP](#top) OR [X](https://a.md/b.md#c).\n")


def test_links_to_headings_of_other_pages_are_noted() -> None:
    document = parse_document(
        b"# A cat {#cat}\n\n[a](guide.md#cat), [b](../b.markdown#b 'T'), [c](c.md), [d](d.html#d)\n", "md"
    )
    assert isinstance(document, Noted)
    (note,) = document.notes()
    assert note.startswith("2 links to headings, such as guide.md#cat: ")


RENDERER = import_extra("markdown_it", "documents").MarkdownIt("commonmark").enable("strikethrough")


@pytest.mark.parametrize(
    ("text", "translation", "links", "expected"),
    [
        ("**The note:** read", "注意：阅读", [(0, 0), (1, 0), (1, 1), (2, 2)], "<strong>注意</strong>：阅读"),
        ("It is _really_ good.", "这真的好。", [(2, 1), (2, 2), (3, 3)], "这<em>真的</em>好。"),
        ("**_Very_ good:** yes", "很好：是", [(0, 0), (1, 1), (2, 2)], "<strong><em>很</em>好</strong>：是"),
        ("**Note:** read", "Hinweis: lies", [(0, 0), (1, 1)], "<strong>Hinweis:</strong> lies"),
        ("~~Old.~~ new", "旧。新", [(0, 0), (1, 1)], "<del>旧</del>。新"),
        ('a *b* _"/"_ **c**/**d**', 'a b "/" c/d', [(n, n) for n in range(4)], None),
    ],
)
def test_emphasis_is_read_as_emphasis(
    text: str, translation: str, links: list[tuple[int, int]], expected: str | None
) -> None:
    document = parse_document(text.encode(), "md")
    written = document.rebuild([Translation(translation, 0.0, (), alignment=tuple(links))]).decode()
    rendered = RENDERER.renderInline(written)
    assert re.sub("<[^<>]*>", "", html.unescape(rendered)) == translation
    assert rendered.replace("<s>", "<del>").replace("</s>", "</del>") == (expected or rendered)


def test_emphasis_of_code_a_link_or_a_sign_of_a_font_is_read_as_emphasis() -> None:
    document = parse_document("See **[here](x)** and **`x`** or **a*\ue001 b**!".encode(), "md")
    links = ((0, 0), (1, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (5, 7), (6, 8))
    written = document.rebuild([Translation("看这里和`x`或a*\ue001 b!", 0.0, (), alignment=links)]).decode()
    assert written == "看 **[这里](x)** 和 **`x`** 或**a\\*\ue001 b**!"


@given(st.text(st.sampled_from("ab _*`~[](){}<>&!;#\\1.:/é中"), max_size=20))
def test_escaped_text_is_read_as_text(text: str) -> None:
    from dragoman.documents.markdown_texts import escaped

    text = " ".join(text.split())
    assert html.unescape(RENDERER.renderInline(escaped(text))) == text


def test_a_paragraph_may_begin_with_code_and_have_signs_inside_words() -> None:
    text = "```` ```{note} ```` is a note: g++: g++, a==b c==d."
    document = parse_document(text.encode(), "md")
    assert [segment.text for segment in document.segments()] == [text]
    assert filled(document) == "```` ```{note} ```` IS A NOTE: G++: G++, A==B C==D."


def test_the_title_of_an_admonition_has_no_quotation_mark() -> None:
    document = parse_document(b'!!! note "A title"\n    x\n', "md")
    written = document.rebuild([Translation(text, 0.0, ()) for text in ('Der "Titel"', "x")])
    assert written == b"!!! note \"Der 'Titel'\"\n    x\n"


@pytest.mark.parametrize(
    "piece",
    [
        *("!!! note\n    ", "{{", "{%", "{% raw %}\n", "\\begin{x}\n", "\\(", "==a ", "~a", "^[a ", "{.a ", "[a]{"),
        *("[[a|", "[a[", "$a", ":a", "%%a", "{a}`", "| a\n", "+--+\n", "a\n-- --\n\n", "```{note}\n", "a  \n", "a<br>"),
        *("[^1]: a\n\n    b\n", "{{< highlight x >}}\n", "- !!! a\n  ", "{a='", "{a=b "),
    ],
)
def test_many_marks_of_dialects_are_read_in_time(piece: str) -> None:
    text = piece * (10_000 // len(piece))
    start = time.process_time()
    filled(parse_document(text.encode(), "md"))
    assert time.process_time() - start < MOST_SECONDS
