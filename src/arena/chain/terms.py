"""The terms of a task, to and from the structure `Terms` of the contract. Pure."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, cast

from arena.amounts import Amount
from arena.market.task import Assignment, Task, TimeoutPolicy

NOBODY = "0x" + 40 * "0"
ORDER = (
    "deadline",
    "judge",
    "judgeWindow",
    "fallbackJudge",
    "fallbackWindow",
    "agentSharePercent",
    "disputeWindow",
    "arbiter",
    "arbiterWindow",
    "bond",
    "commitDeadline",
    "maxApplicants",
    "isSelfJudged",
    "isFirst",
)
"""The names in the contract, in its order."""
TIMES = ("deadline", "commitDeadline")
PARTIES = ("judge", "fallbackJudge", "arbiter")
FLAGS = ("isSelfJudged",)


def to_contract(task: Task, address_of: Callable[[str], str]) -> tuple[object, ...]:
    """The structure that the contract takes."""
    values: list[object] = []
    for name in ORDER:
        if name == "isFirst":
            values.append(task.assignment is Assignment.FIRST)
            continue
        value: Any = getattr(task, _field(name))
        if name in TIMES:
            values.append(0 if value is None else int(value.timestamp()))
        elif name in PARTIES:
            values.append(NOBODY if value is None else address_of(value))
        else:
            values.append(value if name in FLAGS else int(value))
    return tuple(values)


def from_contract(
    values: Mapping[str, Any], reward: Amount, name_of: Callable[[str], str]
) -> dict[str, Any]:
    """The fields of a task's terms."""
    fields: dict[str, Any] = {"reward": reward}
    for name in ORDER:
        value = values[name]
        if name == "isFirst":
            fields["assignment"] = Assignment.FIRST if value else Assignment.MANUAL
        elif name in TIMES:
            seconds = int(value)
            fields[_field(name)] = datetime.fromtimestamp(seconds, UTC) if seconds else None
        elif name in PARTIES:
            fields[_field(name)] = None if value == NOBODY else name_of(cast(str, value))
        else:
            fields[_field(name)] = value if name in FLAGS else int(value)
    share = fields["agent_share_percent"]
    fields["timeout_policy"] = TimeoutPolicy.SPLIT if share else TimeoutPolicy.REFUND
    fields["bond"] = Amount(fields["bond"], reward.decimals)
    return fields


def _field(name: str) -> str:
    """The name of a field here: `judgeWindow` is `judge_window_seconds`."""
    plain = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
    return f"{plain}_seconds" if plain.endswith("_window") else plain
