"""What nodes say when they refuse: geth, Erigon, Nethermind, Besu, reth and anvil differ."""

import re

from arena.chain import answers
from arena.chain.errors import Refusal, Reverted
from arena.chain.rpc import RpcError

METHOD_NOT_FOUND = -32601
INTERNAL_ERROR = -32603
LIMIT_EXCEEDED = -32005
EXECUTION_REVERTED = 3

KNOWN = re.compile(r"(?i)already ?known|already imported|known transaction|already exists")
REFUSALS: tuple[tuple[Refusal, re.Pattern[str]], ...] = (
    (Refusal.NONCE_TOO_LOW, re.compile(r"(?i)nonce (is )?too low|oldnonce|nonce.*already.*used")),
    (Refusal.NO_FUNDS, re.compile(r"(?i)insufficient ?funds|upfront cost|balance too low")),
    (Refusal.UNDERPRICED, re.compile(r"(?i)replacement.*underpriced|replacementnotallowed")),
    (
        Refusal.FEE_TOO_LOW,
        re.compile(r"(?i)underpriced|fee ?too ?low|less than block base fee|below.*(fee|price)"),
    ),
    (
        Refusal.TEMPORARY,
        re.compile(r"(?i)pool is full|limit exceeded|rate limit|too many|timed? ?out|try again"),
    ),
)
REVERTED = re.compile(r"(?i)revert|vm execution error")
NO_PENDING = re.compile(
    r"(?i)pending.*(not|unavailable)|unsupported.*(tag|pending)|(unknown|invalid) block"
)
TOO_MANY_LOGS = re.compile(
    r"(?i)range|limit|too (many|large|big)|more than|exceed|timed? ?out|size"
)


def reverted(error: RpcError) -> Reverted | None:
    """The refusal of a contract in an error; None if it is another error."""
    is_revert = error.code == EXECUTION_REVERTED or REVERTED.search(error.message) is not None
    if not is_revert:
        return None
    returned = answers.revert_data(error.data)
    if returned is not None:
        return Reverted(answers.revert_reason(returned))
    # Without the returned data, the text after the colon is the reason.
    return Reverted(error.message.partition(":")[2].strip())


def refusal(error: RpcError) -> Refusal | None:
    """Why a node does not accept a transaction; None if it has the transaction already."""
    if KNOWN.search(error.message):
        return None
    for why, pattern in REFUSALS:
        if pattern.search(error.message):
            return why
    if error.code in (INTERNAL_ERROR, LIMIT_EXCEEDED):
        return Refusal.TEMPORARY
    return Refusal.INVALID


def lacks_pending(found: object) -> bool:
    """Whether an answer says that the chain has no pending block."""
    return (
        isinstance(found, RpcError)
        and NO_PENDING.search(found.message) is not None
        and reverted(found) is None  # a contract's reason may have any words
    )


def is_too_large(error: RpcError) -> bool:
    """Whether a node refuses to look through so many blocks at once."""
    return TOO_MANY_LOGS.search(error.message) is not None
