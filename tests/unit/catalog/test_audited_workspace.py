"""The audit of tests with a workspace: solutions of files, planted hooks, early exits."""

from collections.abc import AsyncGenerator

import pytest

from arena.catalog.audit import AuditedTest, audit_test
from arena.evaluation.resources import Resources
from arena.sandbox.namespace.provider import NamespaceProvider
from factories import a_test

CHECK = """
import sys, importlib
sys.path.insert(0, ".")
sums = importlib.import_module("sums")
sys.exit(0 if sums.add(2, 3) == 5 else 1)
"""
JUNIT = """
import subprocess, sys
code = "import sums; print(sums.add(2, 3), sums.add(0, 0))"
got = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
bodies = "" if got.split() == ["5", "0"] else "<failure/>"
with open("report.xml", "w") as file:
    file.write(f'<testsuite><testcase name="sums">{bodies}</testcase></testsuite>')
"""
GIVEN = {"sums.py": "def add(a, b):\n    return a - b\n"}
SOLVED = {"sums.py": "def add(a, b):\n    return a + b\n"}


@pytest.fixture
async def resources() -> AsyncGenerator[Resources]:
    async with NamespaceProvider() as sandbox:
        yield Resources(sandbox=sandbox)


async def audited(
    resources: Resources, verify: dict[str, object], workspace: dict[str, object], **keys: object
) -> AuditedTest:
    hidden = {"check.py": CHECK, "junit.py": JUNIT}
    test = a_test(
        validation="verify",
        expected={"command": "python3 check.py", "hidden": hidden, **verify},
        workspace={"files": GIVEN, **workspace},
        **keys,
    )
    found = await audit_test(test, resources)
    assert found is not None
    return found


async def test_a_solution_may_be_files_or_a_command(resources: Resources) -> None:
    by_files = await audited(resources, {}, {}, solution={"files": SOLVED})
    command = "sed -i s/-/+/ sums.py"
    by_command = await audited(resources, {}, {}, solution={"command": command})
    assert by_files.is_solved
    assert by_command.is_solved
    broken = await audited(resources, {}, {}, solution={"files": {"other.py": ""}})
    assert [one.kind for one in broken.findings][:1] == ["solution"]
    assert "exit code 1" in broken.findings[0].reason


async def test_code_that_ends_at_once_passes_an_exit_code(resources: Resources) -> None:
    found = await audited(resources, {}, {}, solution={"files": SOLVED})
    (finding,) = found.findings
    assert (finding.kind, finding.agent) == ("cheat", "exit")
    assert finding.answer == "ends at once with exit code 0 in sums.py"
    assert "junit" in finding.hint


async def test_a_report_from_another_process_closes_that_hole(resources: Resources) -> None:
    verify = {"command": "python3 -I junit.py", "score": "junit", "report": "report.xml"}
    found = await audited(resources, verify, {}, solution={"files": SOLVED})
    assert (found.findings, found.is_solved) == ((), True)


async def test_a_planted_hook_works_only_where_the_test_collects_it(resources: Resources) -> None:
    verify = {"command": "python3 -c 'import check_all'", "hidden": {"check_all.py": "1/0"}}
    closed = await audited(resources, verify, {})
    assert closed.findings == ()
    # The control: with the protection switched off by name, the same cheat passes.
    verify["command"] = "PYTHONPATH=. python3 -c 'import check_all'"
    still = await audited(resources, verify, {})
    assert still.findings == ()
    opened = await audited(resources, verify, {"collect": ["sums.py", "sitecustomize.py"]})
    assert [(one.kind, one.agent) for one in opened.findings] == [("cheat", "hooks")]


async def test_a_workspace_that_already_passes_is_found(resources: Resources) -> None:
    found = await audited(resources, {}, {"files": SOLVED})
    assert [(one.kind, one.agent) for one in found.findings] == [("null", "silence")]
    assert "still to be done" in found.findings[0].hint


async def test_a_setup_runs_before_the_audit(resources: Resources) -> None:
    found = await audited(resources, {}, {"setup": "sed -i s/-/+/ sums.py"})
    assert [one.agent for one in found.findings] == ["silence"]


async def test_without_a_sandbox_it_is_left_out() -> None:
    test = a_test(validation="verify", expected={"command": "true"}, workspace={"files": GIVEN})
    assert await audit_test(test) is None
