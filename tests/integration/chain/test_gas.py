"""What each call costs on a chain. The figures are exact: a change of the contract changes them.

`ARENA_TEST_WRITE_GAS=1 pytest tests/integration/chain/test_gas.py` writes the new ones.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from arena.chain.artifact import load_artifact
from contract_attacks import ANN, DISPUTABLE, JIM, NOBODY, REFUSING, SOLVER
from contract_chain import ETHER, NO_SALT, START, Chain, Terms, address_of, intrinsic

SNAPSHOT = Path(__file__).parents[2] / "fixtures" / "gas.json"
CID = "bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e"
REASON = f"ipfs://{CID}"
FULL = Terms(
    **{
        **vars(DISPUTABLE),
        "fallbackJudge": address_of("fay"),
        "fallbackWindow": 60,
        "agentSharePercent": 50,
        "commitDeadline": START + 500,
    }
)
SPLIT = Terms(agentSharePercent=50)
LIMITS = {
    "deployment": 4_000_000,
    "post, plain": 230_000,
    "post, with everything": 230_000,
    "submit": 95_000,
    "submit, relayed": 110_000,
    "judge, pays": 150_000,
    "judge, refunds": 150_000,
}


class Meter:
    """Makes calls with the texts of real tasks, and notes what they cost."""

    def __init__(self) -> None:
        self.chain = Chain.deployed()
        used = self.chain.deployment.get_gas_used()
        self.found = {"deployment": used + intrinsic(load_artifact().bytecode, is_creation=True)}
        for who in (ANN, SOLVER, JIM, NOBODY):
            self.chain.fund(who)
        self.chain.posted()  # the first task of a contract pays for its counters

    def made(self, label: str, name: str, *given: Any, by: str, value: int = 0) -> Any:
        """Make the call; a label that is noted already is not noted again."""
        done = self.chain.call(name, *given, by=by, value=value)
        self.found.setdefault(label, done.gas)
        return done.value

    def posted(self, terms: Terms, label: str) -> int:
        return self.made(label, "postTask", terms.values(), CID, CID, by=ANN, value=ETHER)

    def submitted(self, terms: Terms, label: str = "post, plain") -> int:
        task_id = self.posted(terms, label)
        self.made("apply", "applyForTask", task_id, "1.0.0", by=SOLVER)
        self.made("assign", "assignTask", task_id, SOLVER, by=ANN)
        self.made("submit", "submitResult", task_id, CID, "python", NO_SALT, by=SOLVER)
        return task_id

    def judged(self, score: int, label: str) -> int:
        task_id = self.submitted(Terms())
        self.made(label, "judgeAndPay", task_id, score, SOLVER, CID, REASON, by=JIM)
        return task_id

    def disputable(self, score: int) -> int:
        task_id = self.submitted(DISPUTABLE, "post, disputable")
        given = (task_id, score, SOLVER, CID, REASON)
        self.made("judge, disputable", "judgeAndPay", *given, by=JIM)
        return task_id

    def disputed(self) -> int:
        task_id = self.disputable(10)
        self.made("dispute", "dispute", task_id, REASON, by=SOLVER, value=DISPUTABLE.bond)
        return task_id

    def relayed(self) -> None:
        """The calls that a relay makes for an agent."""
        chain, expires = self.chain, START + 9
        committing = Terms(commitDeadline=START + 500)
        for label, kind, name, content, salt, task_id in (
            ("apply, relayed", "Apply", "applyForTask", ("1.0.0",), (), chain.posted()),
            (
                "commit, relayed",
                "Commit",
                "commitResult",
                (b"\x07" * 32,),
                (),
                chain.assigned(committing),
            ),
            (
                "submit, relayed",
                "Submit",
                "submitResult",
                (CID, "python"),
                (NO_SALT,),
                chain.assigned(),
            ),
        ):
            signed = chain.signature(kind, "solver", task_id, SOLVER, *content, expires=expires)
            given = (task_id, SOLVER, *content, *salt, expires, signed)
            self.made(label, f"{name}Signed", *given, by=NOBODY)


def measured() -> dict[str, int]:
    """The gas of each call, on a chain that is in use."""
    meter = Meter()
    meter.judged(90, "judge, pays")
    meter.judged(10, "judge, refunds")
    meter.posted(FULL, "post, with everything")
    meter.made("cancel", "cancelTask", meter.posted(Terms(), "post, plain"), by=ANN)
    meter.made("resolve", "resolve", meter.disputed(), 90, REASON, by=DISPUTABLE.arbiter)
    meter.relayed()
    disputed, judged = meter.disputed(), meter.disputable(90)
    split, unsubmitted = meter.submitted(SPLIT), meter.posted(Terms(), "post, plain")
    meter.chain.env.set_code(SOLVER, REFUSING["reverts"])
    meter.judged(90, "judge, credits")
    meter.chain.env.set_code(SOLVER, b"")
    meter.made("withdraw", "withdraw", by=SOLVER)
    meter.chain.set_time(START + 1000)
    meter.made("settle, disputed", "settle", disputed, by=NOBODY)
    meter.made("settle", "settle", judged, by=NOBODY)
    meter.made("expire, split", "expire", split, by=NOBODY)
    meter.made("expire", "expire", unsubmitted, by=NOBODY)
    return dict(sorted(meter.found.items()))


@pytest.fixture(scope="module")
def gas() -> dict[str, int]:
    return measured()


def test_no_call_costs_more_or_less_than_before(gas: dict[str, int]):
    if os.environ.get("ARENA_TEST_WRITE_GAS"):
        SNAPSHOT.write_text(json.dumps(gas, indent=2) + "\n")
    assert gas == json.loads(SNAPSHOT.read_text()), (
        "if this is intended: ARENA_TEST_WRITE_GAS=1 pytest tests/integration/chain/test_gas.py"
    )


@pytest.mark.parametrize("call", LIMITS)
def test_a_call_stays_within_its_limit(gas: dict[str, int], call: str):
    assert gas[call] <= LIMITS[call]


def test_the_figures_are_the_same_every_time(gas: dict[str, int]):
    assert measured() == gas
