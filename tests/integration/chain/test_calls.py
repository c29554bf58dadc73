"""What the contract takes, tells and stores beyond the table of moves."""

import pytest
from eth_utils.crypto import keccak

from arena.chain.artifact import load_artifact
from contract_attacks import ANN, DISPUTABLE, JIM, NOBODY, SOLVER
from contract_chain import ETHER, NO_SALT, START, ZERO, Chain, Log, Reverted, Terms, address_of

EVENTS = {
    "TaskPosted": "*taskId *poster *judge reward terms evaluationCID descriptionCID",
    "Applied": "*taskId *agent version",
    "Assigned": "*taskId *agent by",
    "Committed": "*taskId *agent commitment",
    "ResultSubmitted": "*taskId *agent resultHash language",
    "Judged": "*taskId *judge score winner resultHash reasonURI",
    "Disputed": "*taskId *by bond reasonURI",
    "Resolved": "*taskId *arbiter score reasonURI bondTo",
    "Paid": "*taskId *agent amount score by",
    "Refunded": "*taskId *poster amount score by",
    "Expired": "*taskId hasSubmission toAgent toPoster by",
    "Cancelled": "*taskId *poster amount",
    "Credited": "*who amount",
    "Withdrawn": "*who amount",
}
"""Their fields in order; * is indexed. Whoever reads a chain relies on them."""


@pytest.fixture
def chain() -> Chain:
    return Chain.deployed()


def test_the_events_have_the_fields_that_readers_rely_on():
    found = {
        one["name"]: " ".join(
            f"{'*' if field['indexed'] else ''}{field['name']}" for field in one["inputs"]
        )
        for one in load_artifact().abi
        if one["type"] == "event"
    }
    assert found == EVENTS


@pytest.mark.parametrize("texts", [("", "text"), ("standard", ""), ("", "")])
def test_a_task_needs_a_standard_and_a_description(chain: Chain, texts: tuple[str, str]):
    chain.fund(ANN)
    with pytest.raises(Reverted, match="BadContent"):
        chain.call("postTask", Terms().values(), *texts, by=ANN, value=1)


def test_a_task_needs_a_judge(chain: Chain):
    with pytest.raises(Reverted, match="InvalidInput"):
        chain.posted(Terms(judge=ZERO))


def test_a_result_must_not_be_empty(chain: Chain):
    task_id = chain.assigned()
    with pytest.raises(Reverted, match="BadContent"):
        chain.call("submitResult", task_id, "", "", NO_SALT, by=SOLVER)


def test_a_commitment_must_not_be_zero(chain: Chain):
    task_id = chain.assigned(Terms(commitDeadline=START + 500))
    with pytest.raises(Reverted, match="BadContent"):
        chain.call("commitResult", task_id, NO_SALT, by=SOLVER)


def test_a_text_has_a_limit(chain: Chain):
    task_id = chain.assigned()
    for given in (("r" * 129, ""), ("result", "l" * 51)):
        with pytest.raises(Reverted):
            chain.call("submitResult", task_id, *given, NO_SALT, by=SOLVER)
    chain.call("submitResult", task_id, "r" * 128, "l" * 50, NO_SALT, by=SOLVER)
    with pytest.raises(Reverted):
        chain.call("judgeAndPay", task_id, 1, SOLVER, "r" * 128, "w" * 257, by=JIM)
    chain.call("judgeAndPay", task_id, 1, SOLVER, "r" * 128, "w" * 256, by=JIM)


@pytest.mark.parametrize("sent", [0, DISPUTABLE.bond - 1, DISPUTABLE.bond + 1])
def test_a_dispute_costs_exactly_the_bond(chain: Chain, sent: int):
    task_id = chain.judged(DISPUTABLE, score=10)
    chain.fund(SOLVER)
    with pytest.raises(Reverted, match="InsufficientFunds"):
        chain.call("dispute", task_id, "no", by=SOLVER, value=sent)


def test_the_largest_numbers_are_no_scores(chain: Chain):
    task_id = chain.submitted()
    for score in (101, 2**8, 2**256 - 1):
        with pytest.raises(Reverted, match="BadScore"):
            chain.judge(task_id, score)


def test_a_task_that_does_not_exist_reads_as_zero(chain: Chain):
    view = chain.read("getTask", 1)
    terms = view.pop("terms")
    assert set(map(bytes_or_number, [*view.values(), *terms.values()])) == {0}


def bytes_or_number(value: bytes | int | str) -> int:
    if isinstance(value, bytes):
        return int.from_bytes(value, "big")
    return int(value, 16) if isinstance(value, str) else int(value)


def test_a_view_tells_everything_about_a_task(chain: Chain):
    terms = Terms(
        fallbackJudge=address_of("fay"),
        fallbackWindow=61,
        agentSharePercent=99,
        commitDeadline=START + 500,
        maxApplicants=1000,
        isFirst=True,
        **{name: getattr(DISPUTABLE, name) for name in ("disputeWindow", "arbiter", "bond")},
        arbiterWindow=30 * 86_400,
    )
    task_id = chain.assigned(terms)
    assert chain.read("hasApplied", task_id, SOLVER)
    assert not chain.read("hasApplied", task_id, NOBODY)
    commitment = chain.commitment(task_id, SOLVER, "result", NO_SALT)
    chain.call("commitResult", task_id, commitment, by=SOLVER)
    chain.set_time(START + 501)
    chain.call("submitResult", task_id, "result", "python", NO_SALT, by=SOLVER)
    chain.set_time(START + 502)
    chain.judge(task_id, 59)
    chain.set_time(START + 503)
    chain.fund(SOLVER)
    chain.call("dispute", task_id, "no", by=SOLVER, value=terms.bond)
    assert chain.read("getTask", task_id) == {
        "terms": dict(zip(terms.__dataclass_fields__, terms.values(), strict=True)),
        "poster": ANN,
        "reward": ETHER,
        "state": 6,
        "agent": SOLVER,
        "applicantCount": 1,
        "submittedAt": START + 501,
        "judgedAt": START + 502,
        "disputedAt": START + 503,
        "score": 59,
        "disputer": SOLVER,
        "evaluationDigest": keccak(text="standard"),
        "resultDigest": keccak(text="result"),
        "commitment": commitment,
    }
    assert (chain.read("taskCount"), chain.read("held")) == (1, ETHER + terms.bond)


def test_a_verdict_that_pays_is_told_in_order(chain: Chain):
    task_id = chain.submitted()
    assert chain.judge(task_id, 60).logs == [
        Log(
            name="Judged",
            values={
                "taskId": task_id,
                "judge": JIM,
                "score": 60,
                "winner": SOLVER,
                "resultHash": "result",
                "reasonURI": "why",
            },
        ),
        Log(
            name="Paid",
            values={"taskId": task_id, "agent": SOLVER, "amount": ETHER, "score": 60, "by": JIM},
        ),
    ]


def test_the_tasks_of_one_contract_do_not_touch_each_other(chain: Chain):
    first, second = chain.submitted(), chain.submitted()
    chain.judge(first, 0)
    assert [chain.read("getTask", one)["state"] for one in (first, second)] == [8, 4]
    assert chain.read("held") == ETHER
    chain.judge(second, 100)
    assert chain.balance(SOLVER) == chain.balance(ANN) == ETHER
