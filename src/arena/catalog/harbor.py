"""Reads a Harbor task folder as a test: task.toml, instruction.md, environment, tests, solution.

The folder stays as it is. Arena's sandbox has one writable folder, so the absolute paths of a task
(its working folder, /tests, /solution, /logs) are replaced by their places in it, in the text of
the scripts. What Arena cannot do is a problem with the line that asks for it.
"""

import hashlib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from arena.catalog.dockerfile import Dockerfile, copied_by, read_dockerfile
from arena.catalog.solution import SOLUTION_FOLDER
from arena.documents.problem import TOP, FileProblem, Place
from arena.workspaces.collected import File
from arena.workspaces.description import (
    MAX_FILES_BYTES,
    MAX_SECONDS,
    BadFiles,
    files_in,
    write_files,
)
from arena.workspaces.hooks import is_hook

DESK = "/desk"
"""The folder of the sandbox in which commands run."""
INSIDE = ".harbor"
"""Where the parts of the task are that the agent does not get."""
REPORT = f"{INSIDE}/logs/verifier/reward.txt"
DEFAULT_WORKDIR = "/app"
DEFAULT_SECONDS = 600.0
MAX_AGENT_SECONDS = 86_400
KNOWN_TABLES = (
    "schema_version",
    "version",
    "source",
    "task",
    "metadata",
    "verifier",
    "agent",
    "environment",
    "solution",
)
IDLE_KEYS = {
    "verifier": ("timeout_sec", "user"),
    "agent": ("timeout_sec", "user"),
    "environment": (
        "build_timeout_sec",
        "docker_image",
        "cpus",
        "memory_mb",
        "memory",
        "storage_mb",
        "storage",
        "allow_internet",
        "network_mode",
        "workdir",
    ),
    "solution": (),
}
"""Keys that need nothing from Arena, or that it obeys; others are problems if they are set."""
NO_VALUE: tuple[object, ...] = (None, False, 0, "", [], {})
PATH_WORD = re.compile(r"[A-Za-z0-9_./-]+")
CANARY = re.compile(r"^\s*(<!--|#).*canary.*$", flags=re.IGNORECASE)


@dataclass(slots=True)
class HarborTask:
    """A task folder as the keys of a test; or its problems."""

    keys: dict[str, Any] = field(default_factory=dict[str, Any])
    category: str = "harbor"
    problems: list[FileProblem] = field(default_factory=list[FileProblem])
    digest: str = ""
    """Of all its files."""


def read_task(path: Path) -> HarborTask:
    """The task whose `task.toml` is at `path`."""
    reading = _TaskReading(path)
    reading.read()
    return reading.task


