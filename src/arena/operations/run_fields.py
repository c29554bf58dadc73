"""The parameters of a run as they are sent: which tests, how often, for how much."""

from typing import Annotated
from uuid import UUID

from pydantic import Field

from arena.fields import NameFilter
from arena.operations.results import Pattern, Tag, TestId

SuiteName = Annotated[
    NameFilter, Field(description="Default: the one that has tests for the agent.")
]
TestIds = Annotated[
    list[TestId] | None, Field(min_length=1, max_length=10000, description="Only these tests.")
]
Tags = Annotated[
    list[Tag] | None, Field(max_length=100, description="Only tests with one of these.")
]
Patterns = Annotated[
    list[Pattern] | None,
    Field(max_length=100, description="Only tests whose id or name matches one of these."),
]
RerunOf = Annotated[
    UUID | None, Field(description="Only tests that failed in this run, or were not executed.")
]
TrialCount = Annotated[int | None, Field(ge=1, le=1000, description="Trials of each test.")]
Concurrency = Annotated[
    int | None, Field(ge=1, le=256, description="Default: the agent's own limit.")
]
Wait = Annotated[
    bool, Field(description="Respond when the run has ended; false responds with 202 at once.")
]
IdPrefix = Annotated[
    str | None,
    Field(max_length=36, description="Only runs whose id begins so: 4 or more hex digits."),
]
MaxCost = Annotated[
    float | None,
    Field(gt=0, le=1e9, allow_inf_nan=False, description="US dollars, judges included."),
]
MaxTokens = Annotated[
    int | None, Field(ge=1, lt=2**53, description="Input and output, judges included.")
]
MaxMinutes = Annotated[
    float | None,
    Field(gt=0, le=1e7, allow_inf_nan=False, description="Of execution, over all resumptions."),
]
AllowUnknownPrices = Annotated[
    bool | None,
    Field(description="Let models of unknown price count as nothing, instead of refusing them."),
]
