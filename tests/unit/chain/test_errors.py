import pytest

from arena.chain.errors import (
    MARKET_ERRORS,
    MissingLibrary,
    Refusal,
    Reverted,
    chain_libraries,
    refusal_of,
)
from arena.chain.refusals import refusal, reverted
from arena.chain.rpc import RpcError, shown_url
from arena.errors import CallerError
from arena.market.errors import WrongState


def error_string(text: str) -> str:
    body = text.encode()
    padded = body.ljust(-(-len(body) // 32) * 32, b"\0")
    return "0x08c379a0" + (32).to_bytes(32).hex() + len(body).to_bytes(32).hex() + padded.hex()


@pytest.mark.parametrize(
    ("code", "message", "data", "reason"),
    [
        (3, "execution reverted: TooLate", error_string("TooLate"), "TooLate"),  # geth, anvil, reth
        (-32000, "execution reverted: TooLate", None, "TooLate"),  # without the data
        (-32015, "VM execution error.", f"Reverted {error_string('TooLate')}", "TooLate"),
        (-32000, "Execution reverted", error_string("TooLate"), "TooLate"),  # Besu
        (-32603, "reverted with 'x'", {"data": error_string("TooLate")}, "TooLate"),  # hardhat
        (3, "execution reverted", "0x", ""),  # no reason
        (3, "execution reverted", error_string("a\0\x1b[1mb"), "a\ufffd\ufffd[1mb"),
        (3, "execution reverted", "0x4e487b71" + "00" * 31 + "11", "Panic(0x11)"),
        (3, "execution reverted", "0x01020304" + "00" * 32, "0x01020304" + "00" * 32),
        (3, "execution reverted", "0x08c379a0" + "ff" * 64, ""),  # a length that cannot be
    ],
)
def test_the_reason_of_a_revert(code: int, message: str, data: object, reason: str):
    found = reverted(RpcError(code, message, data))
    assert found is not None
    assert found.reason == reason


def test_another_error_is_no_revert():
    assert reverted(RpcError(-32000, "header not found")) is None


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("already known", None),  # geth
        ("AlreadyKnown", None),  # Nethermind
        ("transaction already imported", None),  # anvil
        ("Known transaction", None),  # Besu
        ("nonce too low: next nonce 3, tx nonce 1", Refusal.NONCE_TOO_LOW),
        ("OldNonce, Current nonce: 3, nonce of rejected tx: 1", Refusal.NONCE_TOO_LOW),
        ("Nonce too low", Refusal.NONCE_TOO_LOW),
        ("insufficient funds for gas * price + value: balance 0", Refusal.NO_FUNDS),
        ("InsufficientFunds, Account balance: 0", Refusal.NO_FUNDS),
        ("Upfront cost exceeds account balance", Refusal.NO_FUNDS),
        ("replacement transaction underpriced", Refusal.UNDERPRICED),
        ("ReplacementNotAllowed", Refusal.UNDERPRICED),
        ("transaction underpriced: gas tip cap 0, minimum needed 1", Refusal.FEE_TOO_LOW),
        ("FeeTooLow, EffectivePriorityFeePerGas too low 0 < 1", Refusal.FEE_TOO_LOW),
        ("max fee per gas less than block base fee", Refusal.FEE_TOO_LOW),
        ("txpool is full", Refusal.TEMPORARY),
        ("request limit exceeded", Refusal.TEMPORARY),
        ("intrinsic gas too low", Refusal.INVALID),
        ("invalid chain id for signer", Refusal.INVALID),
    ],
)
def test_why_a_node_refuses_a_transaction(message: str, expected: Refusal | None):
    assert refusal(RpcError(-32000, message)) is expected


def test_an_internal_error_decides_nothing():
    assert refusal(RpcError(-32603, "oops")) is Refusal.TEMPORARY


def test_every_reason_of_the_contract_is_an_error_of_the_market():
    assert set(MARKET_ERRORS) == {
        "UnknownTask",
        "WrongState",
        "WrongRole",
        "TooEarly",
        "TooLate",
        "BadScore",
        "BadContent",
        "BadSignature",
        "InsufficientFunds",
        "InvalidInput",
    }
    found = refusal_of("WrongState", "judge of task 7")
    assert type(found) is WrongState
    assert found.message == (
        "judge of task 7: the move is not possible in the task's state (the contract: WrongState)"
    )


@pytest.mark.parametrize("reason", ["Panic(0x11)", "", None])
def test_another_reason_is_shown_as_it_is(reason: str | None):
    found = refusal_of(reason, "judge of task 7")
    assert isinstance(found, Reverted)
    assert isinstance(found, CallerError)
    assert str(found) == found.message
    assert found.message.startswith("judge of task 7: the contract refused: ")
    assert (reason or "no reason was given") in found.message


def test_a_missing_library_says_what_to_install():
    with pytest.raises(MissingLibrary, match=r"pip install 'agent-arena\[chain\]'"):  # noqa: SIM117
        with chain_libraries():
            raise ModuleNotFoundError("No module named 'eth_account'", name="eth_account")


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://mainnet.example.io/v3/0123456789abcdef", "https://mainnet.example.io"),
        ("https://user:secret@node.example.io:8545/", "https://node.example.io:8545"),
        ("http://[::1]:8545/key?token=secret", "http://[::1]:8545"),
        ("http://[::1/secret", "(an invalid address)"),
    ],
)
def test_an_address_is_shown_without_its_secrets(url: str, shown: str):
    assert shown_url(url) == shown
