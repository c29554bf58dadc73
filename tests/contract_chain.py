"""The contract on an EVM in this process: calls, time, balances, gas and signatures.

titanoboa is used for its EVM only: a contract is deployed from its ABI and bytecode, so the tests
run what ships, and mutants compiled by a test run in the same way.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from boa.environment import Env
from eth_abi.abi import decode, encode
from eth_abi.exceptions import DecodingError
from eth_account import Account
from eth_account.signers.local import LocalAccount
from eth_utils.abi import (
    event_abi_to_log_topic,
    function_abi_to_4byte_selector,
    get_abi_input_types,
    get_abi_output_types,
)
from eth_utils.address import to_checksum_address
from eth_utils.crypto import keccak

from arena.chain.artifact import load_artifact

CHAIN_ID = 31_337
ETHER = 10**18
ZERO = "0x" + "00" * 20
NO_SALT = b"\0" * 32
START = 1_772_366_400
"""The time at which a chain begins: 2026-03-01 12:00 UTC."""
ERROR = bytes.fromhex("08c379a0")
"""The selector of Error(string): a revert with a reason."""

TYPES = {
    "Apply": "uint256 taskId,address agent,string version,uint256 expires",
    "Commit": "uint256 taskId,address agent,bytes32 commitment,uint256 expires",
    "Submit": "uint256 taskId,address agent,string resultHash,string language,uint256 expires",
    "Dispute": "uint256 taskId,address agent,string reasonURI,uint256 expires",
}
"""What an agent signs (EIP-712)."""


class Reverted(Exception):
    """The contract refused a call; the message is its reason."""


@dataclass(frozen=True, kw_only=True)
class Log:
    """A decoded event."""

    name: str
    values: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Done:
    """A call that succeeded."""

    value: Any
    logs: Sequence[Log]
    gas: int
    """Of the whole transaction, as a chain would charge it."""
    computation: Any
    """The EVM's own record, with the calls that were made inside."""


@dataclass(frozen=True, kw_only=True)
class Terms:
    """The terms of a task, with the names of the contract and short defaults."""

    deadline: int = START + 1000
    judge: str = field(default_factory=lambda: address_of("jim"))
    judgeWindow: int = 100
    fallbackJudge: str = ZERO
    fallbackWindow: int = 0
    agentSharePercent: int = 0
    disputeWindow: int = 0
    arbiter: str = ZERO
    arbiterWindow: int = 0
    bond: int = 0
    commitDeadline: int = 0
    maxApplicants: int = 100
    isSelfJudged: bool = False
    isFirst: bool = False

    def values(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self.__dataclass_fields__)


@cache
def account_of(name: str) -> LocalAccount:
    """The same key for the same name, every time."""
    return Account.from_key(keccak(text=name))


@cache
def address_of(name: str) -> str:
    return account_of(name).address


