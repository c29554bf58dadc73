"""What the sandbox tests need from the machine, and which user they run as."""

import os
import shutil
import socket
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[3]
SOMEBODY = 61998
"""An unprivileged user, for the second run of everything."""


def need(condition: bool, reason: str) -> None:
    """Skip where the machine lacks something; in CI that is a failure."""
    if condition:
        return
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


def need_isolation() -> None:
    need(shutil.which("bwrap") is not None, "bubblewrap is not installed")


def copy_for_anybody(folder: Path) -> Path:
    """Copy the sandbox code and its tests to where every user can read them."""
    packages = Path(sysconfig.get_path("platlib"))
    for room in ("sandbox", "pools"):
        shutil.copytree(REPOSITORY / "src/arena" / room, folder / "arena" / room)
    for name in ("__init__.py", "errors.py", "team.py", "text.py"):
        shutil.copy(REPOSITORY / "src/arena" / name, folder / "arena" / name)
    attacks = "integration/sandbox/attacks"
    shutil.copytree(REPOSITORY / "tests" / attacks, folder / attacks)
    for module in [packages / "pyseccomp.py"]:
        shutil.copy(module, folder)
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    return folder


def python_for_anybody() -> str:
    """An interpreter of our version that every user can start."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    own = Path(sys.executable).resolve()
    if os.geteuid() != 0 or all(parent.stat().st_mode & 1 for parent in own.parents):
        return str(own)
    found = shutil.which(version, path="/usr/bin:/usr/local/bin")
    need(found is not None, f"no {version} that an unprivileged user can start")
    return str(found)


class Listener:
    """A server on loopback that nobody in a sandbox may ever reach."""

    def __init__(self) -> None:
        self.accepted = 0
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._server.accept()
            except OSError:
                return
            self.accepted += 1
            connection.close()

    def close(self) -> None:
        self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        self._thread.join()


def run_as(
    user: int | None,
    command: list[str],
    environment: dict[str, str],
    before: Callable[[], None] | None = None,
) -> None:
    """Run a program as `user` (None: as ourselves) and assert that it succeeds."""
    identity = {} if user is None else {"user": user, "group": user, "extra_groups": []}
    done = subprocess.run(
        command,
        env=environment,
        cwd="/",
        capture_output=True,
        text=True,
        timeout=300,
        preexec_fn=before,
        **identity,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-5000:]
