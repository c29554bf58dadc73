"""Which suite a run of an earlier release belongs to: a part of migration 0015, never edited.

A run whose tests are all bundled ones is of the suite `lab`, any other of `legacy`. Two runs are of
one version of a suite if no test differs between them.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

AnyJson = sa.JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")
Id = sa.CHAR(36).with_variant(sa.Uuid(), "postgresql")
RUNS = "agent_benchmark_runs"
PAGE = 500

LAB = {
    "bench_ana_001": "c5cb69dbc39948ef81a37df173603edde211e19e62f10f6afe1176c5650bcd15",
    "bench_ana_002": "bfae13e762bbe8d43f8b647f92472ba828f760bc6b31c790ea113172a80f0f0f",
    "bench_ana_003": "47db543f3399f39aac39d28d8ac4121116bffd867953051506d5378d8b20ecb3",
    "bench_ana_004": "291eeac186bd1f66d431e92fa3005c80b305bd80f33ad893a003e6afe34670a2",
    "bench_det_001": "f10fa8da8f9ba01750f86af773ec02de6429e4b848c4de5d20c3bcb8cad3aaae",
    "bench_det_002": "8ea02e32967ec0a54e11255fb830d382b9a185127118fabb8b39e962489802a4",
    "bench_det_003": "bd159ee588708a62611a484cc7d3854bb21ae345f7382d5a93d44d0e5d130e24",
    "bench_exec_001": "7e587f236d423e03c75f3b8c39d1691f43e83ebae4fab6024489c05944afc4b7",
    "bench_exec_002": "33ed6f3be807e293b1813d72107b22137a0e1cc71313b4f4b42c06e80e08873e",
    "bench_exec_003": "61c2328a7bd92bc27051b0e5048abc937aa72b5228664756500d6b523921d5e3",
    "bench_exec_004": "67a57f9bfb2df3f98407f907e2572e66be85429590e35394a5019248e7e007ae",
    "bench_nav_001": "b200fda493e733bbb677ee056a7c38c9245109448d6cb68f591cb4810426e28f",
    "bench_nav_002": "fc203c83d796d7c905fa3659bf4e73df39d58873803133dce6f26d5d12bb21bd",
    "bench_nav_003": "5ed3e516a8d36a40f6f1952a95a499ad6e20356e8c341adc2b20643a0d3cb5b7",
    "bench_rec_001": "3b26e2993c95c55d7cb5047a6d363b0571dc7a843341f2c3ed25888f90faa5cc",
    "bench_rec_002": "f9c4d8e44cac30b4d1bfe543a144a7b0a7f4621bbb72ff2e32067ad207873da1",
    "bench_rec_003": "2663f5cf9224e1d3d3db07dbf424428dfe3225dda1972f813e8bd741388de18b",
}
"""The fingerprints of the bundled tests in this release."""

JUDGED = ("prompt", "expected", "validation", "case_sensitive", "whole_word", "pass_score")
"""What is asked, and how it is judged: tests that have it in common are of one cluster."""
DECIDING = (*JUDGED, "timeout_seconds", "points", "agents", "budget_tokens")
"""What can change a verdict or a score."""


def fingerprint_tests(connection: sa.Connection) -> None:
    """Compute the fingerprint and cluster of every frozen test; none of them has a group."""
    tests = _table("agent_benchmark_tests")
    rows = connection.execute(sa.select(tests.c.digest, tests.c.body)).all()
    change = sa.text(
        "UPDATE agent_benchmark_tests SET fingerprint = :fingerprint, cluster = :cluster"
        " WHERE digest = :digest"
    )
    for start in range(0, len(rows), PAGE):
        page = [
            {
                "digest": row.digest,
                "fingerprint": _hash(row.body, DECIDING),
                "cluster": _hash(row.body, JUDGED),
            }
            for row in rows[start : start + PAGE]
        ]
        connection.execute(change, page)


def _hash(body: Mapping[str, Any], names: Sequence[str]) -> str:
    text = json.dumps(
        {name: body.get(name) for name in names}, sort_keys=True, separators=(",", ":")
    )
    return hashlib.sha256(text.encode()).hexdigest()


class _Versions:
    """The versions of a team's suite, the newest first, each with its tests and times."""

    def __init__(self, known: Mapping[str, str]) -> None:
        self.manifests: list[dict[str, str]] = [dict(known)] if known else []
        self.times: list[list[Any]] = [[] for _ in self.manifests]

    def place(self, tests: Mapping[str, str], moment: Any) -> int:
        """The version of a run with these tests: the newest that no test contradicts."""
        fitting = (
            number
            for number, manifest in enumerate(self.manifests)
            if all(manifest.get(name, found) == found for name, found in tests.items())
        )
        number = next(fitting, len(self.manifests))
        if number == len(self.manifests):
            self.manifests.append({})
            self.times.append([])
        self.manifests[number].update(tests)
        self.times[number].append(moment)
        return number


