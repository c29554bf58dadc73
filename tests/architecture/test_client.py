"""The client has every call of the API, with every filter by its name."""

import inspect
import json
from pathlib import Path
from typing import Any

import pytest

from arena.client import Client

DESCRIPTION = Path(__file__).parents[2] / "docs" / "reference" / "openapi.json"
OPERATIONS: dict[str, dict[str, Any]] = {
    operation["operationId"]: operation
    for operations in json.loads(DESCRIPTION.read_text())["paths"].values()
    for operation in operations.values()
}

SHORTER = {
    "get_test_standing": "standing",
    "watch_run": "watch",
    "list_results": "result_rows",
    "compare_agents": "compare",
    "compare_tests": "matrix",
    "recalculate_scores": "recalculate",
    "evaluate_submission": "evaluate",
    "verify_record": "verify",
    "apply_for_task": "apply",
    "assign_task": "assign",
    "commit_result": "commit",
    "submit_result": "submit",
    "claim_task": "claim",
    "release_task": "release",
    "judge_task": "judge",
    "dispute_verdict": "dispute",
    "resolve_dispute": "resolve",
    "cancel_task": "cancel",
    "expire_task": "expire",
    "settle_task": "settle",
    "register_market_agent": "register",
    "close_due_tasks": "close_due",
    "audit_ledger": "audit",
}
"""Operations with another name in the client; it drops `get_` and `list_` everywhere."""

ITS_OWN = {
    "list_tests": {"limit", "cursor"},  # it pages by itself
    "watch_run": {"results"},  # it reports progress only
    "export_content": {"cid"},  # it takes several: `cids`
}
"""Parameters that the client fills in."""


def method(operation_id: str) -> Any:
    plain = operation_id.removeprefix("get_").removeprefix("list_")
    return getattr(Client, SHORTER.get(operation_id, plain), None)


@pytest.mark.parametrize("operation_id", OPERATIONS)
def test_every_operation_has_a_method_with_its_parameters(operation_id: str):
    called = method(operation_id)
    assert called is not None, f"Client has no method for {operation_id}"
    required = {
        one["name"]
        for one in OPERATIONS[operation_id].get("parameters", ())
        if one["in"] == "query" and one["name"] != "team_id"  # the whole client has one team
    }
    accepted = set(inspect.signature(called).parameters)
    assert required - ITS_OWN.get(operation_id, set()) <= accepted


def test_no_method_takes_unknown_arguments():
    """A misspelt filter that is silently dropped would return everything."""
    for name, member in inspect.getmembers(Client, inspect.isfunction):
        kinds = {one.kind for one in inspect.signature(member).parameters.values()}
        assert name.startswith("_") or inspect.Parameter.VAR_KEYWORD not in kinds, name
