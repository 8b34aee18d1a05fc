"""The public API: text in, translation out.

    translator = dragoman.Translator.load("everyday")
    translator.translate("Where is the station?", source_lang="en", target_lang="de").text

A translation has three stages. You can call them one by one, for example to search for the requests of many callers
at once:

    from dragoman.translator import Request

    requests = [Request("Thank you.", target_lang="fr"), Request("She is reading.", target_lang="de", align=True)]
    plan = translator.pipeline.plan(requests)
    candidates = translator.pipeline.search(plan.jobs)  # the only slow stage; any thread may call it
    translations = translator.pipeline.finish(plan, candidates)

`Translator.shared` does this for the threads of a server. Modules below this package see ids only, and modules above it
see text only. Read `request`, `options`, `results`, `directions`, `cutting`, `planning`, `searching`, `finishing`,
`pipeline`, `batcher` and `translator`, in this order.
"""

from dragoman.data.term_files import read_terms
from dragoman.memories import MemoryMatch, TranslationMemory
from dragoman.text.terms import Term, TermList
from dragoman.translator.model_facts import ModelFacts
from dragoman.translator.models import ComputeOptions
from dragoman.translator.options import SearchOptions, TranslateOptions
from dragoman.translator.padding import BATCH_TOKENS
from dragoman.translator.pipeline import Pipeline
from dragoman.translator.pivot import Pivot
from dragoman.translator.plans import Plan, SearchJob
from dragoman.translator.request import Request, in_document
from dragoman.translator.results import Alternative, Score, Translation
from dragoman.translator.searching import Candidate, StopCondition
from dragoman.translator.text_translator import TextTranslator
from dragoman.translator.translator import Translator

__all__ = [
    "BATCH_TOKENS",
    "Alternative",
    "Candidate",
    "ComputeOptions",
    "MemoryMatch",
    "ModelFacts",
    "Pipeline",
    "Pivot",
    "Plan",
    "Request",
    "Score",
    "SearchJob",
    "SearchOptions",
    "StopCondition",
    "Term",
    "TermList",
    "TextTranslator",
    "TranslateOptions",
    "Translation",
    "TranslationMemory",
    "Translator",
    "in_document",
    "read_terms",
]
