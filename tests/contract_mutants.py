"""Bugs in the contract that the tests must find: each is one edit of its source.

The source in the repository is never changed: the edited text is compiled in the test.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.resources import files

import vyper

from arena.chain.artifact import load_artifact
from contract_attacks import (
    PAYMENTS,
    check_fork,
    check_frauds,
    check_gas_limits,
    check_gas_of_a_burner,
    check_reentrance,
)
from contract_chain import Chain
from contract_machine import HISTORIES, STEPS, drive_contract
from contract_world import ContractWorld
from market_rows import REFUSALS, ROWS
from market_stage import check_refusal, check_roles, check_window

Find = Callable[[bytes], None]
"""Runs checks on the contract with this bytecode; one of them must fail."""


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """One bug: what is replaced in the source, and the check that finds it."""

    name: str
    old: str
    new: str
    find: Find

    def bytecode(self) -> bytes:
        """The contract with the bug. The edit must still fit the source."""
        source = files("arena.chain").joinpath("ArenaMarket.vy").read_text(encoding="utf-8")
        assert source.count(self.old) == 1, f"{self.name}: the text to replace is not there once"
        # Unoptimised, because that compiles in half the time.
        text = source.replace("# pragma optimize gas", "# pragma optimize none")
        made = vyper.compile_code(
            text.replace(self.old, self.new), output_formats=["bytecode"], no_bytecode_metadata=True
        )
        return bytes.fromhex(made["bytecode"].removeprefix("0x"))


def in_history(number: int) -> Find:
    """Found by the machine in this history, compared with the model."""

    def find(bytecode: bytes) -> None:
        # The others take time, and are tried if the machine has changed.
        histories = dict.fromkeys([number, *HISTORIES])
        drive_contract(ContractWorld(bytecode=bytecode), histories=histories, steps=STEPS)

    return find


def in_rows(number: int) -> Find:
    """Found by the table of moves in a row of this number."""

    def find(bytecode: bytes) -> None:
        world = ContractWorld(bytecode=bytecode)
        for row in ROWS:
            if row.row == number:
                check_window(world, row)
                check_roles(world, row)

    return find


def in_refusal(name: str) -> Find:
    """Found by the table of calls with a flaw."""

    def find(bytecode: bytes) -> None:
        (refusal,) = (one for one in REFUSALS if one.name == name)
        check_refusal(ContractWorld(bytecode=bytecode), refusal)

    return find


def by(check: Callable[[Chain], None]) -> Find:
    """Found by an attack."""

    def find(bytecode: bytes) -> None:
        check(Chain(load_artifact().abi, bytecode))

    return find


MUTANTS = [
    Mutant(
        name="the state is not written when a task is settled",
        old="    self._write(taskId, progress)\n    if bondTo == receiver:\n",
        new="    if bondTo == receiver:\n",
        find=in_history(24),
    ),
    Mutant(
        name="the state is not written when a task expires",
        old="    progress.state = EXPIRED\n",
        new="",
        find=in_history(36),
    ),
    Mutant(
        name="nobody asks whether the judge is the judge",
        old="    if msg.sender == self._party(terms):\n        self._before(judgeUntil)\n",
        new="    if msg.sender == msg.sender:\n        self._before(judgeUntil)\n",
        find=in_history(24),
    ),
    Mutant(
        name="anyone may assign",
        old="""    assert msg.sender == self._party(self.tasks[taskId].money), "WrongRole"
