"""A closed yard for attacks without walls: they succeed and damage only the yard.

A bubblewrap world with its own users, processes, network and files. In it the attacker is root
with every capability that such a world can grant, and finds decoys in place of the host's files:
users to read about, homes to list, a name that resolves, an address of a cloud's metadata.
"""

import fcntl
import os
import resource
import socket
import struct
from pathlib import Path

DATA_BYTES = 3 << 30
PROCESSES = 1000
DECOY = "/var/decoy"
METADATA = "169.254.169.254"
SET_ADDRESS = 0x8916


def yard(folder: Path, command: list[str]) -> list[str]:
    """The command line that runs `command` in a yard with only `folder` from the host's files."""
    line = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session"]
    line += ["--uid", "0", "--gid", "0", "--cap-add", "ALL", "--ro-bind", "/usr", "/usr"]
    for name in ("bin", "sbin", "lib", "lib64"):
        if Path("/", name).exists():
            line += ["--symlink", f"usr/{name}", f"/{name}"]
    prefix = Path(command[0]).parent.parent
    if not prefix.is_relative_to("/usr"):
        line += ["--ro-bind", str(prefix), str(prefix)]
    line += ["--proc", "/proc", "--dev", "/dev"]
    for place, size in (("/tmp", 64 << 20), ("/desk", 1 << 30)):
        line += ["--perms", "1777", "--size", str(size), "--tmpfs", place]
    for place in ("/root", "/home", "/var", "/sys", "/etc"):
        line += ["--dir", place]
    for place in ("/etc/alternatives", "/etc/ld.so.cache"):
        if Path(place).exists():
            line += ["--ro-bind", place, place]
    return [*line, "--bind", str(folder), str(folder), "--chdir", "/desk", "--", *command]


def fence_in() -> None:
    """Set limits between fork and exec: no attack may exhaust the machine itself."""
    resource.setrlimit(resource.RLIMIT_DATA, (DATA_BYTES, DATA_BYTES))
    resource.setrlimit(resource.RLIMIT_NPROC, (PROCESSES, PROCESSES))
    resource.setrlimit(resource.RLIMIT_CORE, (1 << 20, 1 << 20))


def furnish() -> None:
    """Set up the decoys, first of all inside the yard."""
    Path("/etc/passwd").write_text("root:x:0:0:decoy:/root:/bin/sh\n")
    Path("/etc/hosts").write_text("127.0.0.1 localhost example.org\n")
    Path("/etc/nsswitch.conf").write_text("hosts: files\n")
    Path("/sys/decoy").write_text("")
    Path("/harness").mkdir()
    Path(DECOY).write_text("")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        address = struct.pack("HH4s8x", socket.AF_INET, 0, socket.inet_aton(METADATA))
        fcntl.ioctl(any_socket, SET_ADDRESS, struct.pack("16s16s8x", b"lo:1", address))


def decoys() -> list[str]:
    """For a sandbox of its own in the yard: files that only look like the kernel's."""
    line = ["--dev-bind", "/", "/", "--proc", "/proc"]
    for place in ("/proc/sysrq-trigger", "/proc/sys/kernel/core_pattern", "/proc/kmsg"):
        if os.path.lexists(place):
            line += ["--bind", DECOY, place]
    return line