def name_suites(connection: sa.Connection) -> None:
    """Give every run its suite and version, and every team its boards."""
    runs = _table(RUNS)
    placed: list[tuple[Any, str, str, int, int]] = []
    suites: dict[tuple[str, str], _Versions] = {}
    query = sa.select(runs.c.id, runs.c.team_id, runs.c.created_at, runs.c.completed_tests)
    order = runs.c.created_at.desc(), runs.c.id.desc()
    for run in connection.execute(query.order_by(*order)).all():
        tests = _tests_of(connection, run.id)
        suite = "lab" if tests and tests.keys() <= LAB.keys() else "legacy"
        known = LAB if suite == "lab" else {}
        versions = suites.setdefault((run.team_id, suite), _Versions(known))
        number = versions.place(tests, run.created_at)
        placed.append((run.id, run.team_id, suite, number, len(tests)))
        values = {"test_count": len(tests), "counted_results": run.completed_tests}
        connection.execute(sa.update(runs).where(runs.c.id == run.id).values(**values))
    names = {key: _stored_versions(connection, key, found) for key, found in suites.items()}
    for run_id, team_id, suite, number, _ in placed:
        version, count = names[team_id, suite][number]
        values = {"suite": suite, "suite_version": version, "suite_tests": count}
        connection.execute(sa.update(runs).where(runs.c.id == run_id).values(**values))
    _choose_shown(connection, names)


def _tests_of(connection: sa.Connection, run_id: Any) -> dict[str, str]:
    members, tests = _table("agent_benchmark_run_tests"), _table("agent_benchmark_tests")
    query = (
        sa.select(members.c.test_id, tests.c.fingerprint)
        .join(tests, tests.c.digest == members.c.digest)
        .where(members.c.run_id == run_id)
    )
    return {row.test_id: row.fingerprint for row in connection.execute(query)}


def _stored_versions(
    connection: sa.Connection, key: tuple[str, str], versions: _Versions
) -> list[tuple[str, int]]:
    """Store the versions of a suite; each one's digest and number of tests."""
    team_id, suite = key
    table = _table("agent_suite_versions")
    named: list[tuple[str, int]] = []
    for manifest, times in zip(versions.manifests, versions.times, strict=True):
        lines = (f"{test_id} {found}\n" for test_id, found in sorted(manifest.items()))
        version = hashlib.sha256("".join(lines).encode()).hexdigest()
        named.append((version, len(manifest)))
        if times:
            row = {
                "team_id": team_id,
                "suite": suite,
                "version": version,
                "label": None,
                "tests": len(manifest),
                "manifest": manifest,
                "created_at": min(times),
                "current_since": max(times),
            }
            connection.execute(sa.insert(table), row)
    return named


def _choose_shown(
    connection: sa.Connection, names: Mapping[tuple[str, str], list[tuple[str, int]]]
) -> None:
    """Show each suite's newest version with a complete run, and per team the board from before."""
    runs, scores = _table(RUNS), _table("agent_scores")
    complete = sa.select(runs.c.suite_version).where(
        runs.c.status == "completed", runs.c.is_full.is_(sa.true())
    )
    for (team_id, suite), versions in names.items():
        query = complete.where(runs.c.team_id == team_id, runs.c.suite == suite).distinct()
        measured = set(connection.execute(query).scalars())
        for version in (version for version, _ in versions if version in measured):
            row = {"team_id": team_id, "suite": suite, "shown_version": version}
            connection.execute(sa.insert(_table("agent_suites")), row)
            break
    shown = (
        sa.select(runs.c.team_id, runs.c.suite)
        .join(scores, scores.c.benchmark_run_id == runs.c.id)
        .order_by(runs.c.completed_at.desc())
    )
    for team_id, suites in _by_team(connection.execute(shown)):
        row = {
            "team_id": team_id,
            "default_suite": suites.most_common(1)[0][0],
            "ranks_reported": False,
        }
        connection.execute(sa.insert(_table("agent_team_boards")), row)


def _by_team(rows: Any) -> Iterator[tuple[str, Counter[str]]]:
    counts: dict[str, Counter[str]] = {}
    for team_id, suite in rows:
        counts.setdefault(team_id, Counter())[suite] += 1
    yield from counts.items()


def _table(name: str) -> sa.TableClause:
    """The columns that the steps above use."""
    time, text = sa.DateTime(timezone=True), sa.Text()
    columns: dict[str, dict[str, Any]] = {
        RUNS: {
            "id": Id,
            "team_id": text,
            "status": text,
            "is_full": sa.Boolean(),
            "created_at": time,
            "completed_at": time,
            "completed_tests": sa.Integer(),
            "counted_results": sa.Integer(),
            "test_count": sa.Integer(),
            "suite": text,
            "suite_version": text,
            "suite_tests": sa.Integer(),
        },
        "agent_scores": {"benchmark_run_id": Id},
        "agent_benchmark_tests": {"digest": text, "body": AnyJson, "fingerprint": text},
        "agent_benchmark_run_tests": {"run_id": Id, "test_id": text, "digest": text},
        "agent_suites": {"team_id": text, "suite": text, "shown_version": text},
        "agent_team_boards": {
            "team_id": text,
            "default_suite": text,
            "ranks_reported": sa.Boolean(),
        },
        "agent_suite_versions": {
            "team_id": text,
            "suite": text,
            "version": text,
            "label": text,
            "tests": sa.Integer(),
            "manifest": AnyJson,
            "created_at": time,
            "current_since": time,
        },
    }
    return sa.table(name, *(sa.column(key, kind) for key, kind in columns[name].items()))
