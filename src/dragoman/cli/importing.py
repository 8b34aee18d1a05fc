"""`dragoman import`: trained models of other programs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dragoman.cli.export import compared_lines
from dragoman.cli.missing_packages import require_package
from dragoman.cli.options import NewFolder, Stored, option
from dragoman.cli.streams import say, translate_command
from dragoman.cli.training_settings import require_folder
from dragoman.errors import ConfigError

if TYPE_CHECKING:
    from dragoman.bundle.bundle import Bundle


def import_(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A model as it was downloaded; or a .argosmodel.")],
    output: NewFolder,
    source_lang: Annotated[str | None, option("Of its texts, if the model names none.", metavar="CODE")] = None,
    target_lang: Annotated[
        str | None, option("Of its translations, if the model names none, or several.", metavar="CODE")
    ] = None,
    precision: Stored = "float32",
    compare: Annotated[
        Path | None, option("Text whose first 200 lines transformers and dragoman translate.", metavar="FILE")
    ] = None,
) -> None:
    """Read a trained model of another program.

    Its kind is told by the files in the folder: those of transformers have config.json, and model.safetensors or
    pytorch_model.bin; Marian models, such as OPUS-MT's, also source.spm, target.spm and vocab.json, and M2M-100 and
    NLLB-200 sentencepiece.bpe.model. Marian, Firefox and Bergamot have a .npz or .bin, and .spm; CTranslate2 has
    model.bin, vocabularies, and sentencepiece.model or .spm beside them. A package of Argos Translate is one file,
    .argosmodel. The bundle is like any other: translate, score, serve, fine-tune by train --init-from, export. The
    other program is not needed, except for --compare, which needs transformers and one of its folders.

    \b
    dragoman import opus-mt-en-de -o en-de
    dragoman import opus-mt-en-de -o en-de --compare test.en
    """
    if compare is not None:
        require_package("import --compare", "transformers", "torch")
    require_folder(output, new=True)
    from dragoman.bundle.bundle import write_bundle
    from dragoman.imports.kinds import kind_of

    sentences = compared_lines(compare)
    kind = kind_of(folder)
    if compare is not None and kind.name != "transformers":
        raise ConfigError(f"--compare has no program for {kind.name}", folder, advice="leave it out")
    bundle = kind.read(folder, (source_lang, target_lang))
    write_bundle(output, bundle, precision)
    say(f"wrote {output}: {bundle.describe()}; use it: {translate_command(output, bundle)}")
    if compare is not None:
        _compare(folder, bundle, sentences)


def _compare(folder: Path, bundle: Bundle, sentences: Sequence[str]) -> None:
    from dragoman.exchange.agreement import compare
    from dragoman.exchange.hugging_face_folder import translate_ids

    agreement = compare(bundle, lambda ids, limit: translate_ids(folder, bundle, ids, limit), sentences)
    others = f"; {told}" if (told := agreement.others()) else ""
    say(f"transformers translates {agreement} sentences as dragoman does (greedy search){others}")
