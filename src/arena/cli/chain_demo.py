"""`arena chain demo`: two paid tasks on a local chain, from the posting to the payment.

The node, its chain and everything else are in a folder of their own. The settings of a chain that
is in use are not read, so no other chain can be touched.
"""

import contextlib
import fcntl
import secrets
import shlex
import shutil
from collections.abc import AsyncGenerator, Generator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

from pydantic import SecretStr
from rich.text import Text

from arena.amounts import Amount
from arena.assembly import Arena, open_arena
from arena.chain.anvil import Anvil, LocalNode
from arena.chain.artifact import load_artifact
from arena.chain.deployment import Deployment, deploy
from arena.chain.keys import Keys
from arena.chain.outbox import Outbox
from arena.chain.sending import OutboxOptions
from arena.chain.status import read_contract
from arena.chain.wallet import WalletSigner
from arena.chain.wei import DECIMALS
from arena.cli import output
from arena.cli.judge_tasks import judge_flow
from arena.cli.tables import print_table
from arena.content.tree import cid_of
from arena.errors import Conflict, InfrastructureError, NotFound
from arena.market.task import TaskPost
from arena.operations.operation import InProcess
from arena.operations.operations import Operations
from arena.settings import Settings
from arena.text import UNKNOWN

REWARD = "0.05"
FUNDED = ("alice", "judy", "operator")
"""Who has ether at the start; agents have none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A task, and the agent that does it."""

    description: str
    standard: dict[str, object]
    agent: str
    solution: str
    note: str
    """What a reader should know about the solution; the judge does not see it."""


JOBS = (
    Job(
        description="Write median(numbers) in Python.",
        standard={
            "type": "test_cases",
            "functionName": "median",
            "cases": [
                {"input": [[3, 1, 2]], "expected": 2},
                {"input": [[4, 1, 3, 2]], "expected": 2.5},
                {"input": [[7]], "expected": 7},
            ],
        },
        agent="careful-agent",
        solution=(
            "def median(numbers):\n"
            "    ordered, half = sorted(numbers), len(numbers) // 2\n"
            "    return (ordered[half] + ordered[~half]) / 2\n"
        ),
        note="right",
    ),
    Job(
        description="Write is_leap_year(year) in Python.",
        standard={
            "type": "test_cases",
            "functionName": "is_leap_year",
            "cases": [
                {"input": [2024], "expected": True},
                {"input": [2000], "expected": True},
                {"input": [1900], "expected": False},
                {"input": [2100], "expected": False},
            ],
        },
        agent="hasty-agent",
        solution="def is_leap_year(year):\n    return year % 4 == 0\n",
        note="wrong for 1900 and 2100",
    ),
)


async def run_demo(settings: Settings) -> None:
    """Tell the story; its node is stopped at the end, however it ends."""
    folder = settings.home / "chain-demo"
    async with _new_node(folder) as (anvil, node):
        _say("A local Ethereum node starts, and the contract is deployed on it.")
        _print(f"anvil serves chain {node.chain_id} at {node.url}")
        own = _own_settings(settings, folder, anvil, node)
        deployed = await _deploy(own)
        _print(f"the contract is {deployed.contract}")
        own = own.model_copy(update={"chain_contract": deployed.contract})
        async with open_arena(own) as arena:
            await _Story(arena, deployed).tell()
    _say("The node is stopped. Tasks, solutions and verdicts are kept until the next demo:")
    _print(f"export ARENA_HOME={shlex.quote(str(folder))}")
    _print("arena task show 1")


@contextlib.asynccontextmanager
async def _new_node(folder: Path) -> AsyncGenerator[tuple[Anvil, LocalNode]]:
    """A node with a new chain in a new folder, while the block lasts."""
    with _locked(folder.with_suffix(".lock")):
        anvil = Anvil(folder / "chain")
        with contextlib.suppress(NotFound):
            await anvil.stop()  # that of a demo that was killed
        shutil.rmtree(folder, ignore_errors=True)
        node = await anvil.start()
        try:
            yield anvil, node
        finally:
            with contextlib.suppress(NotFound):  # Ctrl-C in a terminal has stopped it
                await anvil.stop()


@contextlib.contextmanager
def _locked(path: Path) -> Generator[None]:
    """Refuse a second demo beside this one, whose folder it would remove."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("wb")
    except OSError as error:
        raise InfrastructureError(f"cannot write to {path.parent}: {error.strerror}") from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Conflict(f"another demo runs in {path.parent}: wait until it has ended") from None
        yield


def _own_settings(settings: Settings, folder: Path, anvil: Anvil, node: LocalNode) -> Settings:
    """The settings of the demo; of those in force only the sandbox's."""
    keys = {
        name: account.private_key for name, account in zip(FUNDED, anvil.accounts(), strict=False)
    }
    keys |= {job.agent: f"0x{secrets.token_hex(32)}" for job in JOBS}
    return Settings(
        home=folder,
        sandbox=settings.sandbox,
        daytona_api_key=settings.daytona_api_key,
        languages=settings.languages,
        ledger="evm",
        chain_url=SecretStr(node.url),
        chain_id=node.chain_id,
        chain_keys=tuple(SecretStr(f"{name}:{key}") for name, key in keys.items()),
        chain_relayer="operator",
        chain_confirmations=1,
    )


