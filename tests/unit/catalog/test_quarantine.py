"""The key `quarantine`: a last day, or a mapping with a reason."""

import json
from datetime import date
from pathlib import Path

import pytest

from arena.catalog.catalog import load_catalog
from arena.catalog.loader import read_source
from arena.catalog.source import Source
from arena.catalog.test import Test
from factories import a_test

FILE = """\
tests:
  - id: t1
    name: n
    prompt: p
    expected: {contains: [a]}
    quarantine: %s
"""


def read(folder: Path, quarantine: str) -> Source:
    path = folder / "file.yaml"
    path.write_text(FILE % quarantine)
    return read_source(path)


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("2026-12-31", None),
        ('"2026-12-31"', None),
        ("{until: 2026-12-31}", None),
        ("{until: 2026-12-31, reason: the host is flaky}", "the host is flaky"),
    ],
)
def test_a_quarantine_is_a_date_or_a_mapping(tmp_path: Path, written: str, reason: str | None):
    (test,) = read(tmp_path, written).tests
    assert (test.quarantined_until, test.quarantine_reason) == ("2026-12-31", reason)


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("2026-02-30", "6:17: quarantine: must be a date like 2026-12-31"),
        ("20261231", "6:17: quarantine: must be a date like 2026-12-31, or a mapping with until"),
        ('"20261231"', "6:17: quarantine: must be a date like 2026-12-31"),
        ("2026-W01-1", "6:17: quarantine: must be a date like 2026-12-31"),
        ("soon", "6:17: quarantine: must be a date like 2026-12-31"),
        ("[2026-12-31]", "6:17: quarantine: must be a date like 2026-12-31, or a mapping"),
        ("{until: soon}", "6:25: quarantine.until: must be a date like 2026-12-31"),
        ("{reason: why}", "6:17: quarantine: needs the key 'until'"),
        ("{til: 2026-12-31}", "6:18: quarantine: unknown key 'til'; did you mean 'until'?"),
        ('{until: 2026-12-31, reason: ""}', "6:45: quarantine.reason: must be one line of text"),
    ],
)
def test_a_quarantine_that_is_no_date_is_a_problem_at_its_position(
    tmp_path: Path, written: str, problem: str
):
    source = read(tmp_path, written)
    assert source.tests == ()
    shown = [str(one).removeprefix(f"{source.path}:") for one in source.problems]
    assert any(one.startswith(problem) for one in shown), shown


def test_a_quarantine_holds_on_its_last_day_and_not_after_it():
    test = a_test(quarantined_until="2026-12-31")
    assert test.is_quarantined(date(2026, 12, 31))
    assert not test.is_quarantined(date(2027, 1, 1))
    assert not a_test().is_quarantined(date(2026, 12, 31))


def test_a_test_without_a_quarantine_keeps_the_digest_that_it_had_in_0_1():
    test = load_catalog().test("bench_nav_001")
    assert test.digest == "8e8b6e685b72da4070328962b93f9a12e4febb02c1501680f6838bb0d6f29e3b"
    assert "quarantined_until" not in test.as_json()


def test_a_quarantined_test_survives_serialization():
    test = a_test(quarantined_until="2026-12-31", quarantine_reason="why")
    assert Test.from_json(json.loads(json.dumps(test.as_json()))) == test
