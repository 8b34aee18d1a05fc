"""Make a caption model of the distribution dragoman-captions, of a run trained on Multi30k:

    python benchmarks/ship.py RUN NAME [--last] [--precision int8] [--length-penalty 1.0] [--about FILE]

NAME is such as multi30k-en-de. Writes NAME into packages/captions, with a card whose scores are those of this very
bundle, and beside it what it makes of Test2016. FILE says in Markdown what else belongs to the recipe: teachers, costs.
More than 8 MB are refused. Needs DRAGOMAN_DATA or the network; two minutes.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Literal, get_args

from quality import measure

from dragoman.bundle.bundle import load_bundle, write_bundle
from dragoman.bundle.weights import StoredPrecision
from dragoman.errors import DataError
from dragoman.evaluation.evaluation import Evaluation
from dragoman.machine.files import write_file
from dragoman.settings.search_config import SearchConfig
from dragoman.settings.sections import parse_section

PLACE = Path(__file__).parent.parent / "packages/captions/src/dragoman_captions"
MOST_BYTES = 8_000_000
SPLITS: dict[Literal["validation", "test"], str] = {"validation": "validation", "test": "Test2016"}
LANGUAGES = {"cs": "Czech", "de": "German", "en": "English", "fr": "French"}

CARD = """\
---
license: other
license_name: multi30k
license_link: https://github.com/multi30k/dataset
commercial_use: false
language: [{languages}]
library_name: dragoman
pipeline_tag: translation
---

# {name}

Translates {source} descriptions of photographs into {target}, from text alone: an encoder-decoder Transformer
of {n_parameters:,} parameters, stored in {precision}.

    echo "A man is riding a horse." | dragoman translate --model {name}

## Data

The 29,000 training pairs of Multi30k, task 1, in {source} and {target}
([multi30k/dataset](https://github.com/multi30k/dataset)), and nothing else; its 1,014 validation pairs chose the best
step and the settings. The descriptions are of Flickr photographs. Their terms: for research and education,
non-commercial. The model is given away under the same terms. To cite:

- Elliott, Frank, Sima'an and Specia 2016: Multi30K: Multilingual English-German Image Descriptions.
- Elliott, Frank, Barrault, Bougares and Specia 2017: Findings of the Second Shared Task on Multimodal Machine
  Translation and Multilingual Image Description.
- Barrault, Bougares, Specia, Lala, Elliott and Frank 2018: Findings of the Third Shared Task on Multimodal Machine
  Translation.

## Recipe

{about}`dragoman train` with these settings; this is its {which} bundle, of step {step}. It searches with beam
{beam_size} and length penalty {length_penalty}.

```yaml
{recipe}```

## Scores

Of this bundle, as `dragoman evaluate --model {name} --corpus multi30k --split test` gives them; of the
validation set with `--split validation`. M30k-BLEU is the score of the Multi30k literature, lower-cased, normalised and
tokenised by Moses; never compare it with the other two.

{scores}

One test set of 1,000 sentences leaves about 1.8 BLEU of doubt either way (95 %).

## Limits

It has read 29,000 sentences, all of them descriptions of what can be seen in a photograph: people, animals, sports,
streets, in the present tense. Other text it translates badly, and confidently; names, numbers, questions and speech it
has hardly seen. Text in capitals it cannot read. It has seen one sentence at a time, so the sentences of a line are
translated one by one, and a sentence much longer than these in pieces that know nothing of each other. The descriptions
guess at what a photograph does not show, and repeat stereotypes of the people in it (van Miltenburg 2016: Stereotyping
and Bias in the Flickr30K Dataset), and so may the translations. It is a model to learn from and to compare with, not
one to rely on.
"""


def scores_table(results: dict[str, Evaluation]) -> str:
    """Metrics and signatures of each test set, as Markdown."""
    lines = ["| metric | " + " | ".join(results) + " | signature |", "|---" * (len(results) + 2) + "|"]
    for metrics in zip(*(each.metrics for each in results.values()), strict=True):
        figures = " | ".join(f"{metric.score:.2f}" for metric in metrics)
        signature = metrics[0].signature.replace("|", "\\|")  # or it would end the cell
        lines.append(f"| {metrics[0].name} | {figures} | `{signature}` |")
    return "\n".join(lines)


def settings(run: Path) -> str:
    """The settings of a run, without those that are off, and without the folders that its files were in."""
    lines = (run / "config.yaml").read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(re.sub(r": \S*/", ": ", line) for line in lines if not line.rstrip().endswith(": null"))


def ship(
    run: Path,
    name: str,
    place: Path,
    *,
    which: Literal["best", "last"] = "best",
    precision: StoredPrecision = "float16",
    length_penalty: float | None = None,
    about: str = "",
) -> None:
    """Write the bundle `place`/`name`, one of the run's, and its translations of Test2016 beside it.

    Raises:
        DataError: the bundle is larger than a shipped one may be.
    """
    bundle = load_bundle(run / which)
    changes = {} if length_penalty is None else {"length_penalty": length_penalty}
    search = parse_section(SearchConfig, {**bundle.search.model_dump(), **changes})
    bundle = replace(bundle, search=search)
    with tempfile.TemporaryDirectory() as folder:
        small = Path(folder) / name
        write_bundle(small, bundle, precision)
        size = sum(path.stat().st_size for path in small.rglob("*") if path.is_file())
        if size > MOST_BYTES - len(CARD) * 2:
            raise DataError(
                f"{size:,} bytes", small, advice=f"a shipped model has at most {MOST_BYTES:,}: --precision int8"
            )
        results = {title: measure(str(small), split).evaluation for split, title in SPLITS.items()}
    source, target = bundle.tokenizers.source_lang, bundle.tokenizers.target_lang
    card = CARD.format(
        name=name,
        languages=f"{source}, {target}",
        source=LANGUAGES[source],
        target=LANGUAGES[target],
        precision=precision,
        n_parameters=sum(weight.size for weight in bundle.weights.values()),
        which=which,
        step=bundle.facts.get("step"),
        beam_size=search.beam_size,
        length_penalty=search.length_penalty,
        about=about and f"{about.strip()}\n\n",
        recipe=settings(run),
        scores=scores_table(results),
    )
    write_bundle(place / name, bundle, precision, card)
    translations = "".join(f"{line}\n" for line in results["Test2016"].translations)
    write_file(place / f"{name}.test2016.{target}", translations.encode())


def main() -> None:
    """Read the arguments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("name")
    parser.add_argument("--last", dest="which", action="store_const", const="last", default="best")
    parser.add_argument("--precision", choices=get_args(StoredPrecision), default="float16")
    parser.add_argument("--length-penalty", type=float)
    parser.add_argument("--about", type=Path)
    parser.add_argument("--place", type=Path, default=PLACE)
    arguments = parser.parse_args()
    about = arguments.about.read_text(encoding="utf-8") if arguments.about else ""
    chosen = {key: getattr(arguments, key) for key in ("which", "precision", "length_penalty")}
    ship(arguments.run, arguments.name, arguments.place, **chosen, about=about)


if __name__ == "__main__":
    main()
