"""Configuration of Sphinx for one language of the book: Chinese with `-t zh`, else English; for `build.py`."""

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from outputs import TIMEOUT_S, folder, set_up_kernels  # noqa: E402

import dragoman  # noqa: E402

CHINESE = tags.has("zh")  # noqa: F821 (Sphinx defines `tags`)

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
    "answers",
]
exclude_patterns = ["**/.ipynb_checkpoints"]

# -- text ----------------------------------------------------------------------------------------------------------

myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
highlight_language = "python"
# The pages of docs/ that the site includes speak of files and blocks as the repository has them.
myst_links_external_new_tab = False
suppress_warnings = ["misc.highlighting_failure"]

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
nitpicky = True
# Names of other projects, which only a network could resolve, and names that a signature shows but nobody imports.
nitpick_ignore_regex = [
    ("py:.*", r"(?!dragoman\.).*"),
    ("py:.*", r"dragoman\..*\.(T|S|Item|FoundTerm|_\w+)"),
    (
        "py:.*",
        r"dragoman\.(data\.formats|data\.text_files|text\.(learned_text|short_list)|translator\.(confidence|forced_decoding|model_facts|models|repairs)|decoding\.constraints\.required)\..*",
    ),
]

# -- pages ---------------------------------------------------------------------------------------------------------

html_theme = "furo"
templates_path = ["templates"]
html_static_path = ["static"]
html_css_files = ["book.css", "drawing.css", "widgets.css"]
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
