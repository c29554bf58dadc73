"""A warm interpreter that clones itself, once per submission, and does nothing else.

It runs in the outer box, has one thread and never reads a submission. It receives orders from the
supervisor: sixteen bytes (a name, and the wall-clock limit in milliseconds; 0: the clock starts
later) with four descriptors (request, result, stdout, stderr). After a clone every page that it
touches is copied, so its loop is machine code (`system.py`) and another process (`reaper.py`) looks
after its children.
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import importlib
import os
import platform
import signal
import socket
import sys
from collections.abc import Callable

from arena.sandbox.harness.hardening import ORDERS, RECEIVED, REPORTS, RESULT, Walls
from arena.sandbox.harness.reaper import Reaper
from arena.sandbox.harness.system import StepFailed, Table, move_text_into_huge_pages

Work = Callable[[], None]
EXIT_UNHARDENED = 70
# The modules submissions import most, free for a clone. Each costs a few pages per child.
PRELOADED = (
    "abc array base64 bisect calendar cmath collections collections.abc contextlib copy csv "
    "dataclasses datetime decimal enum fractions functools heapq inspect io itertools "
    "json math numbers operator queue random re statistics string struct textwrap threading "
    "time traceback types typing zlib"
)


def main(control: int, orders: int, config: dict[str, object]) -> None:
    """Serve children of the configured kind until the supervisor disconnects."""
    reaper_channel, zygote_channel = socket.socket(fileno=control), socket.socket(fileno=orders)
    try:
        work, warm_up = load_work(config)
        zygote, reports = start_zygote(zygote_channel, Walls(config), work, warm_up)
    except Exception as error:
        # Walls() has put /dev/null on standard error: the channel is the only way to say why.
        reaper_channel.send(f"failed {error}".encode()[:250])
        return
    reaper_channel.send(b"watching")
    Reaper(reaper_channel, reports, zygote).serve()


def load_work(config: dict[str, object]) -> tuple[Work, Work]:
    """What a child does, and what the zygote does once so that its children start warm."""
    kind = str(config["kind"])
    if kind == "python":  # the other kinds start programs that bring their own libraries
        for name in PRELOADED.split():
            with contextlib.suppress(ImportError):
                importlib.import_module(name)
    module = importlib.import_module(f"arena.sandbox.harness.{kind}_calls")
    module.prepare(config)
    # So that a submission cannot import the harness; doing it here costs the children nothing.
    for name in [name for name in sys.modules if name.split(".")[0] == "arena"]:
        del sys.modules[name]
    return module.run, getattr(module, "warm_up", lambda: None)


def start_zygote(orders: socket.socket, walls: Walls, work: Work, warm_up: Work) -> tuple[int, int]:
    """Prepare everything and fork the zygote; returns its pid and the pipe of its reports."""
    warm_up()
    move_text_into_huge_pages()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.environ.clear()
    reader, writer = os.pipe()
    # Not os.fork: its hooks would reseed `random`, and children must all start from one seed.
    split = Table(0)
    split.seal()
    # A collection in a child would touch, and so copy, every page with objects in it.
    gc.collect()
    gc.freeze()
    gc.disable()
    zygote = split.clone()
    if zygote == 0:
        try:
            serve_orders(orders, writer, walls, work)
        finally:
            os._exit(1)
    orders.close()
    os.close(writer)
    return zygote, reader


def serve_orders(orders: socket.socket, reports: int, walls: Walls, work: Work) -> None:
    """Clone a child per order until the supervisor closes its end; a child never returns either."""
    # First to free numbers: each of the two may have the number that the other one needs, and dup2
    # refuses to copy a descriptor onto itself. The supervisor's open files decide the numbers.
    moved = [
        fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, RECEIVED)
        for number in (orders.fileno(), reports)
    ]
    for number, target in zip(moved, (ORDERS, REPORTS)):  # noqa: B905 - Python 3.9 has no strict
        os.dup2(number, target, inheritable=False)
    os.closerange(RECEIVED, 1 << 16)
    handshake = b"warm " + platform.python_version().encode()
    try:
        walls.enclose_zygote()
    except (OSError, StepFailed) as error:
        os.write(ORDERS, f"failed {error}".encode()[:250])
        return
    os.write(ORDERS, handshake)
    try:
        is_child = walls.serve()
    except StepFailed as error:
        # In the child: its walls are incomplete, so no untrusted code may run in it.
        os.write(RESULT, f'{{"setup":"{error}"}}\n'.encode())
        os._exit(EXIT_UNHARDENED)
    if not is_child:
        os._exit(0)
    try:
        work()
    except BaseException as error:
        os.write(2, f"the harness failed: {error!r}\n".encode(errors="replace"))
