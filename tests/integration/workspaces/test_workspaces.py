"""Agents that work on files: every kind of agent, setup, reports, records."""

import asyncio
import base64
import io
import json
import os
import shutil
import subprocess
import tarfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from arena.agents.agent_file import read_agent
from arena.content.store import LocalStore
from arena.errors import InvalidInput
from arena.evaluation.evaluate import evaluate
from arena.evaluation.reading import read_standard_document
from arena.evaluation.record import keep_record
from arena.evaluation.resources import Resources
from arena.evaluation.verdict import Submission, Verdict
from arena.evaluation.verify import verify
from arena.runs.abilities import check_abilities
from arena.runs.session import NotExecuted
from arena.sandbox.namespace.provider import NamespaceProvider
from arena.settings import Settings
from arena.workspaces.archive import read_archive, write_archive
from arena.workspaces.collected import Change, Collected, File
from arena.workspaces.folder import remove
from factories import a_test
from http_server import Request, Server
from integration.sandbox.machine import need, need_isolation
from integration.workspaces.world import FILES, HIDDEN, HONEST, ask, judged, task

pytestmark = pytest.mark.asyncio(loop_scope="module")
RIGHT = b"def add(a, b):\n    return a + b\n"
PATCH = (
    "--- a/calc.py\n+++ b/calc.py\n@@ -1,2 +1,2 @@\n def add(a, b):\n"
    "-    return a - b\n+    return a + b\n"
)
GIVEN = {path: File(content=text.encode()) for path, text in FILES.items()}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def resources() -> AsyncIterator[Resources]:
    need_isolation()
    async with NamespaceProvider() as provider:
        yield Resources(sandbox=provider)


@pytest_asyncio.fixture(loop_scope="module")
async def server() -> AsyncIterator[Server]:
    server = Server()
    await server.start()
    yield server
    await server.stop()


def agent(folder: Path, connector: dict[str, Any]) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / "agent.yaml"
    path.write_text(json.dumps({"id": "agent", "connector": connector}))
    return path


# Kinds of agents ----------------------------------------------------------------------------------


async def test_a_python_function_works_in_the_folder(tmp_path: Path, resources: Resources) -> None:
    file = agent(tmp_path / "agent", {"type": "python", "callable": "worker:answer"})
    file.with_name("worker.py").write_text(
        "import os\ndef answer(prompt, workspace):\n"
        f"    {HONEST}    assert os.path.samefile('.', workspace)\n    return 'Done.'\n"
    )
    result = await ask(file, task("unittest"), resources)
    assert result.passed, result.failure_reason


async def test_a_python_function_need_not_take_the_folder(
    tmp_path: Path, resources: Resources
) -> None:
    file = agent(tmp_path / "agent", {"type": "python", "callable": "worker:answer"})
    file.with_name("worker.py").write_text(f"def answer(prompt):\n    {HONEST}    return 'Done.'\n")
    assert (await ask(file, task("unittest"), resources)).passed


async def test_a_program_with_lines_gets_a_process_of_its_own(
    tmp_path: Path, resources: Resources
) -> None:
    keys = {"type": "command", "command": "{python} loop.py", "persistent": True}
    file = agent(tmp_path / "agent", keys)
    file.with_name("loop.py").write_text(
        "import json, os, sys\nfor line in sys.stdin:\n    question = json.loads(line)\n"
        f"    {HONEST}    assert os.path.samefile('.', question['workspace'])\n"
        "    print(json.dumps({'id': question['id'], 'output': 'Done.'}), flush=True)\n"
    )
    assert (await ask(file, task("unittest"), resources)).passed


async def test_a_remote_agent_gets_an_archive_and_returns_one(
    tmp_path: Path, resources: Resources, server: Server
) -> None:
    async def work(request: Request, writer: asyncio.StreamWriter) -> None:
        archive = base64.b64decode(request.json["workspace"]["archive"])
        files = {**read_archive(archive), "calc.py": File(content=RIGHT)}
        text = base64.b64encode(write_archive(files)).decode()
        await reply(writer, {"output": "Done.", "workspace": {"archive": text}})

    server.do(work)
    file = agent(tmp_path / "agent", {"type": "http", "url": server.url})
    result = await ask(file, task("unittest"), resources)
    assert result.passed, result.failure_reason
    assert result.workspace is not None
    assert result.workspace["changes"] == [{"path": "calc.py", "kind": "changed"}]
    assert result.workspace["is_protected"] is False  # on this machine, as far as one can tell


async def test_a_remote_agent_returns_a_patch_and_a_body_says_where_the_files_go(
    tmp_path: Path, resources: Resources, server: Server
) -> None:
    server.say({"output": "Done.", "workspace": {"patch": PATCH}})
    body = {"task": "{prompt}", "tar": "{workspace}"}
    file = agent(tmp_path / "agent", {"type": "http", "url": server.url, "body": body})
    assert (await ask(file, task("unittest"), resources)).passed
    sent = server.requests[0].json
    assert read_archive(base64.b64decode(sent["tar"])) == GIVEN
    assert set(sent) == {"task", "tar"}


