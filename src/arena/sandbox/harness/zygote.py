"""A warm interpreter that clones itself, once per submission, and does nothing else.

It lives in the outer box, has one thread, never reads what a submission is or says, and takes
orders from the supervisor: sixteen bytes (a name, and the wall time in milliseconds; 0: the clock
waits) with four descriptors (request, result, stdout, stderr). After every clone each page that it
touches is copied, so its loop is not Python; the children are the keeper's to look after.
"""

from __future__ import annotations

import gc
import os
import platform
import signal
import socket
from collections.abc import Callable

from arena.sandbox.harness.hardening import ORDERS, RECEIVED, REPORTS, RESULT, Walls
from arena.sandbox.harness.keeper import Keeper
from arena.sandbox.harness.system import StepFailed, Table
from arena.sandbox.harness.text import into_huge_pages

Work = Callable[[], None]
EXIT_UNHARDENED = 70
BEYOND_ALL = 64
"""No descriptor of a zygote has a number as high as this."""


def start(
    control: socket.socket, orders: socket.socket, walls: Walls, work: Work, rehearse: Work
) -> None:
    """Prepare everything that can be prepared, part in two, say so, and serve."""
    rehearse()
    into_huge_pages()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.environ.clear()
    reader, writer = os.pipe()
    # Not os.fork, whose hooks would give every zygote, and its children, a chance of its own.
    parting = Table(0)
    parting.seal()
    gc.collect()
    gc.freeze()
    gc.disable()
    zygote = parting.clone()
    if zygote == 0:
        try:
            clone_to_order(orders, writer, walls, work)
        finally:
            os._exit(1)
    orders.close()
    os.close(writer)
    control.send(b"watching")
    Keeper(control, reader, zygote).serve()


def clone_to_order(orders: socket.socket, reports: int, walls: Walls, work: Work) -> None:
    """Until the supervisor closes its end; a child does its work and never returns either."""
    for number, target in ((orders.fileno(), ORDERS), (reports, REPORTS)):
        os.dup2(number, BEYOND_ALL + target, inheritable=False)
    for target in (ORDERS, REPORTS):
        os.dup2(BEYOND_ALL + target, target, inheritable=False)
    os.closerange(RECEIVED, 1 << 16)
    greeting = b"warm " + platform.python_version().encode()
    try:
        walls.enclose_zygote()
    except StepFailed as failure:
        os.write(ORDERS, f"failed {failure}".encode())
        return
    os.write(ORDERS, greeting)
    try:
        is_child = walls.serve()
    except StepFailed as failure:
        # In the child: its walls are not complete, so nothing foreign may run in it.
        os.write(RESULT, f'{{"setup":"{failure}"}}\n'.encode())
        os._exit(EXIT_UNHARDENED)
    if not is_child:
        os._exit(0)
    try:
        work()
    except BaseException as error:
        os.write(2, f"the harness failed: {error!r}\n".encode(errors="replace"))
