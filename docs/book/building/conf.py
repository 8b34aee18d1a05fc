"""Configuration of Sphinx for one language of the book: Chinese with `-t zh`, else English; for `build.py`."""

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from chapters import pages_of_the_book  # noqa: E402
from outputs import TIMEOUT_S, folder, set_up_kernels  # noqa: E402

import dragoman  # noqa: E402

CHINESE = tags.has("zh")  # noqa: F821 (Sphinx defines `tags`)
#: The book as a file, for `ebook.py`, and not the site.
IS_FILE = tags.has("file")  # noqa: F821

project = "dragoman"
version = release = dragoman.__version__
author = "the dragoman authors"
project_copyright = "the dragoman authors, MIT licence"
language = "zh_CN" if CHINESE else "en"
html_title = "dragoman: Transformer 之书" if CHINESE else "dragoman: the book of the Transformer"

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "mathml",
    "chinese",
    "languages",
    "drawing_directive",
    "widgets",
    "figure_texts",
    "ebook_pages" if IS_FILE else "answers",
]
exclude_patterns = ["**/.ipynb_checkpoints"]
include_patterns = pages_of_the_book("zh" if CHINESE else "en") if IS_FILE else ["**"]

# -- text ----------------------------------------------------------------------------------------------------------

myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
highlight_language = "python"
# The pages of docs/ that the site includes speak of files and blocks as the repository has them.
myst_links_external_new_tab = False
suppress_warnings = ["misc.highlighting_failure", *(["toc.not_readable", "myst.xref_missing"] if IS_FILE else [])]

# -- code cells ----------------------------------------------------------------------------------------------------

set_up_kernels("zh" if CHINESE else "en")
nb_execution_mode = os.environ.get("DRAGOMAN_BOOK_EXECUTION", "cache")
nb_execution_cache_path = str(folder())
nb_execution_timeout = TIMEOUT_S
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_merge_streams = True
nb_render_text_lexer = "none"
if CHINESE:
    nb_code_prompt_show, nb_code_prompt_hide = "展开", "收起"

# -- the reference -------------------------------------------------------------------------------------------------

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_class_signature = "mixed"
autodoc_default_options = {"members": True, "exclude-members": "model_config"}
napoleon_numpy_docstring = False
napoleon_use_rtype = False
nitpicky = not IS_FILE
# Names of other projects, which only a network could resolve, and names that a signature shows but nobody imports.
nitpick_ignore_regex = [
    ("py:.*", r"(?!dragoman\.).*"),
    ("py:.*", r"dragoman\..*\.(T|S|Item|FoundTerm|_\w+)"),
    (
        "py:.*",
        r"dragoman\.(data\.formats|data\.text_files|text\.(learned_text|short_list)|translator\.(confidence|forced_decoding|model_facts|models|parallel|repairs)|decoding\.constraints\.required)\..*",
    ),
]

# -- pages ---------------------------------------------------------------------------------------------------------

html_theme = "furo"
templates_path = [] if IS_FILE else ["templates"]
pygments_style = "friendly" if IS_FILE else None  # else that of the theme
html_static_path = ["static"]
html_css_files = ["book.css", "drawing.css", "ebook.css" if IS_FILE else "widgets.css"]
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/language.html",
        "sidebar/search.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
html_theme_options = {"top_of_page_buttons": []}

# -- the book as a file --------------------------------------------------------------------------------------------

epub_title = html_title
epub_basename = "dragoman"
epub_language = "zh-CN" if CHINESE else "en"
epub_identifier = epub_uid = f"dragoman-book-{epub_language}"
epub_description = (
    "从头写一个会翻译的 Transformer" if CHINESE else "The Transformer, explained by writing one that translates"
)
epub_contributor = author
epub_show_urls = "no"
epub_use_index = False
epub_tocdepth = 2
epub_tocdup = False
epub_exclude_files = ["search.xhtml", "genindex.xhtml"]
