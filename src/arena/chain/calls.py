"""Which function of the contract a move is, and its arguments. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from arena.chain.contract import encode_call
from arena.chain.signing import salt_word
from arena.chain.terms import to_contract
from arena.content.cid import parse_cid
from arena.errors import InvalidInput
from arena.market.call import Action, Call
from arena.market.errors import WrongState
from arena.market.signing import Act, Proof
from arena.market.task import Task
from arena.market.wallets import signature_bytes

MAX_TEXT_BYTES = {"reason_uri": 256, "result_hash": 128, "language": 50}
"""What the contract takes."""
LARGEST = 2**256 - 1
NO_SALT = b"\0" * 32
BY_AGENTS = {
    Action.APPLY: "applyForTask",
    Action.COMMIT: "commitResult",
    Action.SUBMIT: "submitResult",
    Action.DISPUTE: "dispute",
}
"""What an agent does itself, or signs; a poster disputes too."""
ENDS = {Action.CANCEL: "cancelTask", Action.EXPIRE: "expire", Action.SETTLE: "settle"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractCall:
    """A call of the contract."""

    function: str
    arguments: Sequence[object]
    value: int = 0
    data: bytes = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "data", encode_call(self.function, *self.arguments))


@dataclass(frozen=True, slots=True, kw_only=True)
class Relayed:
    """An agent's signed act, sent by somebody else."""

    agent: str
    """Its address."""
    proof: Proof


def post_call(task: Task, addresses: dict[str, str], description_cid: str) -> ContractCall:
    """The posting of a task; `addresses` are those of its parties."""
    terms = to_contract(task, lambda name: addresses[name])
    arguments = (terms, task.evaluation_cid, description_cid)
    return ContractCall(function="postTask", arguments=arguments, value=int(task.reward))


def move_call(
    task: Task, call: Call, *, agent: str | None = None, relayed: Relayed | None = None
) -> ContractCall:
    """A move on a task. `agent` is the address of the agent that the call names."""
    _check_texts(call)
    if call.action in BY_AGENTS:
        return _agents_call(task, call, relayed)
    number = task.chain_task
    match call.action:
        case Action.ASSIGN:
            return ContractCall(function="assignTask", arguments=(number, agent))
        case Action.JUDGE:
            result = _as_submitted(call.result_hash)
            arguments = (number, _score(call), agent, result, call.reason_uri)
            return ContractCall(function="judgeAndPay", arguments=arguments)
        case Action.RESOLVE:
            arguments = (number, _score(call), call.reason_uri)
            return ContractCall(function="resolve", arguments=arguments)
        case Action.CANCEL | Action.EXPIRE | Action.SETTLE:
            return ContractCall(function=ENDS[call.action], arguments=(number,))
        case _:
            raise WrongState(
                f"task {task.id} is on a chain: {call.action} is not possible there; the poster "
                "assigns an agent by name"
            )


def signed_fields(
    task: Task, call: Call, agent: str, expires: int
) -> tuple[Act, dict[str, object]]:
    """What an agent signs for a move: the act and the fields of its structure (EIP-712)."""
    fields: dict[str, object] = {"taskId": task.chain_task, "agent": agent, "expires": expires}
    match call.action:
        case Action.APPLY:
            return Act.APPLY, {**fields, "version": call.version}
        case Action.COMMIT:
            commitment = bytes.fromhex(call.commitment or "")
            return Act.COMMIT, {**fields, "commitment": commitment}
        case Action.SUBMIT:
            language = call.language or ""
            return Act.SUBMIT, {**fields, "resultHash": call.result_hash, "language": language}
        case _:
            return Act.DISPUTE, {**fields, "reasonURI": call.reason_uri}


def _agents_call(task: Task, call: Call, relayed: Relayed | None) -> ContractCall:
    """A function that the agent calls, or that somebody calls with its signature."""
    number, value, arguments = task.chain_task, 0, list[object]()
    function = BY_AGENTS[call.action]
    match call.action:
        case Action.APPLY:
            arguments = [call.version]
        case Action.COMMIT:
            arguments = [bytes.fromhex(call.commitment or "")]
        case Action.SUBMIT:
            salt = NO_SALT if call.salt is None else salt_word(call.salt)
            arguments = [call.result_hash, call.language or "", salt]
        case _:
            arguments, value = [call.reason_uri], int(task.bond)
    if relayed is None:
        return ContractCall(function=function, arguments=(number, *arguments), value=value)
    proof = relayed.proof
    return ContractCall(
        function=f"{function}Signed",
        arguments=(
            number,
            relayed.agent,
            *arguments,
            proof.expires_at,
            signature_bytes(proof.signature),
        ),
        value=value,
    )


def _score(call: Call) -> int:
    """The score; one that the contract has no number for is too large there as well."""
    score = call.score
    if isinstance(score, int) and not isinstance(score, bool) and score >= 0:
        return score
    return LARGEST


def _as_submitted(result_hash: str | None) -> str:
    """A CID as it is written when it is submitted: the contract compares texts."""
    try:
        return str(parse_cid(result_hash or ""))
    except InvalidInput:
        return result_hash or ""


def _check_texts(call: Call) -> None:
    for name, most in MAX_TEXT_BYTES.items():
        text: str | None = getattr(call, name)
        if text is not None and len(text.encode()) > most:
            raise InvalidInput(f"{name} has more than {most} bytes, the most on a chain")
