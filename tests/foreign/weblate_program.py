"""Weblate's connectors to a server, without its database: `python weblate_program.py ADDRESS`, in its own Python.

It prints, for each connector, what Weblate would show: languages, suggestions for units, and glossaries.
"""

import json
import sys
from unittest.mock import patch

import django
from django.conf import settings
from weblate import settings_example

ADDRESS = sys.argv[1]
CHANGED = {
    "DATABASES": {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    "CACHES": {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}},
    "SECRET_KEY": "x" * 50,
    "SITE_DOMAIN": "weblate.test",
}
settings.configure(**{name: value for name, value in vars(settings_example).items() if name.isupper()} | CHANGED)
django.setup()

from weblate.checks.tests.test_checks import MockUnit  # noqa: E402
from weblate.machinery.apertium import ApertiumAPYTranslation  # noqa: E402
from weblate.machinery.deepl import DeepLTranslation  # noqa: E402
from weblate.machinery.libretranslate import LibreTranslateTranslation  # noqa: E402

TEXTS = [
    "Where is the station?",
    "Hello, %s! You have %d new messages.",
    "Welcome to %(project)s, %(user)s!",
    "Press %s to open %s.",
    ["One dog is playing.", "%d dogs are playing."],
]


def units(language: str) -> list[MockUnit]:
    return [MockUnit(code=language, source=text, flags="python-format") for text in TEXTS]


def shown(machine: object) -> dict[str, object]:
    machine.validate_settings()
    single = {code: [[each["text"] for each in found] for unit in units(code) for found in machine.translate(unit)]
              for code in ("de", "zh_Hans", "de_AT", "it")}  # fmt: skip
    machine.cache_translations = False
    batch = units("de")
    machine.batch_translate(batch)
    return {"single": single, "batch": [each for unit in batch for each in unit.machinery["translation"]]}


answers = {}
for kind, path in ((LibreTranslateTranslation, ""), (DeepLTranslation, "/v2/"), (ApertiumAPYTranslation, "/apertium")):
    form = kind.settings_form(kind, {"url": ADDRESS + path, "key": "any", "formality": "default"})
    assert form.is_valid(), form.errors
    answers[kind.name] = shown(kind(form.cleaned_data))
with patch("weblate.glossary.models.get_glossary_tsv", new=lambda _: "station\tHaltestelle"):
    machine = DeepLTranslation({"url": f"{ADDRESS}/v2/", "key": "other", "formality": "prefer_less"})
    answers["glossary"] = machine.translate(units("de")[0])[0][0]["text"]
    (name,) = machine.list_glossaries()
with patch("weblate.glossary.models.get_glossary_tsv", new=lambda _: "station\tBahnsteig"):
    answers["other glossary"] = machine.translate(units("de")[0])[0][0]["text"]
    (other,) = machine.list_glossaries()
answers["names"] = [name, other]
print(json.dumps(answers))
