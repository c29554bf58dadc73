"""The lab's data files agree with each other."""

import re
from pathlib import Path

import pytest

from arena.lab.lab import open_lab, shortest_path
from arena.lab.records import Outcome, Userinterface

LAB = open_lab()
BY_ID = {record.id: record for record in LAB.records()}
INTERFACES = [pytest.param(ui, id=ui.id) for ui in LAB.userinterfaces]


def ids(records: object) -> list[str]:
    return [record.id for record in records]  # type: ignore[attr-defined]


def test_no_two_things_of_the_lab_have_the_same_id() -> None:
    machines = LAB.machines
    names = [
        *ids(LAB.userinterfaces),
        *ids(LAB.testcases),
        *ids(LAB.requirements),
        *ids(LAB.executions),
        *ids(machines.hosts),
        *ids(machines.devices),
        *ids(machines.services),
    ]

    assert len(names) == len(set(names))


@pytest.mark.parametrize("ui", INTERFACES)
def test_every_edge_joins_two_nodes_of_its_own_tree(ui: Userinterface) -> None:
    nodes = set(ids(ui.nodes))

    assert len(nodes) == len(ui.nodes)
    assert ui.entry in nodes
    assert {end for edge in ui.edges for end in (edge.source, edge.target)} <= nodes


@pytest.mark.parametrize("ui", INTERFACES)
def test_every_node_can_be_reached_from_the_entry_by_edges(ui: Userinterface) -> None:
    unreachable = [n.id for n in ui.nodes if shortest_path(ui, ui.entry, n.id) is None]

    assert unreachable == []


@pytest.mark.parametrize("ui", INTERFACES)
def test_one_action_on_one_screen_leads_to_one_place(ui: Userinterface) -> None:
    actions = [(edge.source, edge.how) for edge in ui.edges]

    assert len(actions) == len(set(actions))
    assert all((edge.element is None) != (edge.key is None) for edge in ui.edges)


@pytest.mark.parametrize("ui", INTERFACES)
def test_a_warm_load_is_never_slower_than_a_cold_one(ui: Userinterface) -> None:
    assert all(0 < node.warm_load_ms <= node.cold_load_ms for node in ui.nodes)


def test_devices_and_services_live_on_hosts_that_exist() -> None:
    machines = LAB.machines

    assert {d.host for d in machines.devices} <= set(ids(machines.hosts))
    assert {s.host for s in machines.services} <= set(ids(machines.hosts))


def test_a_device_shows_only_interfaces_of_its_own_platform() -> None:
    for device in LAB.machines.devices:
        shown = [BY_ID[name] for name in device.interfaces]
        assert [ui.platform for ui in shown] == [device.platform] * len(shown)


def test_every_interface_can_be_shown_by_some_device() -> None:
    assert all(LAB.devices_for(ui) for ui in LAB.userinterfaces)


def test_nothing_was_seen_after_the_moment_the_lab_was_looked_at() -> None:
    machines = LAB.machines
    seen = [
        *(host.last_seen for host in machines.hosts),
        *(device.last_seen for device in machines.devices),
        *(service.last_heartbeat for service in machines.services),
        *(run.started_at for run in LAB.executions),
    ]

    assert max(seen) <= machines.as_of


@pytest.mark.parametrize("case", [pytest.param(c, id=c.id) for c in LAB.testcases])
def test_a_test_case_speaks_of_nodes_elements_and_requirements_that_exist(case) -> None:
    ui = LAB.interface_of(case)
    elements = {element for node in ui.nodes for element in node.elements}

    assert case.steps
    for step in case.steps:
        assert (step.node is None) != (step.element is None)
        assert step.node is None or ui.node(step.node)
        assert step.element is None or step.element in elements
    for name in case.requirements:
        assert BY_ID[name].platform is ui.platform


@pytest.mark.parametrize("run", [pytest.param(r, id=r.id) for r in LAB.executions])
def test_an_execution_fits_its_test_case_and_its_device(run) -> None:
    case, device = BY_ID[run.testcase], BY_ID[run.device]

    assert case.userinterface in device.interfaces
    if run.status is Outcome.PASSED:
        assert (run.failed_step, run.message) == (None, None)
    else:
        assert run.message
        assert 1 <= run.failed_step <= len(case.steps)


def test_executions_stand_in_the_order_of_time() -> None:
    moments = [run.started_at for run in LAB.executions]

    assert moments == sorted(moments)


def test_the_guide_counts_what_the_lab_holds() -> None:
    guide = Path(__file__).parents[3] / "docs" / "guide" / "the-lab.md"
    rows = re.findall(r"^\| `(\w+)` \| (\d+)", guide.read_text(encoding="utf-8"), re.MULTILINE)
    machines = LAB.machines

    assert {name: int(count) for name, count in rows} == {
        "userinterface": len(LAB.userinterfaces),
        "node": sum(len(ui.nodes) for ui in LAB.userinterfaces),
        "edge": sum(len(ui.edges) for ui in LAB.userinterfaces),
        "host": len(machines.hosts),
        "device": len(machines.devices),
        "service": len(machines.services),
        "testcase": len(LAB.testcases),
        "requirement": len(LAB.requirements),
        "execution": len(LAB.executions),
    }
