"""A second machine: a network namespace with a link to this one that can be cut. Needs root."""

import contextlib
import os
import shutil
import subprocess
from typing import Self


class Network:
    """A namespace whose processes reach this machine by one address."""

    def __init__(self) -> None:
        self.name = f"arena-{os.getpid()}"
        self._link = f"arena{os.getpid() % 100000}"
        # One network per process: several drills may run at once.
        prefix = f"10.{200 + os.getpid() // 250 % 50}.{os.getpid() % 250}"
        self.address = f"{prefix}.1"
        self._other = f"{prefix}.2"

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
        link, peer = self._link, f"{self._link}p"
        try:
            _ip("netns", "add", self.name)
            _ip("link", "add", link, "type", "veth", "peer", "name", peer, "netns", self.name)
            _ip("addr", "add", f"{self.address}/24", "dev", link)
            _ip("link", "set", link, "up")
            inside = ("netns", "exec", self.name, "ip")
            _ip(*inside, "addr", "add", f"{self._other}/24", "dev", peer)
            _ip(*inside, "link", "set", peer, "up")
            _ip(*inside, "link", "set", "lo", "up")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for words in (("link", "del", self._link), ("netns", "del", self.name)):
            with contextlib.suppress(subprocess.CalledProcessError):
                _ip(*words)

    @property
    def prefix(self) -> tuple[str, ...]:
        """Starts a command in it."""
        return "ip", "netns", "exec", self.name

    def cut(self) -> None:
        """Lose every packet from now on; nobody is told."""
        _ip("link", "set", self._link, "down")

    def heal(self) -> None:
        """Let packets through again."""
        _ip("link", "set", self._link, "up")


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)
