"""Settings of the section `augmentation`: changes made to the training text anew each epoch."""

from __future__ import annotations

from dragoman.settings.ranges import Dose
from dragoman.settings.sections import Section


class AugmentationConfig(Section):
    """The share of the pairs that each change is made to; 0 is off.

    The changes are drawn anew each epoch, so that a model sees the text as it is, too.
    """

    spans: Dose = 0.0
    """Other names, numbers, times, prices and addresses in their place on both sides, or one attached to both."""
    reserved: Dose = 0.0
    """Reserved pieces (`tokenizer.reserved`) for names and numbers on both sides, or one attached to both; and always
    for placeholders, addresses, code and emoji, as `translate` hands them to the model."""
    case: Dose = 0.0
    """A source in small letters, in Title Case, or with one WORD in capitals. `translate` handles all capitals."""
    punctuation: Dose = 0.0
    """No final mark on either side; a question keeps it in the target."""
    typos: Dose = 0.0
    """Typing errors in a word of the source: letters swapped, missing, doubled or beside the right ones."""

    @property
    def is_on(self) -> bool:
        """True if any change is made."""
        return any(self.model_dump().values())


#: No changes.
UNCHANGED = AugmentationConfig()
