"""What the tests that ship with Arena expect is what the lab's data say."""

import json
from importlib.resources import files
from typing import Any

import pytest

from arena.catalog.catalog import Catalog, load_catalog


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_catalog()


def lab(name: str) -> Any:
    return json.loads((files("arena.lab") / "data" / f"{name}.json").read_text())


def parts(catalog: Catalog, test_id: str) -> list[Any]:
    expected = catalog.test(test_id).expected
    return expected.get("any_of") or expected["all_of"]  # type: ignore[return-value]


def test_the_tree_sizes_are_those_of_the_lab(catalog: Catalog) -> None:
    sizes = [[str(len(ui["nodes"])), str(len(ui["edges"]))] for ui in lab("userinterfaces")]
    expected = [part["expected"]["contains"] for part in parts(catalog, "bench_nav_003")]
    assert sorted(expected) == sorted(sizes)


def test_the_entry_nodes_are_those_of_the_lab(catalog: Catalog) -> None:
    entries = {ui["entry"] for ui in lab("userinterfaces")}
    for test_id in ("bench_nav_002", "bench_rec_002"):
        assert entries <= set(parts(catalog, test_id)[1]["expected"]["contains"])
    assert all("home" in {node["id"] for node in ui["nodes"]} for ui in lab("userinterfaces"))


def test_no_start_screen_of_the_lab_loads_within_100_milliseconds() -> None:
    quickest = min(device["load_factor"] for device in lab("machines")["devices"])
    for ui in lab("userinterfaces"):
        (home,) = (node for node in ui["nodes"] if node["id"] == "home")
        assert min(home["cold_load_ms"], home["warm_load_ms"]) * quickest > 100


def test_the_test_cases_are_those_of_the_lab(catalog: Catalog) -> None:
    listed = parts(catalog, "bench_exec_001")
    expected = [case_id for part in listed for case_id in part["expected"]["contains"]]
    assert sorted(expected) == sorted(case["id"] for case in lab("testcases"))


def test_the_machines_in_trouble_are_those_of_the_lab() -> None:
    machines = lab("machines")
    day = machines["as_of"][:10]
    gone = {device["id"] for device in machines["devices"] if device["last_seen"][:10] < day}
    assert gone == {"iphone-12", "box-hd-02"}
    quiet = {host["id"] for host in machines["hosts"] if host["last_seen"][:10] < day}
    assert quiet == {"lab-spare-01"}
    assert len(machines["hosts"]) == 8
    services = {service["id"]: service for service in machines["services"]}
    ailing = {
        name
        for name, service in services.items()
        if service["latency_ms"] > service["latency_limit_ms"]
        or service["error_percent"] > service["error_limit_percent"]
        or service["last_heartbeat"] < f"{day}T07:58"
    }
    assert ailing == {"result-store", "video-capture", "report-builder"}


def test_the_coverage_is_that_of_the_lab(catalog: Catalog) -> None:
    requirements = lab("requirements")
    covered = {name for case in lab("testcases") for name in case["requirements"]}
    uncovered = [item["id"] for item in requirements if item["id"] not in covered]
    assert sorted(parts(catalog, "bench_ana_003")[0]["expected"]["contains"]) == sorted(uncovered)
    assert covered >= set(parts(catalog, "bench_ana_003")[1]["expected"]["contains"])

    urgent = [item["id"] for item in requirements if item["priority"] == "high"]
    assert sorted(parts(catalog, "bench_ana_004")[0]["expected"]["contains"]) == sorted(
        set(urgent) & set(uncovered)
    )
    stb_urgent = sorted(name for name in urgent if name.startswith("REQ-STB"))
    assert sorted(parts(catalog, "bench_ana_002")[0]["expected"]["contains"]) == stb_urgent

    executed = {run["testcase"] for run in lab("executions")}
    never = sorted({case["id"] for case in lab("testcases")} - executed)
    assert sorted(parts(catalog, "bench_ana_004")[1]["expected"]["contains"]) == never


@pytest.mark.parametrize(
    ("platform", "figures"),
    [("web", (8, 12)), ("mobile", (7, 10)), ("stb", (9, 11)), (None, (24, 33))],
)
def test_the_coverage_figures_are_those_of_the_lab(
    catalog: Catalog, platform: str | None, figures: tuple[int, int]
) -> None:
    covered = {name for case in lab("testcases") for name in case["requirements"]}
    mine = [item["id"] for item in lab("requirements") if platform in (None, item["platform"])]
    assert (len(covered & set(mine)), len(mine)) == figures
    patterns = [part["expected"]["pattern"] for part in parts(catalog, "bench_ana_001")]
    assert any(all(rf"\b{figure}\b" in pattern for figure in figures) for pattern in patterns)


@pytest.mark.parametrize(
    ("case", "run", "status"),
    [
        ("TC-WEB-08", "EX-1035", "timeout"),
        ("TC-MOB-08", "EX-1040", "timeout"),
        ("TC-STB-06", "EX-1029", "passed"),
    ],
)
def test_the_latest_executions_are_those_of_the_lab(case: str, run: str, status: str) -> None:
    runs = [item for item in lab("executions") if item["testcase"] == case]
    latest = max(runs, key=lambda item: item["started_at"])
    assert (latest["id"], latest["status"]) == (run, status)


@pytest.mark.parametrize(
    ("case", "title", "requirement"),
    [
        ("TC-WEB-07", "gift card", "REQ-WEB-08"),
        ("TC-MOB-07", "title on iOS", "REQ-MOB-03"),
        ("TC-STB-07", "network connection", "REQ-STB-11"),
    ],
)
def test_the_loaded_test_cases_are_those_of_the_lab(
    case: str, title: str, requirement: str
) -> None:
    (found,) = (item for item in lab("testcases") if item["id"] == case)
    assert title in found["title"]
    assert found["requirements"] == [requirement]


@pytest.mark.parametrize(
    ("ui", "source", "target", "element"),
    [
        ("web_shop", "account", "gift_cards", "gift_cards_link"),
        ("android_app", "player", "cast", "cast_icon"),
        ("stb_main", "settings", "software_update", "update_row"),
    ],
)
def test_the_blocked_edges_are_blocked_in_the_lab(
    ui: str, source: str, target: str, element: str
) -> None:
    (tree,) = (item for item in lab("userinterfaces") if item["id"] == ui)
    edges = [edge for edge in tree["edges"] if edge["target"] == target]
    assert [(edge["source"], edge["element"]) for edge in edges] == [(source, element)]
    (node,) = (item for item in tree["nodes"] if item["id"] == source)
    assert element not in node["elements"]


def test_the_screens_and_test_cases_that_must_not_exist_do_not() -> None:
    nodes = {node["id"] for ui in lab("userinterfaces") for node in ui["nodes"]}
    assert "hologram_lounge" not in nodes
    assert "TC-PAY-77" not in {case["id"] for case in lab("testcases")}
