"""A signature is valid for one act, once."""

import pytest

from arena.market.errors import BadSignature
from arena.market.signing import Act
from market_desk import TEAM, Desk

DISPUTABLE = {
    "dispute_window_seconds": 60,
    "arbiter": "art",
    "arbiter_window_seconds": 60,
    "bond": 5,
}


async def test_a_dispute_is_signed_for_its_task_and_its_reason(desk: Desk):
    await desk.market.deposit_test_money(TEAM, "solver", 10)
    task_id, other = await desk.submitted(**DISPUTABLE), await desk.submitted(**DISPUTABLE)
    for one in (task_id, other):
        await desk.judge(one, 10)
    good = await desk.proof(Act.DISPUTE, task_id, "solver", "unfair")
    for bad in (
        await desk.proof(Act.DISPUTE, other, "solver", "unfair"),
        await desk.proof(Act.DISPUTE, task_id, "solver", "because"),
        await desk.proof(Act.APPLY, task_id, "solver", "unfair"),
        await desk.proof(Act.DISPUTE, task_id, "rival", "unfair"),
    ):
        with pytest.raises(BadSignature):
            await desk.market.dispute(TEAM, task_id, by="solver", reason_uri="unfair", proof=bad)
    with pytest.raises(BadSignature, match="must sign"):
        await desk.market.dispute(TEAM, task_id, by="solver", reason_uri="unfair")
    assert await desk.market.balance(TEAM, "solver") == 10
    await desk.market.dispute(TEAM, task_id, by="solver", reason_uri="unfair", proof=good)
    assert await desk.market.balance(TEAM, "solver") == 5


async def test_a_registration_that_changed_nothing_cannot_be_sent_again_with_another_version(
    desk: Desk,
):
    public = desk.keys["solver"].public_key
    proof = await desk.proof(Act.REGISTER, None, "solver", public)
    for _ in range(2):  # repeating it does no harm
        await desk.market.register_agent(TEAM, "solver", public, proof)
    with pytest.raises(BadSignature, match="used before"):
        await desk.market.register_agent(TEAM, "solver", public, proof, version="6.6.6")
    assert (await desk.market.agent(TEAM, "solver")).version == "1.0.0"
