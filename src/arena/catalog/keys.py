"""The keys of a test file, for validation and for editors."""

from types import SimpleNamespace
from typing import Annotated, Any, ClassVar

from pydantic import (
    BaseModel,
    Field,
    StringConstraints,
    WrapValidator,
)

from arena.catalog.conversation import TURN_KEYS, USER_KEYS, Turns, UserKeys
from arena.catalog.quarantine import ONE_LINE, QuarantineKeys, read_quarantine
from arena.catalog.solution import SolutionKeys, read_solution, solution_keys
from arena.catalog.tool_reading import MAX_TOOLS
from arena.documents.problem import KeyPath
from arena.fields import MAX_NAME_LENGTH, STRICT

NOT_BLANK = r"\S"
PRINTABLE_LINE = r"^[^\x00-\x1f\x7f-\x9f]*\S[^\x00-\x1f\x7f-\x9f]*$"
IDENTIFIER = r"^[A-Za-z0-9][A-Za-z0-9_.-]*$"
TEST_ID = r"^[A-Za-z0-9][A-Za-z0-9_.-]*(\[[^\x00-\x20\x7f-\x9f\[\]]+\])?$"
"""The id of a test, or of a row of a data set: `id[row]`."""
PATTERNS = {
    NOT_BLANK: "text that is not empty",
    ONE_LINE: "one line of text that is not empty",
    PRINTABLE_LINE: "one line of text that is not empty, without control characters",
    IDENTIFIER: "letters, digits, '_', '.' or '-', the first a letter or digit",
}
"""The description of each pattern in messages."""

Text = Annotated[str, StringConstraints(pattern=NOT_BLANK)]
Word = Annotated[str, StringConstraints(pattern=ONE_LINE, max_length=MAX_NAME_LENGTH)]
Label = Annotated[str, StringConstraints(pattern=PRINTABLE_LINE, max_length=MAX_NAME_LENGTH)]
AgentId = Annotated[str, StringConstraints(pattern=IDENTIFIER, max_length=MAX_NAME_LENGTH)]
SuiteName = Annotated[str, StringConstraints(pattern=IDENTIFIER, max_length=MAX_NAME_LENGTH)]
NO_MARK = SimpleNamespace(line=0, column=0)
"""The position of a test that is not in a YAML file."""
ABSENT: Any = None
"""The value of a key that a file does not have; its test has the default of `Test`."""


class TestKeys(BaseModel):
    """The keys of one test. Only for validation; the catalog keeps a `Test`, which is smaller."""

    __test__: ClassVar[bool] = False  # keeps pytest from collecting the class
    model_config = STRICT

    id: Annotated[str, StringConstraints(pattern=IDENTIFIER, max_length=50)]
    name: Annotated[str, StringConstraints(pattern=ONE_LINE, max_length=200)]
    description: Text | None = None
    prompt: Text
    expected: dict[str, Any]
    validation: str = ABSENT
    timeout: int = Field(default=ABSENT, ge=1, le=86_400)
    points: float = Field(default=ABSENT, gt=0, le=1_000_000, allow_inf_nan=False)
    agents: list[AgentId] | None = None
    active: bool = ABSENT
    tags: list[Word] = ABSENT
    trials: int = Field(default=ABSENT, ge=1, le=1000)
    budget_tokens: int | None = Field(default=None, ge=1, le=1_000_000_000)
    case_sensitive: bool | None = None
    whole_word: bool = ABSENT
    pass_score: float | None = Field(default=None, gt=0, le=100, allow_inf_nan=False)
    group: Word | None = None
    quarantine: Annotated[QuarantineKeys, WrapValidator(read_quarantine)] = ABSENT
    workspace: dict[str, Any] = ABSENT
    tools: list[dict[str, Any]] = Field(default=ABSENT, min_length=1, max_length=MAX_TOOLS)
    solution: Annotated[SolutionKeys, WrapValidator(read_solution)] = ABSENT
    turns: Turns = ABSENT
    user: UserKeys = ABSENT


class FileKeys(BaseModel):
    """The keys of a file, apart from the tests themselves."""

    model_config = STRICT

    category: Word | None = None
    description: Text | None = None
    suite: SuiteName | None = None
    suite_version: Label | None = None
    vars: dict[str, Any] | None = None


DATA_KEYS = ("vars", "dataset", "matrix")
"""The keys that make a template of a test; see `data_reading.py`."""
TEST_KEYS = (*TestKeys.model_fields, *DATA_KEYS)
INNER_KEYS: dict[str | int, tuple[str, ...]] = {
    "quarantine": tuple(QuarantineKeys.model_fields),
    "turns": TURN_KEYS,
    "user": USER_KEYS,
}
NEEDED_KEYS = tuple(key for key, field in TestKeys.model_fields.items() if field.is_required())
FILE_KEYS = (*FileKeys.model_fields, "tests")


def keys_at(path: KeyPath) -> tuple[str, ...]:
    """The keys that are allowed at a path within a test."""
    if path and path[0] == "solution":
        return solution_keys(path[1:])
    return INNER_KEYS[path[0]] if path else TEST_KEYS
