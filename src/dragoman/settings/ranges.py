"""Types of settings that are numbers within a range."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

Size = Annotated[int, Field(ge=1, le=1_000_000)]
Depth = Annotated[int, Field(ge=1, le=1_000)]
Count = Annotated[int, Field(ge=0, le=10**12)]
Positive = Annotated[int, Field(ge=1, le=10**12)]
Probability = Annotated[float, Field(ge=0, lt=1)]
Dose = Annotated[float, Field(ge=0, le=1)]
Rate = Annotated[float, Field(gt=0, le=1000)]
