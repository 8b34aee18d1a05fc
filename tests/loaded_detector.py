"""The detector of languages, loaded once for all trainings of a process and its forks: it takes a second."""

from functools import cache

from dragoman.data.checks import language_evidence

language_evidence.identifier = cache(language_evidence.identifier)
language_evidence.identifier()
