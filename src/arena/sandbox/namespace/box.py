"""The contents of a box: its files, limits and filter, for each kind of box."""

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from arena.sandbox.limits import MIB, Limits
from arena.sandbox.namespace.filters import Profile, compiled

DIRECTORY = "/desk"
NOSUID, NODEV, NOEXEC = 2, 4, 8
HARNESS = Path(__file__).parents[1] / "harness"
COMMON_MODULES = ("encode", "system", "hardening", "reaper")
SCRIPTS = ("calls.js", "node.js")
INNER_ID = 65534
Channels = tuple[int, int]
"""The descriptors of the reaper's channel and of the zygote's."""


class Kind(StrEnum):
    """What the children of a zygote do."""

    PYTHON = "python"
    NODE = "node"
    WORKSPACE = "workspace"

    @property
    def is_function(self) -> bool:
        """One process with threads, as opposed to a program that may start others."""
        return self is Kind.PYTHON


MODULES = {
    Kind.PYTHON: ("python_calls",),
    Kind.NODE: ("node_calls",),
    Kind.WORKSPACE: ("workspace_calls",),
}
# The zygote's filter, which its children inherit at no cost, and the one that they add.
FILTERS = {
    Kind.PYTHON: (Profile.ZYGOTE, Profile.CLOSING),
    Kind.NODE: (None, Profile.NODE),
    Kind.WORKSPACE: (None, Profile.COMMAND),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """One kind of box on this machine."""

    kind: Kind
    limits: Limits
    python: Path
    node: Path | None = None
    roots: Sequence[Path] = field(default=())
    """Further folders of the host, visible read-only at the same path."""
    bare: bool = False
    """No isolation at all: only to measure its cost, and to prove that the tests notice."""

    def configuration(self) -> bytes:
        """The configuration that the interpreter in the box reads; it must hold no secret."""
        # In order of their imports; the last one has main().
        names = [*COMMON_MODULES, *MODULES[self.kind], "zygote"]
        sources = [
            (f"arena.sandbox.harness.{name}", (HARNESS / f"{name}.py").read_text())
            for name in names
        ]
        scripts = {name: (HARNESS / name).read_text() for name in SCRIPTS}
        document = {
            "modules": sources,
            "scripts": scripts if self.kind is Kind.NODE else {},
            "config": {
                "kind": self.kind.value,
                "filters": [
                    base64.b64encode(compiled(profile) if profile else b"").decode()
                    for profile in FILTERS[self.kind]
                ],
                "network": self.kind is Kind.WORKSPACE,
                "directory": DIRECTORY,
                "mounts": self.mounts(),
                "devices": [f"/dev/{name}" for name in self._device_names()],
                "rlimits": self.rlimits(),
                "node": str(self.node or ""),
                "memory_bytes": self.limits.memory_bytes,
                "workspace_file_bytes": self.limits.workspace_file_bytes,
                "bare": self.bare,
            },
        }
        return json.dumps(document).encode()

    def mounts(self) -> list[tuple[str, int, str]]:
        """The folders a child can write to: fresh, limited in size, removed with it."""
        limits = self.limits
        if self.kind is not Kind.WORKSPACE:
            # One mount for all (/tmp and /dev/shm are links to it): each costs time per child.
            options = f"size={limits.scratch_bytes},nr_inodes={limits.files},mode=700"
            return [(DIRECTORY, NOSUID | NODEV | NOEXEC, options)]
        # Without NOEXEC: compiled programs are started from here.
        flags, inodes = NOSUID | NODEV, f"nr_inodes={limits.workspace_files}"
        options = f"size={limits.workspace_bytes},{inodes},mode=700"
        small = f"size={min(limits.workspace_bytes, 16 * MIB)},{inodes},mode=1777"
        return [(DIRECTORY, flags, options), ("/tmp", flags, small), ("/dev/shm", flags, small)]

    def rlimits(self) -> dict[str, int]:
        """The resource limits; soft equals hard, so a submission cannot raise them."""
        limits = self.limits
        common = {"CORE": 0, "MSGQUEUE": 0, "MEMLOCK": 0, "CPU": limits.cpu_seconds}
        if self.kind.is_function:
            return common | {
                "AS": limits.memory_bytes,
                "FSIZE": limits.file_bytes,
                "NOFILE": limits.open_files,
                "NPROC": limits.processes,
                "STACK": 16 * MIB,
            }
        # V8 and the JVM reserve far more address space than they use (Node crashes below about 1 GB
        # of it): limit data instead. The CPU time of a workspace is limited per command, by its
        # process 1.
        special = {"DATA": limits.memory_bytes, "NPROC": limits.workspace_processes}
        if self.kind is Kind.WORKSPACE:
            del common["CPU"]
            special |= {"FSIZE": limits.workspace_file_bytes, "NOFILE": 256}
        else:
            special |= {"FSIZE": limits.file_bytes, "NOFILE": 64}
        return common | special

    def arguments(self, channels: Channels, configuration: int) -> list[str]:
        """The bubblewrap command line; the numbers are inherited descriptors."""
        line = ["--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
        line += ["--clearenv", "--setenv", "PYTHONHASHSEED", "0", "--hostname", "sandbox"]
        # Symbols bound before the clone need not be bound again in every child.
        line += ["--setenv", "LD_BIND_NOW", "1"]
        line += ["--uid", str(INNER_ID), "--gid", str(INNER_ID), "--as-pid-1"]
        for root in self._visible():
            line += ["--ro-bind", str(root), str(root)]
        for name in ("bin", "lib", "lib64"):
            if Path("/", name).exists():
                line += ["--symlink", f"usr/{name}", f"/{name}"]
        line += ["--proc", "/proc", "--dir", DIRECTORY, *self._devices()]
        line += ["--remount-ro", "/"]
        code = BOOTSTRAP.format(channels=channels, configuration=configuration)
        return [*line, "--", str(self.python), "-s", "-S", "-B", "-c", code]

    def _devices(self) -> list[str]:
        """The usual devices, without terminals: all sandboxes of a zygote would share them."""
        line = ["--dir", "/dev"]
        for path in ("/tmp", "/dev/shm"):
            is_own = self.kind is Kind.WORKSPACE
            line += ["--dir", path] if is_own else ["--symlink", DIRECTORY, path]
        for name in self._device_names():
            line += ["--dev-bind", f"/dev/{name}", f"/dev/{name}"]
        for name, target in (("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")):
            line += ["--symlink", f"/proc/self/fd{target}", f"/dev/{name}"]
        return line

    def _device_names(self) -> list[str]:
        """For functions only the most common ones: each is a mount in every child."""
        names = ["null", "zero", "random", "urandom"]
        return [*names, "full", "tty"] if self.kind is Kind.WORKSPACE else names

    def _visible(self) -> list[Path]:
        if self.kind is Kind.WORKSPACE:
            etc = ("/etc/alternatives", "/etc/ld.so.cache", "/etc/ssl/openssl.cnf")
            java = Path("/etc").glob("java-*")
            extra = [path for path in (*map(Path, etc), *java) if path.exists()]
            return [Path("/usr"), *extra, *self._prefix(), *self.roots]
        libraries = [Path("/usr/lib"), Path("/usr/lib64")]
        paths = [path for path in libraries if path.exists()] + self._prefix()
        if self.kind is Kind.NODE and self.node is not None:
            paths.append(self.node)
        return paths

    def _prefix(self) -> list[Path]:
        """The interpreter: one file in /usr, or the whole prefix it is installed under."""
        if self.python.is_relative_to("/usr/bin"):
            return [] if self.kind is Kind.WORKSPACE else [self.python]
        return [self.python.parent.parent]


BOOTSTRAP = """
import json, os, sys, types
sys.path[:] = [p for p in sys.path if p]
with open({configuration}, 'rb') as f: document = json.loads(f.read())
for name in ('arena', 'arena.sandbox', 'arena.sandbox.harness'):
    sys.modules[name] = types.ModuleType(name); sys.modules[name].__path__ = []
for name, source in document['modules']:
    module = sys.modules[name] = types.ModuleType(name)
    exec(compile(source, '<harness>', 'exec'), module.__dict__)
    setattr(sys.modules['arena.sandbox.harness'], name.rpartition('.')[2], module)
main = module.main
config = document['config']; config['scripts'] = document['scripts']
del document, module, name, source, f
main(*{channels}, config)
""".strip()
