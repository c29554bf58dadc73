"""Field types and limits that several rooms share."""

from typing import Annotated

from pydantic import AfterValidator, Field


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be blank")
    return text


NonBlank = Annotated[
    str,
    Field(min_length=1, json_schema_extra={"pattern": r"\S"}),
    AfterValidator(_not_blank),
]
"""A text that is not blank."""

MAX_NAME_LENGTH = 100
"""Of the ids of agents, teams and parties, of categories and tags: the length of their columns."""
MAX_VERSION_LENGTH = 20
MAX_VOTES = 25
"""Of a judge on one submission."""
MAX_REVIEWERS = 25
"""Per review; more would only make the table of agreement unreadable."""

AgentId = Annotated[
    str, Field(min_length=1, max_length=MAX_NAME_LENGTH, examples=["qa-web-manager"])
]
NameFilter = Annotated[str | None, Field(max_length=MAX_NAME_LENGTH)]
VersionFilter = Annotated[str | None, Field(max_length=MAX_VERSION_LENGTH)]
NewestVersion = Annotated[VersionFilter, Field(description="Default: the newest.")]
