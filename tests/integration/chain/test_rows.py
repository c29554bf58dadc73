"""Every row of the table of moves: on the embedded ledger, the contract, and a real node."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from contract_world import ContractWorld
from evm_world import EvmWorld
from market_rows import (
    ACTIONS,
    REFUSALS,
    RIGHTFUL,
    ROWS,
    STATES,
    TERMS_ACCEPTED,
    TERMS_REFUSED,
    Refusal,
    Row,
)
from market_stage import Stage, check_refusal, check_roles, check_state, check_window
from market_world import World


@pytest.fixture(scope="module", params=["embedded", "contract"])
def world(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Any]:
    if request.param == "contract":
        yield ContractWorld()
        return
    folder: Path = tmp_path_factory.mktemp("rows")
    opened = World(f"sqlite+aiosqlite:///{folder / 'arena.db'}", folder / "content")
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def node_world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EvmWorld]:
    folder: Path = tmp_path_factory.mktemp("node")
    opened = EvmWorld(folder, f"sqlite+aiosqlite:///{folder / 'arena.db'}")
    yield opened
    opened.close()


def terms_id(terms: object) -> str | None:
    return str(dict(terms)) if isinstance(terms, Mapping) else None


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_a_move_is_possible_exactly_within_its_window(world: Any, row: Row):
    check_window(world, row)


# One case of each row: the contract behind the node is the one that has passed all of them.
@pytest.mark.parametrize("row", {row.row: row for row in ROWS}.values(), ids=str)
def test_a_move_is_possible_exactly_within_its_window_on_a_node(node_world: EvmWorld, row: Row):
    check_window(node_world, row)


@pytest.mark.parametrize("row", [row for row in ROWS if row.strangers], ids=str)
def test_a_move_is_only_for_its_role(world: Any, row: Row):
    check_roles(world, row)


@pytest.mark.parametrize("name", STATES)
def test_a_state_has_no_other_moves(world: Any, name: str):
    check_state(world, name)


@pytest.mark.parametrize("refusal", REFUSALS, ids=str)
def test_a_call_with_a_flaw_is_refused(world: Any, refusal: Refusal):
    check_refusal(world, refusal)


@pytest.mark.parametrize("action", ACTIONS)
def test_a_task_that_does_not_exist_is_unknown(world: Any, action: str):
    stage = Stage(world)
    stage.reach({}, [])
    for number in (0, 2):
        assert stage.do(action, number, RIGHTFUL[action]) == "UnknownTask"


@pytest.mark.parametrize(("terms", "error"), TERMS_REFUSED, ids=terms_id)
def test_bad_terms_are_refused(world: Any, terms: Mapping[str, Any], error: str):
    stage = Stage(world)
    before = stage.money()
    assert stage.post(terms) == (0, error)
    assert stage.money() == before


@pytest.mark.parametrize("terms", TERMS_ACCEPTED, ids=terms_id)
def test_terms_at_their_limits_are_accepted(world: Any, terms: Mapping[str, Any]):
    stage = Stage(world)
    number, error = stage.post(terms)
    assert (number, error) == (1, None)
    assert stage.state(number) == "open"
    stage.audit()


def test_a_stranger_cannot_judge_a_submitted_task(world: Any):
    """Named in the specification: only random callers had tried it before."""
    (row,) = (
        one for one in ROWS if one.row == 11 and one.by == "jim" and one.args == {"score": 100}
    )
    stage = Stage(world)
    number = stage.reach(row.terms, row.path)
    assert stage.do("judge", number, "nobody", score=100) == "WrongRole"
    assert stage.state(number) == "submitted"
    assert stage.do("judge", number, "jim", score=100) is None


def test_every_row_of_the_table_has_a_case():
    assert {row.row for row in ROWS} == set(range(2, 19))
