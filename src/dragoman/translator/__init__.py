"""The public API: text in, translation out.

    translator = dragoman.Translator.load("multi30k-en-de")
    translator.translate("A man is riding a horse.").text

A translation has three stages. You can call them one by one, for example to search for the requests of many callers
at once:

    from dragoman.translator import Request

    requests = [Request("A man is riding a horse.", prefix="Ein"), Request("She is reading.", align=True)]
    plan = translator.pipeline.plan(requests)
    candidates = translator.pipeline.search(plan.jobs)  # the only slow stage; any thread may call it
    translations = translator.pipeline.finish(plan, candidates)

`Translator.shared` does this for the threads of a server. Modules below this package see ids only, and modules above it
see text only. Read `request`, `options`, `results`, `directions`, `cutting`, `planning`, `searching`, `finishing`,
`pipeline`, `batcher` and `translator`, in this order.
"""

from dragoman.translator.models import ComputeOptions
from dragoman.translator.options import SearchOptions, TranslateOptions
from dragoman.translator.padding import BATCH_TOKENS
from dragoman.translator.pipeline import Pipeline
from dragoman.translator.planning import Plan, SearchJob
from dragoman.translator.request import Request
from dragoman.translator.results import Alternative, Score, Translation
from dragoman.translator.searching import Candidate, StopCondition
from dragoman.translator.translator import Translator

__all__ = [
    "BATCH_TOKENS",
    "Alternative",
    "Candidate",
    "ComputeOptions",
    "Pipeline",
    "Plan",
    "Request",
    "Score",
    "SearchJob",
    "SearchOptions",
    "StopCondition",
    "TranslateOptions",
    "Translation",
    "Translator",
]