""",
        new="",
        find=in_history(34),
    ),
    Mutant(
        name="the poster may apply",
        old=" or who == self._party(self.tasks[taskId].money):",
        new=":",
        find=in_refusal("applies as poster"),
    ),
    Mutant(
        name="an agent is assigned that never applied",
        old="""    assert self.hasApplied[taskId][agent], "WrongState"\n""",
        new="",
        find=in_history(4),
    ),
    Mutant(
        name="a window is shut one second too late",
        old="assert block.timestamp < closes",
        new="assert block.timestamp <= closes",
        find=in_history(11),
    ),
    Mutant(
        name="a window opens one second too late",
        old="assert block.timestamp >= opens",
        new="assert block.timestamp > opens",
        find=in_history(39),
    ),
    Mutant(
        name="a result may come after the deadline",
        old="""    self._before((terms >> TIME_SHIFT) & TIME_MASK)
    assert len(resultHash) > 0""",
        new="    assert len(resultHash) > 0",
        find=in_history(27),
    ),
    Mutant(
        name="the fallback judge need not wait",
        old="        self._from(judgeUntil)\n",
        new="",
        find=in_history(23),
    ),
    Mutant(
        name="the fallback window is forgotten by the timeout",
        old="        if terms & HAS_FALLBACK != 0:\n            closes +=",
        new="        if terms & HAS_FALLBACK == terms:\n            closes +=",
        find=in_rows(14),
    ),
    Mutant(
        name="sixty does not pay",
        old="MIN_PASS_SCORE: public(constant(uint256)) = 60",
        new="MIN_PASS_SCORE: public(constant(uint256)) = 61",
        find=in_history(24),
    ),
    Mutant(
        name="a verdict of any size is taken",
        old="""    assert score <= MAX_SCORE, "BadScore"
    assert winner""",
        new="    assert winner",
        find=in_refusal("a verdict of 101"),
    ),
    Mutant(
        name="a verdict may be about any result",
        old="""    assert keccak256(resultHash) == self.tasks[taskId].result, "BadContent"\n""",
        new="",
        find=in_history(24),
    ),
    Mutant(
        name="a verdict may name any winner",
        old="""    assert winner == progress.agent, "WrongRole"\n""",
        new="",
        find=in_history(36),
    ),
    Mutant(
        name="a verdict settles although it can be disputed",
        old="    if terms & HAS_DISPUTE != 0:\n        progress.state = JUDGED",
        new="    if terms & HAS_DISPUTE == terms:\n        progress.state = JUDGED",
        find=in_history(26),
    ),
    Mutant(
        name="any result opens a commitment",
        old="""        assert revealed == self.tasks[taskId].commitment, "BadContent"\n""",
        new="",
        find=in_refusal("reveals another result"),
    ),
    Mutant(
        name="a commitment does not name its agent",
        old="abi_encode(chain.id, self, taskId, by, digest, salt)",
        new="abi_encode(chain.id, self, taskId, digest, salt)",
        find=in_history(3),
    ),
    Mutant(
        name="the escrow is not taken off the books",
        old="    self.held -= amount\n    isPaid",
        new="    isPaid",
        find=in_history(36),
    ),
    Mutant(
        name="poster and agent are both paid",
        old="        self._push(receiver, reward)\n",
        new="        self._push(receiver, reward)\n"
        "        self._push(self._party(money), reward)\n",
        find=in_history(24),
    ),
    Mutant(
        name="a split is rounded up",
        old="toAgent = reward * ((terms >> SHARE_SHIFT) & BYTE_MASK) // 100",
        new="toAgent = (reward * ((terms >> SHARE_SHIFT) & BYTE_MASK) + 99) // 100",
        find=in_rows(14),
    ),
    Mutant(
        name="both parts of a split are rounded up",
        old="    self._push(self._party(money), reward - toAgent)",
        new="    self._push(self._party(money), reward - toAgent + 1)",
        find=in_rows(14),
    ),
    Mutant(
        name="a dispute is free",
        old="""    assert paid == self.tasks[taskId].bond, "InsufficientFunds"\n""",
        new="",
        find=in_history(4),
    ),
    Mutant(
        name="the winner of a lapsed dispute keeps the bond",
        old="        disputer: address = self._loser(taskId, progress)\n",
        new="        disputer: address = progress.agent\n",
        find=in_history(11),
    ),
    Mutant(
        name="the loser of a dispute gets the bond",
        old="    if score >= MIN_PASS_SCORE:\n        bondTo = progress.agent",
        new="    if score < MIN_PASS_SCORE:\n        bondTo = progress.agent",
        find=in_history(21),
    ),
    Mutant(
        name="a receiver that refuses blocks its settlement",
        old="gas=PUSH_GAS, revert_on_failure=False)",
        new="gas=PUSH_GAS, revert_on_failure=False)\n    assert isPaid",
        find=in_history(14),
    ),
    Mutant(
        name="a credit is not cleared when it is withdrawn",
        old="    self.credits[msg.sender] = 0\n",
        new="",
        find=in_history(4),
    ),
    Mutant(
        name="a payment brings all the gas",
        old="value=amount, gas=PUSH_GAS, revert",
        new="value=amount, revert",
        find=by(check_gas_of_a_burner),
    ),
    Mutant(
        name="a caller can starve a payment of gas",
        old="    assert msg.gas >= PUSH_RESERVE\n",
        new="",
        find=by(check_gas_limits),
    ),
    Mutant(
        name="a receiver may re-enter",
        old="# pragma nonreentrancy on\n",
        new="",
        find=by(partial(check_reentrance, payment=PAYMENTS["withdrawn"], attack="applyForTask")),
    ),
    Mutant(
        name="signatures are not checked",
        old="""    assert signer == agent and agent != empty(address), "BadSignature"\n""",
        new="",
        find=in_history(2),
    ),
    Mutant(
        name="a signature may have a high s",
        old="s <= convert(MAX_S, uint256) and ",
        new="",
        find=by(partial(check_frauds, kind="Apply")),
    ),
    Mutant(
        name="a signature never expires",
        old="    assert block.timestamp < expires and len(signature) == 65",
        new="    assert len(signature) == 65",
        find=by(partial(check_frauds, kind="Submit")),
    ),
    Mutant(
        name="the signature of nobody is taken",
        old="    assert signer == agent and agent != empty(address)",
        new="    assert signer == agent",
        find=by(partial(check_frauds, kind="Apply")),
    ),
    Mutant(
        name="a language is not signed",
        old="keccak256(resultHash), keccak256(language), expires",
        new='keccak256(resultHash), keccak256("python"), expires',
        find=by(partial(check_frauds, kind="Submit")),
    ),
    Mutant(
        name="the chain id is that of the deployment",
        old="abi_encode(EIP712_DOMAIN, NAME, VERSION, chain.id, self)",
        new="abi_encode(EIP712_DOMAIN, NAME, VERSION, convert(31337, uint256), self)",
        find=by(partial(check_fork, kind="Apply")),
    ),
    Mutant(
        name="a signature is good for every contract",
        old="abi_encode(EIP712_DOMAIN, NAME, VERSION, chain.id, self)",
        new="abi_encode(EIP712_DOMAIN, NAME, VERSION, chain.id, msg.sender)",
        find=in_history(23),
    ),
]