async def reply(writer: asyncio.StreamWriter, body: object) -> None:
    raw = json.dumps(body).encode()
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(raw) + raw)
    await writer.drain()


def hostile(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as opened:
        entry = tarfile.TarInfo(name)
        entry.type, entry.linkname, entry.size = kind, link, 0
        opened.addfile(entry)
        if link:
            inner = tarfile.TarInfo(f"{name}/evil")
            opened.addfile(inner)
    return buffer.getvalue()


ARCHIVES = {
    "a path that leads out": (hostile("../evil"), "'../evil' leads out"),
    "a link and a file behind it": (hostile("d", tarfile.SYMTYPE, ".."), "'d' is a symbolic link"),
    "a pipe": (hostile("calc.py", tarfile.FIFOTYPE), "'calc.py' is a named pipe"),
}


@pytest.mark.parametrize("name", ARCHIVES)
async def test_a_hostile_archive_fails_the_agent(
    tmp_path: Path, resources: Resources, server: Server, name: str
) -> None:
    archive, reason = ARCHIVES[name]
    text = base64.b64encode(archive).decode()
    server.say({"output": "Done.", "workspace": {"archive": text}})
    file = agent(tmp_path / "agent", {"type": "http", "url": server.url})
    result = await ask(file, task("unittest"), resources)
    assert (result.passed, result.score) == (False, 0)
    assert reason in str(result.failure_reason)


@pytest.mark.parametrize("name", ["a path that leads out", "a link and a file behind it"])
async def test_the_archive_escapes_without_protection(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    with tarfile.open(fileobj=io.BytesIO(ARCHIVES[name][0])) as opened:
        opened.extractall(folder, filter="fully_trusted")
    assert (tmp_path / "evil").exists()


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"patch": PATCH.replace("a - b", "b - a")}, "does not fit"),
        ({"patch": PATCH.replace("calc.py", "../calc.py")}, "leads out"),
        ({"archive": "???"}, "not base64"),
        ({}, "either 'archive' or 'patch'"),
    ],
)
async def test_files_that_cannot_be_used_fail_the_agent(
    tmp_path: Path, resources: Resources, server: Server, files: dict[str, str], reason: str
) -> None:
    server.say({"output": "Done.", "workspace": files})
    file = agent(tmp_path / "agent", {"type": "http", "url": server.url})
    result = await ask(file, task("unittest"), resources)
    assert result.passed is False and reason in str(result.failure_reason)


@pytest.mark.parametrize(
    "connector",
    [
        {"type": "openai", "base_url": "http://127.0.0.1:9/v1", "model": "m"},
        {"type": "a2a", "url": "http://127.0.0.1:9"},
    ],
)
async def test_an_agent_that_cannot_get_files_is_refused_when_the_run_is_created(
    tmp_path: Path, connector: dict[str, Any]
) -> None:
    definition, _ = read_agent(agent(tmp_path / "agent", connector))
    with pytest.raises(InvalidInput, match=r"'add' gives the agent a workspace.*command, http"):
        check_abilities(definition, [task("unittest")], Settings(home=tmp_path))


async def test_a_failed_agent_keeps_what_it_did(tmp_path: Path, resources: Resources) -> None:
    result = await judged(tmp_path, HONEST + "sys.exit(3)\n", task("unittest"), resources)
    assert (result.status, result.passed) == ("failed", False)
    assert result.workspace is not None and "+    return a + b" in result.workspace["diff"]


async def test_a_folder_that_cannot_be_removed_does_not_stop_the_run(
    tmp_path: Path, resources: Resources, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "try").touch()
    can_lock = subprocess.run(["chattr", "+i", tmp_path / "try"], check=False).returncode == 0
    subprocess.run(["chattr", "-i", tmp_path / "try"], check=False)
    need(can_lock, "only root makes files immutable, on some file systems")
    fixed = HONEST + "open('fixed', 'w').close()\nos.system('chattr +i fixed')\n"
    try:
        result = await judged(tmp_path, fixed, task("unittest"), resources)
        assert result.passed, result.failure_reason
        assert "cannot remove the workspace" in caplog.text
    finally:
        left = caplog.text.partition("the workspace ")[2].partition(":")[0]
        subprocess.run(["chattr", "-i", f"{left}/fixed"], check=False)
        remove(Path(left))


