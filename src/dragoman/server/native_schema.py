"""Requests and answers of the endpoints below /v1, as the page of the API shows them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, FailFast, Field

from dragoman.memories import MemoryMatch
from dragoman.server.text_lines import whole
from dragoman.translator.request import SWITCHES

#: The widest beam, and the most results, that a request may ask for.
WIDEST = 32
#: A text; halves of surrogate pairs in it are replaced.
Whole = Annotated[str, AfterValidator(whole)]


class FirstError(FailFast):
    """The first wrong item of a list ends its validation. Unlike `FailFast`, it may be in a union."""

    __hash__ = object.__hash__


class Strict(BaseModel):
    """A part of a request: it has no other fields, and no other types."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)


class GivenTerm(Strict):
    """A term, and its translations."""

    source: Whole
    targets: Annotated[
        list[Whole], FirstError(), Field(description="Any of them will do; none: it is not translated.")
    ] = []
    case: Annotated[bool, Field(description="Source and targets count only in this case.")] = False


class SearchOptions(Strict):
    """Options of the search; those left out are the model's own."""

    beam_size: Annotated[int | None, Field(ge=1, le=WIDEST, description="Hypotheses kept; 1 is greedy search.")] = None
    n_best: Annotated[int | None, Field(ge=1, le=WIDEST, description="Translations of each line.")] = None
    length_penalty: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    no_repeat_ngram: int | None = None
    repetition_penalty: float | None = None
    rerank: Annotated[
        bool | None, Field(description="Choose by reading the candidates back; the model translates both ways.")
    ] = None
    sample: bool | None = None
    temperature: float | None = None
    top_k: int | None = None
    top_p: float | None = None
    seed: int | None = None

    def given(self) -> dict[str, Any]:
        """Return the options of the search that have a value."""
        values = ((name, getattr(self, name)) for name in SearchOptions.model_fields)
        return {name: value for name, value in values if value is not None}


class TextOptions(SearchOptions):
    """Options of a text."""

    align: Annotated[bool | None, Field(description="Align the words of each line; not through a third language.")] = (
        None
    )
    doubts: Annotated[
        bool | None, Field(description="Number the doubtful words of each line, if the model is calibrated.")
    ] = None
    plain: Annotated[
        bool | None,
        Field(
            description="Return what the model says: no rule reads, checks or repairs anything; without terms and off."
        ),
    ] = None
    off: Annotated[
        Annotated[list[str], FirstError()] | None,
        Field(description=f"Checks to switch off, with what they repair: {', '.join(SWITCHES)}."),
    ] = None
    terms: Annotated[
        Annotated[list[GivenTerm], FirstError()] | Whole | None,
        Field(description='Terms, or lines such as "ticket = billet | titre".'),
    ] = None
    term_lists: Annotated[
        Annotated[list[str], FirstError()] | None, Field(description="Names of term lists of the server.")
    ] = None


class Text(TextOptions):
    """A text with options of its own."""

    text: Whole
    source: Annotated[str | None, Field(description="A language code, or auto.")] = None
    target: str | None = None
    prefix: Annotated[Whole, Field(description="The beginning of the translation of its first line.")] = ""
    context: Annotated[Whole, Field(description="The text before it, for models that read it. Not translated.")] = ""


class TranslateRequest(TextOptions):
    """Texts to translate. The options are for all texts that have none of their own."""

    texts: Annotated[list[Whole | Text], Field(min_length=1), FirstError()]
    source: Annotated[str, Field(description="A language code, or auto.")] = "auto"
    target: str | None = None
    matches: Annotated[bool, Field(description="Show what the memory has for each line, of 100 at most.")] = False
    inside: Annotated[bool, Field(description="Show attention and search of the first segment of the only text.")] = (
        False
    )


class StreamRequest(Text):
    """A text to translate, part by part."""


class ModelRequest(Strict):
    """A model to load."""

    model: Annotated[str, Field(min_length=1, description="A bundle, a run folder or an installed model.")]


class PartAnswer(BaseModel):
    """The translation of a part of a line that the model read at once: usually a sentence."""

    text: Annotated[str, Field(description="With the white space before it.")]
    score: float


class AlternativeAnswer(BaseModel):
    """One of the translations of a line."""

    text: str
    #: Divided by the length penalty; `log_prob` is not.
    score: float
    log_prob: float
    parts: Annotated[
        list[PartAnswer], Field(description="What its text consists of; none if the model read the line at once.")
    ]
    alignment: Annotated[list[tuple[int, int]] | None, Field(description="Numbers of words: source, translation.")]
    words: Annotated[list[str] | None, Field(description="As the alignment numbers them.")]


class LineAnswer(BaseModel):
    """The translation of a line."""

    source: str
    words: Annotated[list[str] | None, Field(description="Of the source, as alignments number them.")]
    text: str
    alternatives: list[AlternativeAnswer]
    flags: Annotated[list[str], Field(description="Reasons to read it with care.")]
    missing_terms: Annotated[list[str], Field(description="The terms that have none of their translations.")]
    repairs: Annotated[list[str], Field(description="What a second search has mended, by the names of checks.")]
    segments: int
    confidence: Annotated[float | None, Field(description="0 to 1; null if the model is not calibrated.")]
    doubtful: Annotated[list[int] | None, Field(description="Numbers of doubtful words, as alignments have them.")]
    middle: Annotated[
        str | None, Field(description="Its translation into the language in the middle, if there is one.")
    ]
    memory: Annotated[
        list[MemoryMatch],
        Field(description="Texts that people translated, with scores: 1 for an equal one, whose translation is used."),
    ]
    recalled: Annotated[
        list[MemoryMatch],
        Field(description="What was used of the memory: a match for the line, or for each sentence that it has."),
    ]


class TextAnswer(BaseModel):
    """The translation of a text."""

    text: str
    source: str
    target: str
    via: Annotated[str | None, Field(description="The language in the middle, if no model translates directly.")]
    models: list[str]
    detected_confidence: Annotated[
        float | None, Field(description="Of the detected source, 0 to 100; null if it was given.")
    ]
    confidence: Annotated[float | None, Field(description="The least of its lines, 0 to 1.")]
    flags: list[str]
    lines: list[LineAnswer]
    inside: Annotated[
        dict[str, Any] | None,
        Field(
            description="The first segment, if it was asked for and can be shown, not through a third language: its "
            "tokens (source; read, the start mark first, and written), attention (times 10,000: "
            "[layer][head][read][source]), and the nodes and hypotheses of the search. A node has the number of its "
            "parent, -1 for the start mark."
        ),
    ] = None


class TranslateAnswer(BaseModel):
    """The translations of all texts, in order."""

    translations: list[TextAnswer]
    seconds: float


class ModelAnswer(BaseModel):
    """A model."""

    name: str
    directions: list[tuple[str, str]]
    loaded: bool
    megabytes: Annotated[float, Field(description="RAM when it is loaded, estimated.")]


class ListedModel(ModelAnswer):
    """A model, as OpenAI's clients read it too."""

    id: Annotated[str, Field(description="Its name, or with the language to translate into: everyday:de.")]
    object: Literal["model"] = "model"
    created: int = 0
    owned_by: str = "dragoman"


class ModelList(BaseModel):
    """All models."""

    object: Literal["list"] = "list"
    data: list[ListedModel]
