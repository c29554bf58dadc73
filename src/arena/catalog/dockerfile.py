"""Reads as much of a Dockerfile as is needed to know which files a task starts with."""

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from arena.workspaces.collected import File

PLAIN = frozenset({"FROM", "WORKDIR", "COPY", "ADD", "LABEL", "MAINTAINER", "CMD", "ENTRYPOINT"})
"""Instructions after which the files of the folder are all that matters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Instruction:
    """One instruction."""

    name: str
    text: str
    line: int
    words: tuple[str, ...] = ()
    """Of COPY and ADD: the sources, then the target."""
    workdir: str | None = None
    """The working folder at this line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dockerfile:
    """The instructions of a Dockerfile."""

    instructions: tuple[Instruction, ...] = ()

    @property
    def copies(self) -> tuple[Instruction, ...]:
        """The instructions that copy files of the folder."""
        return tuple(one for one in self.instructions if one.name in ("COPY", "ADD"))

    @property
    def workdir(self) -> str | None:
        """The working folder at the end."""
        return self.instructions[-1].workdir if self.instructions else None

    @property
    def workdir_line(self) -> int | None:
        """The line of the last WORKDIR."""
        lines = [one.line for one in self.instructions if one.name == "WORKDIR"]
        return lines[-1] if lines else None

    @property
    def is_only_files(self) -> bool:
        """Whether it does nothing but copy files: then no image is needed for them."""
        return all(
            one.name in PLAIN and (one.name not in ("COPY", "ADD") or len(one.words) > 1)
            for one in self.instructions
        )


def read_dockerfile(text: str) -> Dockerfile:
    """The instructions; what cannot be understood is an instruction that needs an image."""
    found: list[Instruction] = []
    workdir: str | None = None
    for line, whole in _lines(text):
        name, _, rest = whole.partition(" ")
        name = name.upper()
        words = _words(rest) if name in ("COPY", "ADD") else ()
        if name == "WORKDIR":
            target = rest.strip().strip("\"'")
            workdir = target if target.startswith("/") else f"{workdir or ''}/{target}"
            workdir = workdir.rstrip("/") or "/"
        found.append(Instruction(name=name, text=whole, line=line, words=words, workdir=workdir))
    return Dockerfile(instructions=tuple(found))


def copied_by(
    copy: Instruction, environment: Mapping[str, File], workdir: str
) -> Iterator[tuple[str, File]]:
    """The files of one COPY, by their paths in the working folder."""
    *sources, target = copy.words
    # A path that does not begin with / is relative to the WORKDIR at that line.
    absolute = target if target.startswith("/") else f"{copy.workdir or workdir}/{target}"
    is_folder = absolute.endswith(("/", "/.")) or len(sources) > 1
    parts = [part for part in absolute.split("/") if part not in ("", ".")]
    if parts[:1] != [workdir.strip("/")]:
        return
    below = "/".join(parts[1:])
    for source in sources:
        name = "/".join(part for part in source.split("/") if part not in ("", "."))
        if name in environment:
            last = name.rpartition("/")[2]
            folder = is_folder or not below
            path = "/".join(filter(None, (below, last))) if folder else below
            yield path, environment[name]
            continue
        prefix = f"{name}/" if name else ""
        for path, file in environment.items():
            if path.startswith(prefix) and path != "Dockerfile":
                yield "/".join(filter(None, (below, path.removeprefix(prefix)))), file


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Each instruction on one line, with the number of its first line."""
    parts: list[str] = []
    first = 0
    for number, line in enumerate(text.splitlines(), start=1):
        stripped = line.strip()
        if stripped.startswith("#") or (not stripped and not parts):
            continue
        first = first if parts else number
        parts.append(stripped.removesuffix("\\").strip())
        if not stripped.endswith("\\"):
            yield first, re.sub(r"\s+", " ", " ".join(parts)).strip()
            parts = []
    if parts:
        yield first, " ".join(parts)


def _words(rest: str) -> tuple[str, ...]:
    """The paths of a COPY; none if it copies from elsewhere or cannot be understood."""
    try:
        listed: object = json.loads(rest) if rest.lstrip().startswith("[") else shlex.split(rest)
    except ValueError:
        return ()
    words = [str(one) for one in cast(list[object], listed)]
    flags = [word for word in words if word.startswith("--")]
    is_plain = all(flag.startswith(("--chown=", "--chmod=")) for flag in flags)
    paths = [word for word in words if not word.startswith("--")]
    # Patterns, variables, URLs and here-documents are for the builder.
    is_local = not any(re.search(r"[*?\[$]|^<<|://", path) for path in paths)
    return tuple(paths) if is_plain and is_local else ()
