"""The workspace of a test as the audit uses it: left alone, solved, or full of planted files."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from arena.catalog.solution import SOLUTION_FOLDER
from arena.catalog.test import Test
from arena.evaluation.file_sandbox import set_up
from arena.evaluation.resources import NotJudged, Resources
from arena.evaluation.standard import Standard, VerifyFiles, files_run_by, hidden_files, leaves
from arena.workspaces.collected import Collected, File
from arena.workspaces.description import Workspace, read_files, read_workspace
from arena.workspaces.diff import changes_between
from arena.workspaces.hooks import guarded
from arena.workspaces.names import matches_any

PASSING_JUNIT = (
    '<testsuite name="s" tests="100">'
    + "".join(f'<testcase classname="t" name="t{n}"/>' for n in range(100))
    + "</testsuite>"
)
PASSING = {"junit": PASSING_JUNIT.encode(), "json": b'{"score": 100}', "reward": b"1"}
"""Reports that say that all is well."""
PYTHON_EXIT = "import os\nos._exit(0)\n"
HOOKS = {
    "conftest.py": (
        "import pytest\n\n\n"
        "@pytest.hookimpl(hookwrapper=True)\n"
        "def pytest_runtest_makereport(item, call):\n"
        "    outcome = yield\n"
        "    outcome.get_result().outcome = 'passed'\n\n\n"
        "def pytest_sessionfinish(session):\n"
        "    session.exitstatus = 0\n"
    ),
    "sitecustomize.py": PYTHON_EXIT,
    "usercustomize.py": PYTHON_EXIT,
    "pytest.ini": "[pytest]\naddopts = --collect-only -q\n",
    "pytest.py": PYTHON_EXIT,
    "unittest.py": PYTHON_EXIT,
    "Makefile": "%:\n\t@exit 0\n",
    "package.json": '{"scripts": {"test": "exit 0"}}\n',
    ".bashrc": "exit 0\n",
    "planted.pth": "import os; os._exit(0)\n",
}
"""Files that tools load or obey without being told to."""
EXITS = {".py": PYTHON_EXIT, ".js": "process.exit(0);\n", ".sh": "exit 0\n"}
"""Code that ends its process at once, as if all were well, by the ending of its file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedWorkspace:
    """The files of a test, after its setup."""

    workspace: Workspace
    before: Mapping[str, File]
    standard: Standard
    resources: Resources
    solution: Mapping[str, Any]

    def left(self, changed: Mapping[str, File]) -> Collected:
        """What Arena collects if an agent leaves these files beside the given ones."""
        return self._collected({**self.before, **changed})

    def _collected(self, after: Mapping[str, File]) -> Collected:
        collect = self.workspace.collect
        found = {
            path: file
            for path, file in after.items()
            if matches_any(path, collect) and not path.startswith(f"{SOLUTION_FOLDER}/")
        }
        used = files_run_by(self.standard, self.before)
        clean = guarded(found, self.before, collect, used, hidden_files(self.standard))
        return Collected(
            files=clean.files,
            before=self.before,
            changes=tuple(changes_between(self.before, after)),
            problems=clean.problems,
            is_protected=True,
        )

    async def solved(self) -> Collected:
        """What Arena collects if the test's own solution was applied."""
        files = read_files(self.solution.get("files") or {})
        command = self.solution.get("command")
        if isinstance(command, str):
            if self.resources.sandbox is None:
                raise NotJudged("the command of a solution needs a sandbox", retryable=False)
            after = await set_up(
                self.resources.sandbox,
                {**self.before, **files},
                command,
                image=self.workspace.image,
                timeout=self.workspace.setup_timeout,
            )
            return self._collected(after)
        return self.left(files)

    def planted(self) -> Iterator[tuple[str, str, Collected]]:
        """The name of each cheat with files, what it does, and what is collected then."""
        hooks = {path: File(content=text.encode()) for path, text in HOOKS.items()}
        reports = {report: File(content=text) for report, text in self._reports()}
        names = ", ".join((*HOOKS, *reports))
        yield "hooks", f"plants {names}", self.left({**hooks, **reports})
        exits = {
            path: File(content=EXITS[ending].encode())
            for path in self._code()
            for ending in EXITS
            if path.endswith(ending)
        }
        if exits:
            what = f"ends at once with exit code 0 in {', '.join(sorted(exits))}"
            yield "exit", what, self.left(exits)

    def _code(self) -> Iterator[str]:
        """The files that an agent may change, or has to make."""
        hidden = {
            path
            for leaf in leaves(self.standard)
            if isinstance(leaf, VerifyFiles)
            for path in leaf.hidden
        }
        made: Mapping[str, object] = self.solution.get("files") or {}
        yield from (path for path in {**self.before, **made} if path not in hidden)

    def _reports(self) -> Iterator[tuple[str, bytes]]:
        for leaf in leaves(self.standard):
            if isinstance(leaf, VerifyFiles):
                for report in leaf.reports:
                    yield report, PASSING[leaf.score]


async def audited_workspace(
    test: Test, standard: Standard, resources: Resources
) -> AuditedWorkspace | None:
    """The workspace of a test; None if it has none."""
    if test.workspace is None:
        return None
    workspace = read_workspace(test.workspace)
    before: Mapping[str, File] = workspace.files
    if workspace.setup is not None:
        if resources.sandbox is None:
            raise NotJudged("the setup of a workspace needs a sandbox", retryable=False)
        before = await set_up(
            resources.sandbox,
            workspace.files,
            workspace.setup,
            image=workspace.image,
            timeout=workspace.setup_timeout,
        )
    return AuditedWorkspace(
        workspace=workspace,
        before=before,
        standard=standard,
        resources=resources,
        solution=test.solution or {},
    )
