"""A second machine: a network namespace with a link to this one that can be cut. Needs root."""

import contextlib
import ctypes
import os
import shutil
import subprocess
from typing import Self

CLONE_NEWNET = 0x40000000
ADDRESS, OTHER_ADDRESS = "10.200.0.1", "10.200.0.2"
LINK, OTHER_LINK = "arena0", "arena1"


def leave_network() -> None:
    """Give this process a network of its own, with loopback only; call it before any thread starts.

    The links of a drill must not come and go in the machine's own network: each time, a browser
    there aborts the requests that wait for a connection, whatever their address (seen in Chromium:
    ERR_NETWORK_CHANGED).
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "no network of its own for this process")
    _ip("link", "set", "lo", "up")


class Network:
    """A namespace whose processes reach this machine by one address."""

    address = ADDRESS
    """Of this machine, as its processes see it."""

    def __init__(self) -> None:
        # Names of namespaces belong to the whole machine, unlike addresses and links.
        self.name = f"arena-{os.getpid()}"

    @staticmethod
    def is_possible() -> bool:
        """Whether this machine lets us make one."""
        if os.geteuid() != 0 or shutil.which("ip") is None:
            return False
        name = f"arena-try-{os.getpid()}"
        made = subprocess.run(["ip", "netns", "add", name], capture_output=True)
        if made.returncode:
            return False
        _ip("netns", "del", name)
        return True

    def __enter__(self) -> Self:
        pair = (LINK, "type", "veth", "peer", "name", OTHER_LINK)
        try:
            _ip("netns", "add", self.name)
            _ip("link", "add", *pair, "netns", self.name)
            _ip("addr", "add", f"{ADDRESS}/24", "dev", LINK)
            _ip("link", "set", LINK, "up")
            inside = ("netns", "exec", self.name, "ip")
            _ip(*inside, "addr", "add", f"{OTHER_ADDRESS}/24", "dev", OTHER_LINK)
            _ip(*inside, "link", "set", OTHER_LINK, "up")
            _ip(*inside, "link", "set", "lo", "up")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for words in (("link", "del", LINK), ("netns", "del", self.name)):
            with contextlib.suppress(subprocess.CalledProcessError):
                _ip(*words)

    @property
    def prefix(self) -> tuple[str, ...]:
        """Starts a command in it."""
        return "ip", "netns", "exec", self.name

    def cut(self) -> None:
        """Lose every packet from now on; nobody is told."""
        _ip("link", "set", LINK, "down")

    def heal(self) -> None:
        """Let packets through again."""
        _ip("link", "set", LINK, "up")


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)
