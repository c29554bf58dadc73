"""Tests over HTTP."""

import asyncio
from pathlib import Path

import httpx2

from arena.catalog.data_test import Plan
from factories import write_tests

SEED_FIELDS = {
    "test_id",
    "name",
    "category",
    "input_prompt",
    "expected_output",
    "validation_type",
    "timeout_seconds",
    "points",
    "applicable_agent_types",
}


async def test_the_built_in_tests_are_seventeen(local: httpx2.AsyncClient):
    everything = (await local.get("/api/benchmarks/tests")).json()
    assert everything["count"] == everything["total"] == 17 + 5
    names = {"navigation", "detection", "execution", "analysis", "recovery"}
    built_in = [test for test in everything["tests"] if test["category"] in names]
    assert len(built_in) == 17


async def test_a_test_has_the_fields_of_the_document(local: httpx2.AsyncClient):
    answer = await local.get("/api/benchmarks/tests", params={"category": "navigation"})
    tests = answer.json()["tests"]
    assert answer.json()["count"] == len(tests) == 3
    assert {test["category"] for test in tests} == {"navigation"}
    first = tests[0]
    assert first.keys() >= SEED_FIELDS
    assert {key: first[key] for key in SEED_FIELDS} == {
        "test_id": "bench_nav_001",
        "name": "List User Interfaces",
        "category": "navigation",
        "input_prompt": "List all available user interfaces in the system",
        "expected_output": {"contains": ["userinterface", "list"]},
        "validation_type": "contains",
        "timeout_seconds": 30,
        "points": 1.0,
        "applicable_agent_types": [
            "qa-web-manager",
            "qa-mobile-manager",
            "qa-stb-manager",
            "ai-assistant",
        ],
    }


async def test_tests_can_be_filtered_by_agent(local: httpx2.AsyncClient):
    for agent, count in (("qa-web-manager", 12), ("ai-assistant", 11), ("monitoring-manager", 3)):
        answer = await local.get("/api/benchmarks/tests", params={"agent_id": agent})
        assert answer.json()["count"] == count


async def test_one_test_can_be_read(local: httpx2.AsyncClient):
    assert (await local.get("/api/benchmarks/tests/parrot_00001")).json()["points"] == 1.0
    answer = await local.get("/api/benchmarks/tests/parrot_0001")
    assert answer.status_code == 404
    assert answer.json()["detail"] == (
        "no test is called 'parrot_0001'; did you mean 'parrot_00001'?"
    )


def write_rows(folder: Path, rows: int) -> None:
    write_tests(folder / "good.yaml", count=2)
    lines = "".join(f"r{number:04},word{number}\n" for number in range(rows))
    (folder / "rows.csv").write_text(f"id,word\n{lines}")
    (folder / "say.yaml").write_text(
        "category: say\ntests:\n  - {id: say, name: Say, dataset: rows.csv, "
        "prompt: 'say {{word}}', expected: {contains: ['{{word}}']}}\n"
    )


async def test_a_page_of_a_data_set_reads_only_its_rows(opened, tmp_path, monkeypatch):
    write_rows(tmp_path / "home" / "benchmarks", 3000)
    made = 0
    make = Plan.make

    def counted(*words, is_known=False):
        nonlocal made
        made += is_known  # not if the watcher reads the file again
        return make(*words, is_known=is_known)

    async with opened() as client:
        monkeypatch.setattr(Plan, "make", counted)
        query = {"category": "say", "limit": 100}
        first = (await client.get("/api/benchmarks/tests", params=query)).json()
        more = {**query, "cursor": first["next_cursor"]}
        second = (await client.get("/api/benchmarks/tests", params=more)).json()
    assert (first["total"], first["count"], made) == (3000, 100, 200)
    assert second["tests"][0]["test_id"] == "say[r0100]"


async def test_rows_are_audited_like_other_tests(opened, tmp_path):
    write_rows(tmp_path / "home" / "benchmarks", 250)
    async with opened() as client:
        while (report := (await client.get("/api/benchmarks/audit")).json())["pending"]:
            pass
    found = {finding["test_id"] for finding in report["findings"] if finding["agent"] == "echo"}
    assert {f"say[r{number:04}]" for number in range(250)} <= found


async def test_a_bad_file_is_reported_and_the_good_ones_are_served(opened, tmp_path):
    folder = tmp_path / "home" / "benchmarks"
    write_tests(folder / "good.yaml", count=2)
    (folder / "bad.yaml").write_text("category: bad\ntests:\n  - id: one\n    nmae: One\n")
    async with opened() as client:
        state = (await client.get("/api/benchmarks/catalog")).json()
        total = (await client.get("/api/benchmarks/tests")).json()["total"]
    assert total == state["tests"] == 17 + 5 + 2
    by_file = {source["file"].rsplit("/")[-1]: source for source in state["sources"]}
    assert (by_file["bad.yaml"]["state"], by_file["bad.yaml"]["tests"]) == ("bad", 0)
    assert (by_file["good.yaml"]["state"], by_file["good.yaml"]["tests"]) == ("good", 2)
    problems = {problem["message"]: problem for problem in state["problems"]}
    (unknown,) = (found for message, found in problems.items() if "nmae" in message)
    assert (unknown["line"], unknown["column"]) == (4, 5)
    assert "name" in unknown["message"]
    assert unknown["file"].endswith("bad.yaml")


async def test_a_file_that_turns_bad_is_served_in_its_last_good_version(opened, tmp_path):
    file = tmp_path / "home" / "benchmarks" / "mine.yaml"
    write_tests(file, count=2)
    async with opened(serves=True) as client:
        file.write_text("tests: [")
        for _ in range(100):
            state = (await client.get("/api/benchmarks/catalog")).json()
            (mine,) = (s for s in state["sources"] if s["file"] == f"benchmarks/{file.name}")
            if mine["state"] == "last_good":
                break
            await asyncio.sleep(0.05)
        assert (mine["state"], mine["tests"]) == ("last_good", 2)
        assert (await client.get("/api/benchmarks/tests/mine_00001")).status_code == 200


async def test_health_has_the_version(local: httpx2.AsyncClient):
    assert (await local.get("/api/health")).json() == {"status": "ok", "version": "0.1.0"}


async def test_the_front_page_is_html(local: httpx2.AsyncClient):
    answer = await local.get("/", follow_redirects=True)
    assert answer.headers["content-type"].startswith("text/html")
