"""Agents in the market: keys, signatures and replay, on both databases."""

import base64
from dataclasses import replace
from typing import Any

import pytest

from arena.content.tree import cid_of
from arena.errors import Conflict, InvalidInput, NotFound
from arena.market.errors import BadSignature
from arena.market.signing import Act, Proof, Signer
from market_desk import TEAM, Desk


async def test_registering_again_with_the_same_key_renews_the_version(desk: Desk):
    await desk.register("solver")
    await desk.register("solver", version="1.1.0")
    agent = await desk.market.agent(TEAM, "solver")
    assert (agent.version, agent.public_key) == (
        "1.1.0",
        desk.keys["solver"].public_key,
    )
    kinds = [event.why for event in await desk.market.events(TEAM) if event.who == "solver"]
    assert kinds == ["registered", "renewed"]


async def test_another_key_cannot_take_an_agents_name(desk: Desk):
    desk.keys["solver"] = Signer.new("solver")
    with pytest.raises(Conflict, match="another key"):
        await desk.register("solver")


async def test_an_agent_must_hold_the_key_it_registers(desk: Desk):
    stolen = desk.keys["rival"].public_key
    desk.keys["thief"] = Signer.new("thief")
    proof = await desk.proof(Act.REGISTER, None, "thief", stolen)
    with pytest.raises(BadSignature):
        await desk.market.register_agent(TEAM, "thief", stolen, proof)


@pytest.mark.parametrize("key", ["", "no base64!", base64.b64encode(b"short").decode(), "é"])
async def test_a_public_key_is_32_bytes(desk: Desk, key: str):
    proof = await desk.proof(Act.REGISTER, None, "solver", key)
    with pytest.raises(InvalidInput, match="32 bytes"):
        await desk.market.register_agent(TEAM, "solver", key, proof)


@pytest.mark.parametrize("name", ["", "Solver", "a b", "../etc", "x" * 101, "anyone", 5, None])
async def test_an_agent_has_a_plain_name(desk: Desk, name: Any):
    proof = await desk.proof(Act.APPLY, 1, "solver")
    with pytest.raises(InvalidInput):
        await desk.market.apply(TEAM, 1, name, proof)


async def test_an_unregistered_agent_cannot_apply(desk: Desk):
    desk.keys["ghost"] = Signer.new("ghost")
    with pytest.raises(NotFound, match="register it first"):
        await desk.apply(await desk.post(), "ghost")


async def test_a_signature_is_valid_once(desk: Desk):
    first, second = await desk.post(), await desk.post()
    proof = await desk.proof(Act.APPLY, first, "solver")
    await desk.market.apply(TEAM, first, "solver", proof)
    with pytest.raises(BadSignature):  # signed for another task
        await desk.market.apply(TEAM, second, "solver", proof)
    other = replace(await desk.proof(Act.APPLY, second, "solver"), nonce=proof.nonce)
    with pytest.raises(BadSignature):  # the nonce is signed, too
        await desk.market.apply(TEAM, second, "solver", other)


async def test_a_nonce_cannot_be_signed_twice(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("arena.market.signing.secrets.token_hex", lambda _: "the-same")
    first, second = await desk.post(), await desk.post()
    await desk.apply(first)
    with pytest.raises(BadSignature, match="used before"):
        await desk.apply(second)


async def test_a_signature_is_valid_for_a_short_time(desk: Desk):
    task_id = await desk.post()
    proof = await desk.proof(Act.APPLY, task_id, "solver", seconds=300)
    desk.wait(300)
    with pytest.raises(BadSignature, match="expired"):
        await desk.market.apply(TEAM, task_id, "solver", proof)
    long = await desk.proof(Act.APPLY, task_id, "solver", seconds=86_401)
    with pytest.raises(BadSignature, match="at most"):
        await desk.market.apply(TEAM, task_id, "solver", long)
    late = await desk.proof(Act.APPLY, task_id, "solver", seconds=300)
    desk.wait(299)
    await desk.market.apply(TEAM, task_id, "solver", late)


@pytest.mark.parametrize(
    "changes",
    [
        {"market": "another"},
        {"act": Act.COMMIT},
        {"task_id": 999},
        {"agent": "rival"},
        {"content": "bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku"},
    ],
    ids=str,
)
async def test_a_signature_for_anything_else_is_refused(desk: Desk, changes: dict[str, Any]):
    task_id = await desk.post()
    await desk.apply(task_id)
    await desk.assign(task_id)
    right = {
        "market": await desk.market.market_id(TEAM),
        "act": Act.SUBMIT,
        "task_id": task_id,
        "agent": "solver",
        "content": cid_of(b"x"),
    }

    def signed(*, agent: str, **statement: Any) -> Proof:
        return Signer(agent, desk.keys["solver"]._key).prove(**statement)

    proof = signed(**{**right, **changes})
    with pytest.raises(BadSignature):
        await desk.market.submit_result(TEAM, task_id, "solver", b"x", proof)
    good = signed(**right)
    for bad in ("", "!!", "AAAA", good.signature[:-4] + "AAA="):
        with pytest.raises(BadSignature):
            forged = replace(good, signature=bad)
            await desk.market.submit_result(TEAM, task_id, "solver", b"x", forged)
    await desk.market.submit_result(TEAM, task_id, "solver", b"x", good)


@pytest.mark.parametrize(
    "changes",
    [
        {"nonce": ""},
        {"nonce": "x" * 65},
        {"nonce": "nul\0"},
        {"nonce": "\ud800"},
        {"expires_at": 10**400},
        {"expires_at": -(10**400)},
        {"signature": "é"},
    ],
    ids=str,
)
async def test_a_malformed_proof_is_refused(desk: Desk, changes: dict[str, Any]):
    task_id = await desk.post()
    proof = replace(await desk.proof(Act.APPLY, task_id, "solver"), **changes)
    with pytest.raises(BadSignature):
        await desk.market.apply(TEAM, task_id, "solver", proof)


async def test_the_version_that_applied_is_the_one_that_counts(desk: Desk):
    task_id = await desk.post()
    await desk.apply(task_id)
    await desk.register("solver", version="2.0.0")
    await desk.assign(task_id)
    assert (await desk.market.task(TEAM, task_id)).agent_version == "1.0.0"