async def test_secrets_in_files_are_redacted(
    tmp_path: Path, resources: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_KEY", "very-secret-key")
    keys = {"type": "command", "command": "{python} agent.py", "env": ["AGENT_KEY"]}
    file = agent(tmp_path / "agent", keys)
    file.with_name("agent.py").write_text(
        "import os\nopen('key.txt', 'w').write(os.environ['AGENT_KEY'])\nprint('ok')\n"
    )
    result = await ask(file, task("unittest"), resources)
    assert "very-secret-key" not in json.dumps(result.workspace)
    assert "[redacted]" in json.dumps(result.workspace)


# Setup and isolation ------------------------------------------------------------------------------


async def test_setup_runs_in_the_sandbox_before_the_agent(
    tmp_path: Path, resources: Resources
) -> None:
    test = a_test(
        id="t",
        validation="verify",
        expected={"command": "cmp made.txt copy.txt"},
        workspace={"files": {"a": "1"}, "setup": "cp a made.txt; id -u > user; chmod +x a"},
    )
    source = (
        "import shutil\nshutil.copy('made.txt', 'copy.txt')\n"
        "print(open('user').read(), os.access('a', os.X_OK))\n"
    )
    result = await judged(tmp_path, source, test, resources)
    assert result.passed, result.failure_reason
    output = str((result.actual_output or {})["output"])
    assert "True" in output and not output.startswith(f"{os.getuid()}\n")


@pytest.mark.parametrize(
    ("setup", "reason"),
    [
        ("echo no >&2; exit 3", "exit code 3: no"),
        ("ln -s /etc/passwd link", "'link' is a symbolic link"),
        ("sleep 60", "wall_time"),
    ],
)
async def test_a_setup_that_fails_is_not_the_agents_fault(
    tmp_path: Path, resources: Resources, setup: str, reason: str
) -> None:
    workspace = {"files": {}, "setup": setup, "setup_timeout": 1}
    test = a_test(validation="verify", expected={"command": "true"}, workspace=workspace)
    with pytest.raises(NotExecuted) as failed:
        await judged(tmp_path, "", test, resources)
    assert reason in failed.value.cause.message


async def test_every_trial_gets_its_files_fresh(tmp_path: Path, resources: Resources) -> None:
    source = "print(sorted(os.listdir('.')))\nopen('left', 'w').close()\n"
    test = task("unittest")
    outputs = [
        (await judged(tmp_path, source, test, resources)).actual_output["output"]  # type: ignore[index]
        for _ in range(2)
    ]
    assert outputs[0] == outputs[1] and "left" not in outputs[0]


async def test_only_collected_files_reach_the_verification(
    tmp_path: Path, resources: Resources
) -> None:
    test = a_test(
        validation="verify",
        expected={"command": "test -e kept/a && test ! -e other && test ! -e given"},
        workspace={"files": {"given": "1"}, "collect": ["kept/**"]},
    )
    source = "write('kept/a', '1')\nwrite('other', '1')\n"
    result = await judged(tmp_path, source, test, resources)
    assert result.passed, result.failure_reason


@pytest.mark.parametrize(("hidden", "is_protected"), [(HIDDEN, False), ({}, True)])
async def test_results_on_this_machine_are_unprotected_if_something_is_hidden(
    tmp_path: Path, resources: Resources, hidden: dict[str, str], is_protected: bool
) -> None:
    result = await judged(tmp_path, HONEST, task("unittest", hidden=hidden), resources)
    assert result.workspace is not None
    assert result.workspace["is_protected"] is is_protected


# Reports ------------------------------------------------------------------------------------------


def reporting(command: str, **keys: Any) -> dict[str, Any]:
    return {"type": "verify", "command": command, **keys}


async def verdict(document: dict[str, Any], resources: Resources, **files: bytes) -> Verdict:
    collected = Collected(files={path: File(content=data) for path, data in files.items()})
    standard = read_standard_document(document)
    return await evaluate(standard, Submission(output="x", files=collected), resources)


JSON = {"score": "json", "report": "r"}
JUNIT = {"score": "junit", "report": "r"}


@pytest.mark.parametrize(
    ("command", "keys", "score", "reason"),
    [
        ("echo '{\"score\": 70}' > r", JSON, 70, "the report gives 70"),
        ('echo \'{"score": 70, "reason": "fine"}\' > r', JSON, 70, "fine"),
        ("echo '{\"score\": 70}' > r; exit 1", JSON, 0, "does not count"),
        ("true", JSON, 0, "there is no file 'r'"),
        ("echo '{\"score\": 70}'", JSON, 0, "there is no file 'r'"),
        ("echo '{\"score\": true}' > r", JSON, 0, "needs a score"),
        ("echo '{\"score\": 101}' > r", JSON, 0, "needs a score"),
        ("echo '{\"score\": NaN}' > r", JSON, 0, "needs a score"),
        ("echo nonsense > r", JSON, 0, "is not JSON"),
        ("ln -s /etc/hostname r", JSON, 0, "'r' cannot be used"),
        ("echo '<s><testcase name=\"a\"/><testcase/></s>' > r", JUNIT, 100, "2 of 2"),
        ("echo '<s><testcase name=\"a\"/></s>' > r; exit 3", JUNIT, 0, "exit code 3"),
        (
            "echo '<s><testcase/><testcase name=\"b\"><error/></testcase></s>' > r; false",
            JUNIT,
            50,
            "b: error",
        ),
        ("echo '<s><testcase/><testcase><skipped/></testcase></s>' > r", JUNIT, 50, "skipped"),
        ("echo '<s><testcase/></s>' > r", {**JUNIT, "min_cases": 4}, 25, "only 1"),
        ("echo '<s/>' > r", JUNIT, 0, "no test cases"),
        ("echo '<s>' > r", JUNIT, 0, "not XML"),
        (
            "echo '<!DOCTYPE s [<!ENTITY a \"b\">]><s><testcase/></s>' > r",
            JUNIT,
            0,
            "document type",
        ),
        ("sleep 60", {"timeout": 0.5}, 0, "wall_time"),
        ("echo broken >&2; exit 4", {}, 0, "exit code 4: broken"),
        ("test $HOME = /tmp", {}, 100, "exit code 0"),
    ],
)
async def test_the_score_comes_from_the_exit_code_or_the_report(
    resources: Resources, command: str, keys: dict[str, Any], score: float, reason: str
) -> None:
    found = await verdict(reporting(command, **keys), resources)
    assert found.score == score, found.reasoning
    assert reason in found.reasoning


@pytest.mark.parametrize(
    ("before", "hidden", "after", "passed"),
    [
        # What was built before the change is built again.
        ({"given.py": "print(-1)", "sum.txt": "-1"}, "print(7)", {"given.py": "print(5)"}, True),
        # A planted result of a given program, and of a hidden one.
        ({"given.py": "print(-1)"}, "print(7)", {"sum.txt": "5"}, False),
        ({"given.py": "print(5)"}, "print(-1)", {"more.txt": "7"}, False),
    ],
)
async def test_make_builds_again_what_the_agent_or_the_test_changed(
    resources: Resources,
    before: dict[str, str],
    hidden: str,
    after: dict[str, str],
    passed: bool,
) -> None:
    need(shutil.which("make") is not None, "make is not installed")
    rules = "all: sum.txt more.txt\nsum.txt: given.py\n\tpython3 given.py > sum.txt\n"
    rules += "more.txt: more.py\n\tpython3 more.py > more.txt\n"
    before = {"Makefile": rules, **before}
    files = {path: File(content=text.encode()) for path, text in (before | after).items()}
    changes = tuple(
        Change(path=path, kind="changed" if path in before else "added") for path in after
    )
    command = "make -s all && grep -q 5 sum.txt && grep -q 7 more.txt"
    standard = read_standard_document(
        {"type": "verify", "command": command, "hidden": {"more.py": hidden}}
    )
    verdict = await evaluate(
        standard, Submission(output="", files=Collected(files=files, changes=changes)), resources
    )
    assert verdict.passed is passed, verdict.reasoning


async def test_a_submission_without_files_fails(resources: Resources) -> None:
    standard = read_standard_document(reporting("true"))
    found = await evaluate(standard, Submission(output="x"), resources)
    assert (found.score, found.passed) == (0, False) and "no files" in found.reasoning


async def test_verify_works_inside_composites(resources: Resources) -> None:
    text = {"type": "contains", "contains": ["x"]}
    document = {"type": "all_of", "all_of": [text, reporting("test -e a")]}
    assert (await verdict(document, resources, a=b"1")).passed
    assert not (await verdict(document, resources, b=b"1")).passed


# Records ------------------------------------------------------------------------------------------


async def test_a_record_holds_the_files_and_the_verdict_can_be_replayed(
    tmp_path: Path, resources: Resources
) -> None:
    store = LocalStore(tmp_path / "content")
    test = task("unittest")
    collected = Collected(
        files={**GIVEN, "calc.py": File(content=RIGHT)},
        changes=(Change(path="calc.py", kind="changed"),),
        is_protected=True,
    )
    submission = Submission(output="Done.", files=collected)
    made = await evaluate(test.standard, submission, resources)
    assert made.passed, made.reasoning
    cid = keep_record(store, test.document, submission, made)
    found = await verify(store, cid, resources.sandbox)
    assert (found.outcome, found.score) == ("holds", 100), found
    forged = keep_record(
        store, test.document, Submission(output="Done.", files=Collected(files=GIVEN)), made
    )
    assert (await verify(store, forged, resources.sandbox)).outcome == "differs"
    elsewhere = await verify(store, cid, None)
    assert elsewhere.outcome == "cannot_be_replayed"