class _TaskReading:
    """The state while one task folder is read."""

    def __init__(self, path: Path) -> None:
        self.task = HarborTask()
        self._path = path
        self._folder = path.parent
        self._text = ""
        self._table: dict[str, Any] = {}
        self._bytes = 0
        self._hash = hashlib.sha256()

    def read(self) -> None:
        try:
            self._text = self._path.read_text()
            self._table = tomllib.loads(self._text)
        except (OSError, UnicodeDecodeError) as error:
            self._problem(self._path, f"cannot be read: {error}")
            return
        except tomllib.TOMLDecodeError as error:
            self._problem(self._path, f"is not TOML: {error}", _place_in(str(error)))
            return
        self._hash.update(self._text.encode())
        self._check_keys()
        instruction = self._instruction()
        environment = self._part("environment")
        tests, solution = self._part("tests"), self._part("solution")
        self._check_parts(environment, tests)
        docker = self._dockerfile(environment)
        if not self.task.problems:
            self._compose(instruction, environment, tests, solution, docker)
        self.task.digest = self._hash.hexdigest()

    # What is in the folder -----------------------------------------------------------------------

    def _instruction(self) -> str:
        file = self._folder / "instruction.md"
        try:
            text = file.read_text()
        except (OSError, UnicodeDecodeError):
            self._problem(file, "a Harbor task needs instruction.md, the text that the agent gets")
            return ""
        self._hash.update(text.encode())
        lines = text.splitlines()
        while lines and (not lines[0].strip() or CANARY.match(lines[0])):
            del lines[0]
        if not lines:
            self._problem(file, "is empty")
        return "\n".join(lines).strip()

    def _part(self, name: str) -> dict[str, File]:
        """The files of one part of the task."""
        folder = self._folder / name
        if not folder.is_dir():
            return {}
        try:
            files = files_in(folder)
        except (BadFiles, OSError) as error:
            self._problem(folder, str(error))
            return {}
        for path, file in sorted(files.items()):
            self._hash.update(f"{name}/{path}\0".encode(errors="surrogateescape"))
            self._hash.update(file.content)
        self._bytes += sum(len(file.content) for file in files.values())
        if self._bytes > MAX_FILES_BYTES:
            self._problem(folder, f"the files of the task have over {MAX_FILES_BYTES:,} bytes")
        return files

    def _check_parts(self, environment: Mapping[str, File], tests: Mapping[str, File]) -> None:
        if (self._folder / "steps").is_dir():
            self._problem(self._folder / "steps", "tasks of several steps are not supported")
        elif "test.sh" not in tests:
            self._problem(self._folder / "tests", "needs test.sh, which verifies the work")
        for name in ("docker-compose.yaml", "docker-compose.yml"):
            if name in environment:
                file = self._folder / "environment" / name
                self._problem(file, "several containers are not supported: use a Dockerfile")

    def _dockerfile(self, environment: Mapping[str, File]) -> Dockerfile:
        file = environment.get("Dockerfile")
        if file is None:
            return Dockerfile()
        return read_dockerfile(file.content.decode(errors="replace"))

    # task.toml -----------------------------------------------------------------------------------

    def _check_keys(self) -> None:
        """A problem for each key that asks for something that Arena does not do."""
        for name, value in self._table.items():
            if name not in KNOWN_TABLES and value not in NO_VALUE:
                self._refuse("", name)
            known = IDLE_KEYS.get(name)
            if known is not None and isinstance(value, dict):
                for key, inner in cast(dict[str, Any], value).items():
                    if key not in known and inner not in NO_VALUE:
                        self._refuse(name, key)
        if str(self._get("environment", "network_mode") or "") == "allowlist":
            self._refuse("environment", "network_mode")

    def _refuse(self, table: str, key: str) -> None:
        name = f"{table}.{key}" if table else key
        message = f"{name} is not supported: Arena cannot do what it asks for"
        self._problem(self._path, message, self._place(table, key))

    def _get(self, table: str, key: str) -> Any:
        value = self._table.get(table)
        return cast(dict[str, Any], value).get(key) if isinstance(value, dict) else None

    def _seconds(self, table: str, most: float) -> float:
        value = self._get(table, "timeout_sec")
        if value is None:
            return DEFAULT_SECONDS
        if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
            message = f"{table}.timeout_sec must be a number of seconds above 0"
            self._problem(self._path, message, self._place(table, "timeout_sec"))
            return DEFAULT_SECONDS
        if value > most:
            message = f"{table}.timeout_sec is {value:g}, at most {most:g} are allowed"
            self._problem(self._path, message, self._place(table, "timeout_sec"))
        return float(value)

    def _place(self, table: str, key: str) -> Place:
        """Where a key is: TOML readers do not say."""
        current = ""
        for number, line in enumerate(self._text.splitlines(), start=1):
            if header := re.match(r"\s*\[+\s*([^\]]+?)\s*\]+", line):
                current = header[1].strip("\"' ")
                if not table and current.split(".")[0] == key:
                    return Place(number, 1)
                if current == f"{table}.{key}":
                    return Place(number, 1)
            elif current == table and re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*[=.]", line):
                return Place(number, len(line) - len(line.lstrip()) + 1)
        return TOP

    def _problem(self, file: Path, message: str, place: Place = TOP) -> None:
        line, column = place
        self.task.problems.append(
            FileProblem(file=str(file), line=line, column=column, message=message)
        )

    # The test ------------------------------------------------------------------------------------

    def _compose(
        self,
        instruction: str,
        environment: Mapping[str, File],
        tests: Mapping[str, File],
        solution: Mapping[str, File],
        docker: Dockerfile,
    ) -> None:
        workdir = str(self._get("environment", "workdir") or docker.workdir or DEFAULT_WORKDIR)
        if workdir.count("/") != 1 or workdir in ("/", "/tmp", "/usr", "/root", "/home", "/etc"):
            file = self._folder / "environment" / "Dockerfile"
            message = f"the working folder {workdir} is not supported: use one like /app"
            self._problem(file, message, Place(docker.workdir_line or 1, 1))
            return
        image = self._image(environment, docker)
        paths = _Paths(workdir)
        workspace: dict[str, Any] = {"collect": ["**", *_named_hooks(instruction, workdir)]}
        if image is None:
            workspace["files"] = write_files(self._copied(environment, docker, workdir))
        else:
            workspace |= {"image": image, "setup": f"cp -R {workdir}/. ."}
        verify: dict[str, Any] = {
            "command": f"rm -rf {INSIDE}/logs; mkdir -p {INSIDE}/logs/verifier; "
            f"chmod +x {INSIDE}/tests/test.sh; {INSIDE}/tests/test.sh",
            "hidden": paths.written(tests, f"{INSIDE}/tests"),
            # Nothing that an agent needs is there: what it adds could only be meant for the tests.
            "unchanged": [f"{INSIDE}/**"],
            "score": "reward",
            "report": REPORT,
            "timeout": self._seconds("verifier", MAX_SECONDS),
            **({"image": image} if image else {}),
        }
        self.task.category = self._category()
        self.task.keys = {
            "id": _id(self._folder.name),
            "name": self._name(),
            **({"description": text} if (text := self._description(image)) else {}),
            "prompt": f"{instruction}\n\n(The folder {workdir} is your current folder.)",
            "timeout": max(1, round(self._seconds("agent", MAX_AGENT_SECONDS))),
            "tags": self._tags(),
            "workspace": workspace,
            "validation": "verify",
            "expected": {**verify, "pass_score": 100},
        }
        if "solve.sh" in solution:
            self.task.keys["solution"] = {
                "files": paths.written(solution, SOLUTION_FOLDER),
                "command": f"chmod +x {SOLUTION_FOLDER}/solve.sh; {SOLUTION_FOLDER}/solve.sh",
            }

    def _image(self, environment: Mapping[str, File], docker: Dockerfile) -> str | None:
        """The image that the task needs; None if its files are all that it needs."""
        named = self._get("environment", "docker_image")
        if isinstance(named, str) and named:
            return named
        if docker.is_only_files:
            return None
        digest = hashlib.sha256()
        for path, file in sorted(environment.items()):
            digest.update(path.encode(errors="surrogateescape") + b"\0" + file.content)
        return f"arena-harbor/{_id(self._folder.name).lower()}:{digest.hexdigest()[:12]}"

    def _copied(
        self, environment: Mapping[str, File], docker: Dockerfile, workdir: str
    ) -> dict[str, File]:
        """The files that the Dockerfile copies into the working folder."""
        files: dict[str, File] = {}
        dockerfile = self._folder / "environment" / "Dockerfile"
        if not docker.instructions:
            return dict(environment)
        for one in docker.copies:
            found = dict(copied_by(one, environment, workdir))
            if not found:
                message = f"copies nothing that is below {workdir}: {one.text}"
                self._problem(dockerfile, message, Place(one.line, 1))
            files |= found
        return files

    def _name(self) -> str:
        name = self._get("task", "name")
        return str(name)[:200] if isinstance(name, str) and name.strip() else self._folder.name

    def _category(self) -> str:
        category = self._get("metadata", "category")
        return category if isinstance(category, str) and category.strip() else "harbor"

    def _description(self, image: str | None) -> str:
        description = self._get("task", "description")
        parts = [description] if isinstance(description, str) and description.strip() else []
        if image is not None and image.startswith("arena-harbor/"):
            folder = self._folder.name
            parts.append(f"Build its image with: docker build -t {image} {folder}/environment")
        return "\n".join(parts)

    def _tags(self) -> list[str]:
        words: list[object] = []
        for table, key in (("metadata", "tags"), ("task", "keywords")):
            found = self._get(table, key)
            words += cast(list[object], found) if isinstance(found, list) else []
        words.append(self._get("metadata", "difficulty"))
        texts = (word.strip() for word in words if isinstance(word, str) and word.strip())
        return list(dict.fromkeys(text[:100] for text in texts if "\n" not in text))


