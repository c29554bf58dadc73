"""Puts the contract on a chain, once, and checks that it is the one that ships with Arena."""

import hashlib
from dataclasses import dataclass
from uuid import uuid4

from arena.chain.artifact import Artifact
from arena.chain.errors import Reverted
from arena.chain.intent import Intent, IntentState, NewTransaction
from arena.chain.node import Node
from arena.chain.outbox import Outbox
from arena.errors import Conflict, InfrastructureError
from arena.market.call import CallKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """A contract on a chain."""

    chain_id: int
    contract: str
    """Its address."""
    transaction_hash: str
    block_number: int
    gas_used: int


async def deploy(
    outbox: Outbox,
    node: Node,
    artifact: Artifact,
    *,
    by: str,
    team_id: str,
    seconds: float,
    is_another: bool = False,
) -> Deployment:
    """Deploy the contract as a party and wait until it is final.

    Repeated, also after a crash, it is the same deployment, unless `is_another`.
    """
    digest = hashlib.sha256(artifact.bytecode).hexdigest()
    name = uuid4().hex if is_another else digest
    intent = await outbox.send(
        NewTransaction(
            team_id=team_id,
            key=CallKey(text=f"deploy {name}", is_internal=True),
            digest=digest,
            action="deploy",
            sender_name=by,
            to=None,
            data=artifact.bytecode,
        )
    )
    done = await outbox.wait(intent.id, seconds=seconds)
    return await _deployed(node, artifact, done)


async def is_deployed(node: Node, address: str, artifact: Artifact) -> bool:
    """Whether the code at an address is that of the artifact; `NoContract` if there is none."""
    return await node.check_contract(address) == artifact.runtime_bytecode


async def _deployed(node: Node, artifact: Artifact, intent: Intent) -> Deployment:
    if intent.error is not None:
        raise intent.error
    if intent.state is not IntentState.FINAL:
        raise InfrastructureError(
            f"the deployment {intent.hash} is {intent.state} and not final yet: run the same "
            "command again to wait for it"
        )
    receipt = await node.receipt(intent.hash)
    if receipt is None or receipt.contract is None:
        raise Reverted(f"the chain no longer has the deployment {intent.hash}")
    if not await is_deployed(node, receipt.contract, artifact):
        raise Conflict(
            f"the code at {receipt.contract} is not that of the contract that ships with Arena: an "
            "earlier version deployed it, or the node is wrong; deploy another with --again"
        )
    return Deployment(
        chain_id=intent.chain_id,
        contract=receipt.contract,
        transaction_hash=intent.hash,
        block_number=receipt.block_number,
        gas_used=receipt.gas_used,
    )
