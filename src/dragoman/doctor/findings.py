"""The results of examining a model."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Finding:
    """The result of one check."""

    name: str
    passed: bool | None  # None: the check does not apply to this model
    detail: str  # the observation, in one sentence; after a failure, also its meaning


@dataclass(frozen=True)
class Examination:
    """All findings about one model."""

    findings: list[Finding] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """True if no check failed."""
        return all(finding.passed is not False for finding in self.findings)

    def __str__(self) -> str:
        words = {True: "ok", False: "FAIL", None: "-"}
        return "\n".join(f"{words[finding.passed]:<5} {finding.name:<16} {finding.detail}" for finding in self.findings)
