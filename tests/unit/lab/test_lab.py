import pytest

from arena.lab.lab import build, open_lab, shortest_path
from arena.lab.records import (
    Edge,
    Node,
    Outcome,
    Platform,
    Step,
    Threshold,
    Userinterface,
)

LAB = open_lab()


def tree(*edges: tuple[str, str]) -> Userinterface:
    """An interface whose nodes are called by one letter."""
    names = dict.fromkeys(end for edge in edges for end in edge)
    return Userinterface(
        id="small",
        title="Small",
        platform=Platform.WEB,
        version="1",
        entry=edges[0][0],
        aliases=(),
        description="",
        nodes=tuple(
            Node(id=n, title=n, aliases=(), elements=(), cold_load_ms=1, warm_load_ms=1)
            for n in names
        ),
        edges=tuple(
            Edge(source=s, target=t, action="press", key=f"{s}{t}", timeout_ms=1) for s, t in edges
        ),
    )


def test_a_key_that_no_record_has_is_an_error() -> None:
    with pytest.raises(KeyError, match="colour"):
        build(Threshold, {"warning": 1, "critical": 2, "colour": "red"})


def test_values_of_the_data_files_get_the_types_of_their_fields() -> None:
    run = LAB.executions[0]

    assert isinstance(run.status, Outcome)
    assert run.started_at.tzinfo is not None
    assert isinstance(LAB.testcases[0].steps[0], Step)


def test_the_web_part_of_the_lab_has_nothing_of_other_platforms() -> None:
    web = LAB.only({Platform.WEB})

    assert {ui.id for ui in web.userinterfaces} == {"web_shop", "web_backoffice"}
    assert {device.platform for device in web.machines.devices} == {Platform.WEB}
    assert {requirement.platform for requirement in web.requirements} == {Platform.WEB}
    assert all(run.testcase.startswith("TC-WEB") for run in web.executions)
    assert web.machines.hosts == LAB.machines.hosts


def test_the_parts_of_the_lab_add_up_to_the_whole() -> None:
    parts = [LAB.only({platform}) for platform in Platform]

    assert sum(len(part.testcases) for part in parts) == len(LAB.testcases)
    assert sum(len(part.executions) for part in parts) == len(LAB.executions)


def test_the_shortest_of_two_paths_is_taken() -> None:
    ui = tree(("a", "b"), ("b", "c"), ("c", "d"), ("a", "x"), ("x", "d"))

    path = shortest_path(ui, "a", "d")

    assert path is not None
    assert [edge.target for edge in path] == ["x", "d"]


def test_a_closed_edge_is_avoided() -> None:
    ui = tree(("a", "b"), ("b", "d"), ("a", "d"))
    direct = ui.edges[2]

    path = shortest_path(ui, "a", "d", avoid=[direct])

    assert path is not None
    assert [edge.target for edge in path] == ["b", "d"]


def test_edges_lead_one_way_only() -> None:
    assert shortest_path(tree(("a", "b")), "b", "a") is None


def test_a_node_is_reached_from_itself_without_a_step() -> None:
    assert shortest_path(tree(("a", "b")), "a", "a") == ()
