"""A local Ethereum node for development and tests: anvil, of the Foundry tools.

It is never downloaded here: it is on the PATH, or `scripts/setup --anvil` has installed it in the
checkout.
"""

import asyncio
import contextlib
import fcntl
import json
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from arena.chain.errors import NodeUnreachable
from arena.chain.node import Node
from arena.errors import Conflict, InfrastructureError, NotFound
from arena.files import write_atomically

CHAIN_ID = 31337
"""By convention that of development nodes: no real chain has it."""
START_SECONDS = 30
STOP_SECONDS = 15
STATE_SECONDS = 5
"""How often the state is written, in case the node is killed."""
IN_CHECKOUT = Path("scripts") / "anvil" / "node_modules" / ".bin" / "anvil"


class NoAnvil(InfrastructureError):
    """The program anvil is not installed."""

    code = "no_anvil"


def find_anvil() -> Path:
    """The program, on the PATH or in this checkout."""
    # Beside `src` in a checkout; in an installed package there is no such folder.
    beside = Path(__file__).parents[3] / IN_CHECKOUT
    if beside.exists():
        return beside
    if found := shutil.which("anvil"):
        return Path(found)
    raise NoAnvil(
        "anvil is not installed: run `scripts/setup --anvil` in a checkout of Arena, or install "
        "the Foundry tools",
        retryable=False,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """A funded account of a development node; its key is public knowledge."""

    address: str
    private_key: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalNode:
    """A running development node."""

    pid: int
    url: str
    chain_id: int


class Anvil:
    """The development node of a folder, which keeps its chain between starts.

    The node inherits a locked file, so the lock is held for as long as the node lives.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        """The node, if this process has started it."""

    def running(self) -> LocalNode | None:
        """The node of this folder, if it runs."""
        try:
            lock = os.open(self._folder / "anvil.lock", os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        with contextlib.closing(os.fdopen(lock)):
            if _is_free(lock):
                return None
        return LocalNode(**json.loads((self._folder / "anvil.json").read_bytes()))

    async def start(
        self,
        *,
        port: int = 0,
        chain_id: int = CHAIN_ID,
        block_seconds: int | None = None,
        keeps_running: bool = False,
        options: Sequence[str] = (),
    ) -> LocalNode:
        """Start the node and wait until it answers.

        It mines each transaction at once, or a block every `block_seconds`. One that keeps running
        survives this process, and is not interrupted by Ctrl-C in its terminal.
        """
        program = find_anvil()
        path = self._folder / "anvil.lock"
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            lock = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise InfrastructureError(f"cannot write {path}: {error.strerror}") from None
        with contextlib.closing(os.fdopen(lock)):
            if not _is_free(lock):
                known = self.running()
                at = f" at {known.url}" if known else ""
                raise Conflict(f"a node of {self._folder} runs already{at}: stop it first")
            if self._process is not None:
                self._process.wait()  # an earlier one, which has ended
            port = port or _free_port()
            command = [
                *(str(program), "--silent", "--host", "127.0.0.1", "--port", str(port)),
                *("--chain-id", str(chain_id), "--state", str(self._folder / "state.json")),
                *("--state-interval", str(STATE_SECONDS)),
                *("--config-out", str(self._folder / "accounts.json")),
                *(() if block_seconds is None else ("--block-time", str(block_seconds))),
                *options,
            ]
            with (self._folder / "anvil.log").open("wb") as log:
                process = self._process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    pass_fds=[lock],
                    start_new_session=keeps_running,
                )
            node = LocalNode(pid=process.pid, url=f"http://127.0.0.1:{port}", chain_id=chain_id)
            write_atomically(self._folder / "anvil.json", json.dumps(asdict(node)).encode())
            try:
                await self._answering(process, node)
            except BaseException:
                process.kill()
                process.wait()
                raise
        return node

    def accounts(self) -> list[Account]:
        """The accounts that the node has funded."""
        stored = json.loads((self._folder / "accounts.json").read_bytes())
        pairs = zip(stored["available_accounts"], stored["private_keys"], strict=True)
        return [Account(address=address, private_key=key) for address, key in pairs]

    async def stop(self) -> None:
        """Stop the node; it writes its state. `NotFound` if none runs."""
        if (node := self.running()) is None:
            raise NotFound(f"no node of {self._folder} runs")
        with contextlib.suppress(ProcessLookupError):
            os.kill(node.pid, signal.SIGTERM)
        ends = time.monotonic() + STOP_SECONDS
        while self.running() is not None:
            if time.monotonic() > ends:
                os.kill(node.pid, signal.SIGKILL)
                ends += STOP_SECONDS
            await asyncio.sleep(0.02)
        if self._process is not None:
            self._process.wait()

    async def _answering(self, process: subprocess.Popen[bytes], node: LocalNode) -> None:
        ends = time.monotonic() + START_SECONDS
        asked = Node(node.url, chain_id=node.chain_id, timeout_seconds=START_SECONDS)
        try:
            while True:
                try:
                    await asked.chain_id()
                    return
                except NodeUnreachable:
                    if process.poll() is not None or time.monotonic() > ends:
                        text = (self._folder / "anvil.log").read_text(errors="replace")
                        last = (text.strip().splitlines() or ["it gave no reason"])[-1]
                        raise InfrastructureError(f"anvil did not start: {last}") from None
                await asyncio.sleep(0.02)
        finally:
            await asked.close()


def _is_free(lock: int) -> bool:
    """Lock the file if no other process has."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]