@dataclass(frozen=True, slots=True)
class _Paths:
    """Where the absolute paths of a task are in the sandbox."""

    workdir: str

    def written(self, files: Mapping[str, File], folder: str) -> dict[str, Any]:
        """The files of a part below a folder, with the paths in their text replaced."""
        moved = {
            f"{folder}/{path}": File(
                content=self._replaced(file.content), is_executable=file.is_executable
            )
            for path, file in files.items()
        }
        return write_files(moved)

    def _replaced(self, content: bytes) -> bytes:
        try:
            text = content.decode()
        except UnicodeDecodeError:
            return content
        places = {
            self.workdir: DESK,
            "/tests": f"{DESK}/{INSIDE}/tests",
            "/logs": f"{DESK}/{INSIDE}/logs",
            "/solution": f"{DESK}/{SOLUTION_FOLDER}",
            "/oracle": f"{DESK}/{SOLUTION_FOLDER}",
        }
        names = "|".join(re.escape(path) for path in places)
        pattern = rf"(?<![\w./}}-])({names})(?![\w-])"
        return re.sub(pattern, lambda match: places[match[1]], text).encode()


def _named_hooks(instruction: str, workdir: str) -> list[str]:
    """Files that the instruction asks for and that would be left out as planted hooks."""
    found: list[str] = []
    for word in PATH_WORD.findall(instruction):
        path = word.removeprefix(f"{workdir}/").rstrip("./").removeprefix("./")
        is_plain = path and not path.startswith("/") and ".." not in path.split("/")
        if is_plain and is_hook(path) and path not in found:
            found.append(path)
    return found


def _id(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]", "_", name).lstrip("_.-")[:50] or "task"


def _place_in(message: str) -> Place:
    found = re.search(r"line (\d+), column (\d+)", message)
    return Place(int(found[1]), int(found[2])) if found else TOP
