"""What the chain says about a transaction, as changes of its row."""

from datetime import timedelta

from arena import clock
from arena.chain.answers import TransactionReceipt
from arena.chain.intent import Intent, IntentState
from arena.chain.node import Progress

STUCK_BLOCKS = 3
"""A transaction that this many blocks have left out pays too little."""
NOT_MINED: dict[str, object] = {
    "transaction_hash": None,
    "block_number": None,
    "block_hash": None,
    "gas_used": None,
    "is_reverted": None,
    "reason": None,
}


def receipt_of(intent: Intent, progress: Progress) -> TransactionReceipt | None:
    """The receipt of whichever attempt is mined."""
    found = (progress.receipts.get(one.hash) for one in intent.attempts)
    return next((one for one in found if one is not None), None)


def observed(intent: Intent, progress: Progress, confirmations: int) -> dict[str, object]:
    """The columns that change; none if the row is up to date."""
    receipt = receipt_of(intent, progress)
    if receipt is not None:
        now = _mined(receipt, progress.fees.block_number, confirmations)
    else:
        now = _not_mined(intent, progress, confirmations)
    return {name: value for name, value in now.items() if getattr(intent, name) != value}


def _mined(receipt: TransactionReceipt, head: int, confirmations: int) -> dict[str, object]:
    depth = head - receipt.block_number + 1
    state = IntentState.MINED
    # A revert too is certain only then: in another block the same transaction may succeed.
    if depth >= confirmations:
        state = IntentState.FAILED if receipt.is_reverted else IntentState.FINAL
    now: dict[str, object] = {
        "state": state,
        "transaction_hash": receipt.transaction_hash,
        "block_number": receipt.block_number,
        "block_hash": receipt.block_hash,
        "gas_used": receipt.gas_used,
        "is_reverted": receipt.is_reverted,
        "passed_block": None,
    }
    return now if receipt.is_reverted else {**now, "reason": None}


def _not_mined(intent: Intent, progress: Progress, confirmations: int) -> dict[str, object]:
    now: dict[str, object] = {}
    if intent.state is IntentState.MINED:
        now = {**NOT_MINED, "state": IntentState.SENT}  # its block was reorganised away
    elif intent.state is IntentState.WRITTEN and is_known(intent, progress):
        now = {"state": IntentState.SENT, "reason": None}
    if not is_passed(intent, progress):
        return now | {"passed_block": None}
    # Its nonce is used, but by none of its attempts. That is not believed at once: a node may learn
    # of a block before it has its receipts, and the block may be reorganised away.
    head, since = progress.fees.block_number, intent.passed_block
    if since is None or since > head:
        return now | {"passed_block": head}
    if head - since + 1 < confirmations:
        return now
    return now | {
        "state": IntentState.FAILED,
        "reason": f"another transaction of {intent.sender} has used its nonce {intent.nonce}: its "
        "key is in use elsewhere",
    }


def is_known(intent: Intent, progress: Progress) -> bool:
    """Whether the node has any of the attempts."""
    return any(one.hash in progress.known for one in intent.attempts)


def is_passed(intent: Intent, progress: Progress) -> bool:
    """Whether the nonce is used: no attempt that is not mined will be."""
    return progress.counts[intent.sender] > intent.nonce


def is_stuck(intent: Intent, progress: Progress, stuck_seconds: float) -> bool:
    """Whether the transaction is next in turn, and block after block leaves it out."""
    return (
        progress.counts[intent.sender] == intent.nonce
        and progress.fees.block_number - intent.last.block_number >= STUCK_BLOCKS
        and is_old(intent, stuck_seconds)
    )


def is_old(intent: Intent, seconds: float) -> bool:
    """Whether the newest attempt has had this long."""
    return clock.now() - intent.last.created_at >= timedelta(seconds=seconds)
