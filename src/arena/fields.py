"""Field types and limits that several rooms share, and how an agent version is named."""

from typing import Annotated, get_args

from pydantic import AfterValidator, ConfigDict, Field
from pydantic.fields import FieldInfo

from arena.errors import InvalidInput

STRICT = ConfigDict(extra="forbid", strict=True)
"""For documents that people write: nothing is converted, and no key is ignored."""


def alias_of(hint: object) -> str | None:
    """The wire name of a field with this type hint, if it differs from its name."""
    found = (extra.alias for extra in get_args(hint) if isinstance(extra, FieldInfo))
    return next(filter(None, found), None)


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
MAX_TEST_ID = 120
"""Of a test, or of a row of a data set: `id[row]`."""
"""Of the ids of agents, teams and parties, of categories and tags: the length of their columns."""
MAX_VERSION_LENGTH = 20
MAX_LABEL_LENGTH = 63
LABEL_PATTERN = r"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$"
"""Of the label of a worker, which may be the name of its machine."""
LABEL_WORDS = "lower-case letters, digits, '.' and '-', beginning and ending with a letter or digit"
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


def split_agent(name: str) -> tuple[str, str | None]:
    """Split `AGENT@VERSION` into id and version; `AGENT:VERSION`, as 0.1 wrote it, also counts."""
    # The colon first: in 0.1 the id of an agent in `AGENT:VERSION` could contain an @.
    agent_id, separator, version = name.partition(":" if ":" in name else "@")
    if separator and not version:
        raise InvalidInput(f"{name!r} has no version after the {separator}")
    return agent_id, version or None


def agent_reference(name: str) -> str:
    """`AGENT:VERSION`, as the API writes it, in the form that commands use: `AGENT@VERSION`."""
    agent_id, version = split_agent(name)
    return f"{agent_id}@{version}"
