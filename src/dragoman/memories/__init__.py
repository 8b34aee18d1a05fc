"""Translation memories: texts that people have translated, found again by equal or similar texts.

memory = TranslationMemory.open("agency.tmx", source_lang="en", target_lang="fr")
memory.lookup("Save the file.", source_lang="en", target_lang="fr")
"""

from dragoman.memories.memory_files import Unit, append_new_units, append_units, export_units, open_units
from dragoman.memories.translation_memory import THRESHOLD, MemoryMatch, TranslationMemory, check_threshold

__all__ = [
    "THRESHOLD",
    "MemoryMatch",
    "TranslationMemory",
    "Unit",
    "append_new_units",
    "append_units",
    "check_threshold",
    "export_units",
    "open_units",
]
