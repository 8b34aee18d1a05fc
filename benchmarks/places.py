"""Count the places whose names a translation has in the target language, with and without the search for names.

    python benchmarks/places.py everyday

Each place of text/place_names.py whose name differs between the two languages stands in one sentence.
"""

from __future__ import annotations

import argparse

from dragoman.text.place_names import place_forms, place_rows
from dragoman.translator import Translator

SENTENCES = {
    "en": "Last year we were in {}.",
    "de": "Letztes Jahr waren wir in {}.",
    "fr": "Hier on m'a parlé de {}.",
    "zh": "去年我们在{}。",
}


def main() -> None:
    """Translate the sentences, and print a line for each direction."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="a bundle, a run folder or a shipped model, with reserved pieces and both ways")
    arguments = parser.parse_args()
    translator = Translator.load(arguments.model)
    for source, target in translator.tokenizers.directions:
        forms = {SENTENCES[source].format(name): place_forms(name, source, target) for name in place_rows(source)}
        places = {text: own for text, own in forms.items() if own}
        counts = []
        for rules in ((), ("names",)):
            found = translator.translate(list(places), source_lang=source, target_lang=target, rules=rules)
            pairs = zip(places.values(), found, strict=True)
            counts.append(sum(any(form in one.text for form in own) for own, one in pairs))
        print(f"{source}-{target}: {counts[0]} of {len(places)} without, {counts[1]} with", flush=True)


if __name__ == "__main__":
    main()
