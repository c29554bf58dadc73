"""The audit detects what somebody with access to the database has changed."""

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from market_desk import TEAM, Desk

TAMPERED = {
    "an amount": ("UPDATE market_postings SET amount = amount + 1 WHERE line = 1", "I1"),
    "a balance": ("UPDATE market_accounts SET balance = balance + 5 WHERE name = 'user:ann'", "I1"),
    "a lost account": ("DELETE FROM market_accounts WHERE name = 'user:solver'", "I1"),
    "a lost posting": ("DELETE FROM market_postings WHERE account = 'user:ann'", "I1"),
    "money from nowhere": (
        "UPDATE market_accounts SET balance = balance + 5 WHERE name <> 'outside'",
        "I3",
    ),
    "a state": ("UPDATE market_tasks SET state = 'open', exit_at = deadline WHERE id = 1", "I2"),
    "a settlement undone": (
        "UPDATE market_entries SET kind = 'bond' WHERE task_id = 1 AND kind = 'settlement'",
        "I4",
    ),
    "a settlement for another": (
        "UPDATE market_postings SET account = 'user:thief' WHERE account = 'user:solver'",
        "I4",
    ),
    "a score": ("UPDATE market_tasks SET final_score = 10, score = 10 WHERE id = 1", "I5"),
    "another judge": ("UPDATE market_tasks SET judged_by = 'mallory' WHERE id = 1", "I5"),
    "a late result": ("UPDATE market_tasks SET submitted_at = deadline WHERE id = 1", "I5"),
    "an event after the end": (
        "INSERT INTO market_events (team_id, id, task_id, kind, who, at, why, data) "
        "SELECT team_id, 1000 + id, task_id, 'Assigned', who, at, why, data FROM market_events "
        "WHERE kind = 'Paid'",
        "I6",
    ),
    "a lost event": ("DELETE FROM market_events WHERE kind = 'Paid'", "I6"),
    "a history rewritten": (
        "UPDATE market_postings SET balance = balance + 1 WHERE account = 'user:solver'",
        "I7",
    ),
    "two roles": ("UPDATE market_tasks SET judge = 'solver', judged_by = 'solver'", "I9"),
}  # fmt: skip


@pytest.mark.parametrize("what", TAMPERED)
async def test_the_audit_detects_what_was_changed(desk: Desk, what: str):
    task_id = await desk.submitted()
    assert task_id == 1
    await desk.judge(task_id, 80)
    before = await desk.market.audit()
    assert before.is_clean
    assert (before.tasks, before.entries, before.postings) == (1, 3, 6)
    change, invariant = TAMPERED[what]
    async with desk.database.writing() as connection:
        await connection.execute(text(change))
    report = await desk.market.audit(TEAM)
    assert invariant in {found.invariant for found in report.violations}, report.violations
    assert (await desk.market.audit("another team")).is_clean
    async with desk.database.writing() as connection:
        await connection.execute(text("DELETE FROM market_postings"))
        for table in ("events", "entries", "applications", "tasks", "accounts"):
            await connection.execute(text(f"DELETE FROM market_{table}"))


@pytest.mark.parametrize(
    "statement",
    [
        # a second settlement of a task
        "INSERT INTO market_entries (team_id, id, task_id, kind, at) "
        "SELECT team_id, 1000 + id, task_id, kind, at FROM market_entries "
        "WHERE kind = 'settlement'",
        # an account below zero
        "UPDATE market_accounts SET balance = -1 WHERE name = 'user:ann'",
        # a task without a reward
        "UPDATE market_tasks SET reward = 0",
        # a receipt for a key that has one
        "INSERT INTO market_calls (team_id, id, idempotency_key, digest, action, at) "
        "SELECT team_id, 1000 + id, idempotency_key, digest, action, at FROM market_calls",
    ],
)
async def test_database_constraints_refuse_impossible_rows(desk: Desk, statement: str):
    await desk.judge(await desk.submitted(), 80)
    with pytest.raises(IntegrityError):
        async with desk.database.writing() as connection:
            await connection.execute(text(statement))
