"""Reads the lab's data files into records."""

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from importlib.resources import files
from typing import Any, TypeVar, cast

from arena.lab.records import (
    Device,
    Edge,
    Execution,
    Host,
    Limits,
    Machines,
    Node,
    Outcome,
    Platform,
    Requirement,
    Service,
    Step,
    Testcase,
    Threshold,
    Userinterface,
)

Record = TypeVar("Record")
Row = Mapping[str, Any]
"""One JSON object of a data file; the record it becomes gives the values their types."""

READERS: dict[str, Callable[[Any], object]] = {
    "platform": Platform,
    "status": Outcome,
    "last_seen": datetime.fromisoformat,
    "last_heartbeat": datetime.fromisoformat,
    "started_at": datetime.fromisoformat,
    "nodes": lambda rows: records(Node, rows),
    "edges": lambda rows: records(Edge, rows),
    "steps": lambda rows: records(Step, rows),
}


def records(kind: Callable[..., Record], rows: list[Row]) -> tuple[Record, ...]:
    """Every row as a record of this kind; a key that the kind does not have is an error."""
    return tuple(
        kind(**{key: read_value(key, value) for key, value in row.items()}) for row in rows
    )


def read_value(key: str, value: Any) -> object:
    """A JSON value as the value that a record's field of this name holds."""
    if key in READERS:
        return READERS[key](value)
    return tuple(cast("list[object]", value)) if isinstance(value, list) else value


def read_json(name: str) -> Any:
    """The content of one data file."""
    return json.loads((files("arena.lab") / "data" / name).read_text(encoding="utf-8"))


def read_limits(row: Row) -> Limits:
    """The thresholds of the lab."""
    return Limits(
        offline_after_seconds=row["offline_after_seconds"],
        heartbeat_after_seconds=row["heartbeat_after_seconds"],
        cpu_percent=Threshold(**row["cpu_percent"]),
        memory_percent=Threshold(**row["memory_percent"]),
        disk_percent=Threshold(**row["disk_percent"]),
        battery_percent=Threshold(**row["battery_percent"]),
        temperature_celsius={
            Platform(platform): Threshold(**threshold)
            for platform, threshold in row["temperature_celsius"].items()
        },
    )


def read_userinterfaces() -> tuple[Userinterface, ...]:
    """The interfaces with their navigation trees."""
    return records(Userinterface, read_json("userinterfaces.json"))


def read_testcases() -> tuple[Testcase, ...]:
    """The test cases with their steps."""
    return records(Testcase, read_json("testcases.json"))


def read_requirements() -> tuple[Requirement, ...]:
    """What the products must do."""
    return records(Requirement, read_json("requirements.json"))


def read_executions() -> tuple[Execution, ...]:
    """The executions of the past days, oldest first."""
    return records(Execution, read_json("executions.json"))


def read_machines() -> Machines:
    """All that was running when the lab was last looked at."""
    data = read_json("machines.json")
    return Machines(
        as_of=datetime.fromisoformat(data["as_of"]),
        limits=read_limits(data["limits"]),
        hosts=records(Host, data["hosts"]),
        devices=records(Device, data["devices"]),
        services=records(Service, data["services"]),
    )
