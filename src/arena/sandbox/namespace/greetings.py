"""The first word from inside a box, and the process id of who said it, as this machine sees it.

Inside a pid namespace a process knows only its inner number. The kernel translates the sender's
number on the way out, and it cannot be made up.
"""

import asyncio
import socket
import struct

CREDENTIALS = struct.Struct("iII")


def channel_pair(kind: socket.SocketKind) -> tuple[socket.socket, socket.socket]:
    """Two ends: ours, which never blocks and will know its first sender, and theirs."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, kind)
    ours.setblocking(False)
    # Whatever default timeout this process has: the far end is to block like a pipe.
    theirs.setblocking(True)
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    return ours, theirs


async def receive_greeting(channel: socket.socket, seconds: float) -> tuple[bytes, int]:
    """What was said first, and by whom; nothing and 0 where the other end is gone or silent."""
    try:
        async with asyncio.timeout(seconds):
            while True:
                try:
                    space = socket.CMSG_SPACE(CREDENTIALS.size)
                    message, ancillary, _, _ = channel.recvmsg(256, space)
                    break
                except BlockingIOError:
                    await _readable(channel)
    except (TimeoutError, OSError):
        return b"", 0
    channel.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 0)
    for level, kind, data in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_CREDENTIALS):
            pid, _, _ = CREDENTIALS.unpack(data[: CREDENTIALS.size])
            return message, pid
    return message, 0


async def _readable(channel: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[None] = loop.create_future()
    loop.add_reader(channel, _settle, ready)
    try:
        await ready
    finally:
        loop.remove_reader(channel)


def _settle(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)
