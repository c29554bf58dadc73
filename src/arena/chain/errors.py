"""Why something on the chain failed: the node, the configuration, the fees, or the contract.

InfrastructureError
├── NodeUnreachable          no usable answer; may be retried
├── Refused                  the node does not accept a transaction
├── FeeTooHigh               the chain is too expensive now; may be retried
└── MissingLibrary           the extra `chain` is not installed
CallerError
├── WrongChain               the node serves another chain than the configured one
├── NoContract               there is no contract at that address
├── UnknownBlock             the chain has no such block
├── MissingKey               the private key of a party is not on this machine
├── NoFunds                  the account cannot pay the amount and the fee
└── Reverted                 the contract refused, for a reason that is no error of the market
"""

from enum import StrEnum

from arena.chain.wei import in_coins
from arena.errors import (
    CallerError,
    Conflict,
    Forbidden,
    InfrastructureError,
    InvalidInput,
    NotFound,
)
from arena.market import errors as market
from arena.market.wallets import MissingLibrary as MissingLibrary
from arena.market.wallets import chain_libraries as chain_libraries

MARKET_ERRORS: dict[str, type[CallerError]] = {
    one.__name__: one
    for one in (
        market.UnknownTask,
        market.WrongState,
        market.WrongRole,
        market.TooEarly,
        market.TooLate,
        market.BadScore,
        market.BadContent,
        market.BadSignature,
        market.InsufficientFunds,
        InvalidInput,
    )
}
"""The contract's reasons are the names of these classes."""


class NodeUnreachable(InfrastructureError):
    """The chain's node gives no usable answer."""

    code = "node_unreachable"


class WrongChain(Conflict):
    """The node serves another chain than the configured one."""

    code = "wrong_chain"


class NoContract(NotFound):
    """There is no contract at that address."""

    code = "no_contract"


class UnknownBlock(NotFound):
    """The chain has no such block."""

    code = "unknown_block"


class MissingKey(Forbidden):
    """The private key of that party is not on this machine."""

    code = "missing_key"


class FeeTooHigh(InfrastructureError):
    """The chain's fee is above the configured limit."""

    code = "fee_too_high"


class NoFunds(market.InsufficientFunds):
    """The account cannot pay the amount and the fee."""

    @classmethod
    def of(cls, address: str, *, has: int, needs: int, currency: str) -> "NoFunds":
        """The error of an account that has too little, in wei; `needs` includes the fee."""
        return cls(
            f"{address} has {in_coins(has)} {currency}, up to {in_coins(needs)} {currency} are "
            f"needed, the fee for gas included: send it {currency} and try again"
        )


class Refusal(StrEnum):
    """Why a node does not accept a transaction."""

    NONCE_TOO_LOW = "nonce_too_low"
    """The account has used this nonce already: by this transaction or by another one."""
    NO_FUNDS = "no_funds"
    FEE_TOO_LOW = "fee_too_low"
    UNDERPRICED = "underpriced"
    """The node holds another transaction with this nonce, which pays as much or more."""
    INVALID = "invalid"
    """The node will never accept it."""
    TEMPORARY = "temporary"
    """The node could not decide: it is overloaded, throttles, or has an internal error."""


class Refused(InfrastructureError):
    """The node does not accept the transaction."""

    code = "transaction_refused"

    def __init__(self, why: Refusal, message: str) -> None:
        super().__init__(message, retryable=why is not Refusal.INVALID)
        self.why = why


class Reverted(Conflict):
    """The contract refused the call."""

    code = "reverted"

    def __init__(self, reason: str) -> None:
        super().__init__(f"the contract refused: {reason or 'no reason was given'}")
        self.reason = reason


def refusal_of(reason: str | None, what: str) -> CallerError:
    """The market's error for a contract's reason; `what` names the call, like `judge of task 7`."""
    kind = MARKET_ERRORS.get(reason or "")
    if kind is None:
        error = Reverted(reason or "")
        error.message = f"{what}: {error.message}"
        error.args = (error.message,)
        return error
    return kind(f"{what}: {_sentence(kind)} (the contract: {reason})")


def _sentence(kind: type[CallerError]) -> str:
    """The default message of an error, in the middle of another."""
    text = (kind.__doc__ or "").strip().splitlines()[0].rstrip(".")
    return text[:1].lower() + text[1:]