class Chain:
    """One contract on a chain of its own."""

    def __init__(self, abi: Sequence[Mapping[str, Any]], bytecode: bytes) -> None:
        self.env = untraced(Env())
        self.functions = {one["name"]: one for one in abi if one["type"] == "function"}
        self.events = {event_abi_to_log_topic(one): one for one in abi if one["type"] == "event"}
        self._read: dict[bytes, Any] = {}
        """What views returned since the last call that changed something; no view has a clock."""
        self.set_time(START)
        self.set_chain_id(CHAIN_ID)
        made, self.deployment = self.env.deploy(
            bytecode=bytecode,
            sender=address_of("deployer"),  # always at the same address
        )
        if self.deployment.is_error:
            raise self.deployment.error
        self.address = str(made)

    @classmethod
    def deployed(cls) -> "Chain":
        """With the contract that ships."""
        artifact = load_artifact()
        return cls(artifact.abi, artifact.bytecode)

    # Calls.

    def call(
        self,
        name: str,
        *given: Any,
        by: str,
        value: int = 0,
        gas: int = 10_000_000,
        is_trial: bool = False,
    ) -> Done:
        """A transaction by this address; `Reverted` if it is refused. A trial changes nothing."""
        data = self.data(name, *given)
        self.new_transaction(by, self.address)
        made = self.env.execute_code(
            to_address=self.address,
            sender=by,
            value=value,
            data=data,
            gas=gas - intrinsic(data),
            simulate=is_trial,
        )
        if made.is_error:
            raise Reverted(reason_of(made.output))
        self._read.clear()
        used = intrinsic(data) + made.get_gas_used()
        return Done(
            value=self._output(name, made.output),
            logs=[self.log(*entry[1:]) for entry in made.get_log_entries() if self._is_mine(entry)],
            # A chain gives back at most a fifth of the gas.
            gas=used - min(made.get_gas_refund(), used // 5),
            computation=made,
        )

    def read(self, name: str, *given: Any) -> Any:
        """What a view returns."""
        data = self.data(name, *given)
        if data not in self._read:
            made = self.env.execute_code(to_address=self.address, data=data, is_modifying=False)
            if made.is_error:
                raise Reverted(reason_of(made.output))
            self._read[data] = self._output(name, made.output)
        return self._read[data]

    def data(self, name: str, *given: Any) -> bytes:
        """The bytes of a call."""
        function: Any = self.functions[name]
        return function_abi_to_4byte_selector(function) + encode(
            get_abi_input_types(function), given
        )

    def _output(self, name: str, output: bytes) -> Any:
        function: Any = self.functions[name]
        values = decode(get_abi_output_types(function), output)
        if not values:
            return None
        (shape,), (value,) = function["outputs"], values
        return named(shape, value)

    def _is_mine(self, entry: Any) -> bool:
        return to_checksum_address(entry[0]) == self.address

    def log(self, topics: Sequence[int], data: bytes) -> Log:
        event: Any = self.events[topics[0].to_bytes(32, "big")]
        indexed = [one for one in event["inputs"] if one["indexed"]]
        others = [one for one in event["inputs"] if not one["indexed"]]
        values = {
            one["name"]: named(one, decode([one["type"]], topic.to_bytes(32, "big"))[0])
            for one, topic in zip(indexed, topics[1:], strict=True)
        }
        types = get_abi_input_types({**event, "type": "function", "inputs": others})
        values |= {
            one["name"]: named(one, value)
            for one, value in zip(others, decode(types, data), strict=True)
        }
        return Log(name=event["name"], values=values)

    # The chain.

    @property
    def now(self) -> int:
        return self.env.evm.patch.timestamp

    def set_time(self, seconds: int) -> None:
        self.env.evm.patch.timestamp = seconds

    @property
    def chain_id(self) -> int:
        return self.env.evm.patch.chain_id

    def set_chain_id(self, chain_id: int) -> None:
        self.env.evm.patch.chain_id = chain_id
        self._read.clear()

    def balance(self, who: str) -> int:
        return self.env.get_balance(who)

    def fund(self, who: str, amount: int = 100 * ETHER) -> None:
        self.env.set_balance(who, self.balance(who) + amount)

    def new_transaction(self, *warm: str) -> None:
        """Forget what the last transaction touched: the next one pays for its first access."""
        state = self.env.evm.vm.state
        state.lock_changes()
        for one in warm:
            state.mark_address_warm(bytes.fromhex(one[2:]))

    # Signatures.

    def signature(
        self,
        kind: str,
        signer: str,
        *given: Any,
        expires: int,
        chain_id: int | None = None,
        contract: str | None = None,
    ) -> bytes:
        """What the party of this name signs: `given` are the values before `expires`."""
        fields = [one.split() for one in TYPES[kind].split(",")]
        message = dict(zip([name for _, name in fields], [*given, expires], strict=True))
        signed = account_of(signer).sign_typed_data(
            domain_data={
                "name": "Arena",
                "version": "1",
                "chainId": self.chain_id if chain_id is None else chain_id,
                "verifyingContract": contract or self.address,
            },
            message_types={kind: [{"type": shape, "name": name} for shape, name in fields]},
            message_data=message,
        )
        return bytes(signed.signature)

    def commitment(self, task_id: int, agent: str, result_hash: str, salt: bytes) -> bytes:
        """What an agent commits to, computed without the contract."""
        shape = ["uint256", "address", "uint256", "address", "bytes32", "bytes32"]
        given = [self.chain_id, self.address, task_id, agent, keccak(text=result_hash), salt]
        return keccak(encode(shape, given))

    # Paths through a task's life, with the parties ann, solver and jim.

    def posted(self, terms: Terms | None = None, *, by: str = "ann", reward: int = ETHER) -> int:
        """A new task; returns its id."""
        poster = address_of(by)
        if self.balance(poster) < reward:
            self.fund(poster, reward)
        given = (terms or Terms()).values()
        done = self.call("postTask", given, "standard", "text", by=poster, value=reward)
        return done.value

    def assigned(self, terms: Terms | None = None, **more: Any) -> int:
        task_id = self.posted(terms, **more)
        self.call("applyForTask", task_id, "1.0.0", by=address_of("solver"))
        if not (terms or Terms()).isFirst:
            poster = address_of(more.get("by", "ann"))
            self.call("assignTask", task_id, address_of("solver"), by=poster)
        return task_id

    def submitted(self, terms: Terms | None = None, **more: Any) -> int:
        task_id = self.assigned(terms, **more)
        given = (task_id, "result", "python", NO_SALT)
        self.call("submitResult", *given, by=address_of("solver"))
        return task_id

    def judged(self, terms: Terms | None = None, *, score: int, **more: Any) -> int:
        task_id = self.submitted(terms, **more)
        self.judge(task_id, score)
        return task_id

    def judge(self, task_id: int, score: int, **named: Any) -> Done:
        given = (task_id, score, address_of("solver"), "result", "why")
        return self.call("judgeAndPay", *given, **{"by": address_of("jim"), **named})


def untraced(env: Env) -> Env:
    """Without titanoboa's record of storage, which is not used here.

    Every new Env wraps the two opcodes once more, for all of them: hundreds would be slow and then
    too deep for Python's stack.
    """
    opcodes = env.evm.vm.state.computation_class.opcodes
    for number, wrapped in ((0x20, "sha3"), (0x55, "sstore")):
        while hasattr(opcodes[number], wrapped):
            opcodes[number] = getattr(opcodes[number], wrapped)
    return env


def named(shape: Any, value: Any) -> Any:
    """A value with the names of its ABI: a struct is a dict, an address has its checksum."""
    if shape["type"] == "tuple":
        pairs = zip(shape["components"], value, strict=True)
        return {part["name"]: named(part, one) for part, one in pairs}
    return to_checksum_address(value) if shape["type"] == "address" else value


def intrinsic(data: bytes, *, is_creation: bool = False) -> int:
    """What a transaction costs before it runs."""
    words = (len(data) + 31) // 32
    creation = 32_000 + 2 * words if is_creation else 0
    return 21_000 + creation + sum(16 if byte else 4 for byte in data)


def reason_of(output: bytes) -> str:
    """The reason of a revert; empty if it gave none."""
    if output[:4] != ERROR:
        return ""
    try:
        return decode(["string"], output[4:])[0]
    except DecodingError:
        return ""