async def _deploy(settings: Settings) -> Deployment:
    async with open_arena(settings) as arena:
        outbox = Outbox(arena.database, arena.node, Keys(settings), OutboxOptions.of(settings))
        return await deploy(
            outbox,
            arena.node,
            load_artifact(),
            by="operator",
            team_id=settings.chain_team,
            seconds=settings.chain_wait_seconds,
        )


class _Story:
    """What alice, two agents and judy do."""

    def __init__(self, arena: Arena, deployed: Deployment) -> None:
        self._arena = arena
        self._deployed = deployed
        self._keys = arena.chain.keys
        self._currency = arena.chain.currency.code
        self._operations = Operations(InProcess(arena=arena))
        self._tasks: dict[int, Job] = {}

    async def tell(self) -> None:
        """Do it all, and show the money before and after."""
        before = await self._balances()
        _say("Alice posts two tasks; the contract locks their rewards.")
        await self._post()
        await self._print_held()
        _say("Two agents apply. They have no ether: they sign, and the operator pays the gas.")
        await self._apply()
        _say("Alice assigns a task to each of them, and they submit their solutions.")
        await self._submit()
        _say("Judy judges by the standard: 60 of 100 pays the agent, less refunds Alice.")
        await self._judge()
        _say("Where the money is now.")
        await self._print_money(before)
        await self._print_held()
        _say("What the transactions cost.")
        await self._print_gas()

    async def _post(self) -> None:
        deadline = (await self._operations.market()).now + timedelta(hours=1)
        for job in JOBS:
            offer = TaskPost(
                poster="alice",
                judge="judy",
                description=job.description,
                evaluation=job.standard,
                reward=Amount.parse(REWARD),
                deadline=deadline,
            )
            receipt = await self._operations.post_task(offer)
            assert receipt.task_id is not None
            self._tasks[receipt.task_id] = job
            _print(f"task {receipt.task_id}: {job.description} {REWARD} {self._currency}")

    async def _apply(self) -> None:
        for job in JOBS:
            self._operations.signer = WalletSigner(job.agent, self._keys)
            await self._operations.register()
            for task_id in self._tasks:
                await self._operations.apply(task_id)
            _print(f"{job.agent}, wallet {self._keys.address_of(job.agent)}, applies for both")

    async def _submit(self) -> None:
        for task_id, job in self._tasks.items():
            await self._operations.assign(task_id, by="alice", agent=job.agent)
            self._operations.signer = WalletSigner(job.agent, self._keys)
            await self._operations.submit(task_id, job.solution, language="python")
            cid = cid_of(job.solution.encode())
            _print(f"task {task_id}: {job.agent} submits {cid} ({job.note})")

    async def _judge(self) -> None:
        # One at a time, so that the lines are in the same order every time.
        judged = await judge_flow(self._operations, self._arena, "judy", at_once=1).step()
        if judged != len(self._tasks):
            raise InfrastructureError("not every task could be judged, for the reason above")

    async def _balances(self) -> dict[str, int]:
        """In wei, by party."""
        addresses = {name: self._keys.address_of(name) or "" for name in self._keys.names()}
        return {name: await self._arena.node.balance(one) for name, one in addresses.items()}

    async def _print_money(self, before: Mapping[str, int]) -> None:
        rows = [
            (name, _coins(before[name]), _coins(now), _coins(now - before[name], sign="+"))
            for name, now in (await self._balances()).items()
        ]
        columns = ("party", "before", "now", f"change ({self._currency})")
        print_table(columns, rows, right=columns[1:])

    async def _print_held(self) -> None:
        found = await read_contract(self._arena.node, self._deployed.contract)
        _print(f"the contract holds {found.held} {self._currency}")

    async def _print_gas(self) -> None:
        """Who did what, and who paid for it: a row per transaction."""
        done = {self._deployed.transaction_hash: ("", "contract deployed", "operator")}
        for task_id in self._tasks:
            for event in (await self._operations.task(task_id)).events:
                assert event.transaction_hash is not None
                # Of several events of a transaction the first: a verdict is judged, then paid.
                done.setdefault(event.transaction_hash, (str(task_id), event.kind, event.who))
        rows: list[tuple[str, ...]] = []
        for one, (task, what, who) in done.items():
            found = await self._arena.node.ask("eth_getTransactionReceipt", one)
            gas, price = int(found["gasUsed"], 16), int(found["effectiveGasPrice"], 16)
            payer = self._keys.name_of(found["from"]) or UNKNOWN
            rows.append((task, what, who, payer, f"{gas:,}", _coins(gas * price)))
        columns = ("task", "what", "who", "gas paid by", "gas used", f"fee ({self._currency})")
        print_table(columns, rows, right=("task", *columns[4:]))


def _say(text: str) -> None:
    """The heading of a step."""
    output.line("", at_once=True)
    output.console().print(Text(text, style="bold"))


def _print(text: str) -> None:
    output.line(text, at_once=True)


def _coins(wei: int, *, sign: str = "") -> str:
    """An amount with as many decimals as a fee needs to be seen."""
    return f"{Decimal(wei) / 10**DECIMALS:{sign if wei else ''}.6f}"
