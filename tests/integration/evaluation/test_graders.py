"""Own graders: scripts in the sandbox, and validators of installed packages."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from arena.content.store import LocalStore
from arena.evaluation.evaluate import evaluate
from arena.evaluation.packaged import installed_validators
from arena.evaluation.reading import read_standard, read_standard_document
from arena.evaluation.record import keep_record
from arena.evaluation.resources import GraderError, NotJudged, Resources
from arena.evaluation.verdict import Submission, Verdict
from arena.evaluation.verify import verify
from arena.models.message import Message
from arena.models.step import Step
from arena.models.usage import Usage
from arena.sandbox.errors import LanguageRefused
from arena.sandbox.namespace.provider import NamespaceProvider
from arena.workspaces.collected import Change, Collected, File

ADD = "def add(a, b):\n    return a + b\n"
EVERYTHING = Submission(
    output="done: 3 files",
    messages=(Message(role="user", content="go"), Message(role="assistant", content="done")),
    steps=(Step(tool="search", arguments={"q": "x"}, result=[1]),),
    usage=Usage(input_tokens=5, output_tokens=7),
    duration_seconds=1.5,
    files=Collected(
        files={"a.txt": File(content=b"caf\xc3\xa9"), "b.bin": File(content=b"\xff\x00")},
        changes=(Change(path="a.txt", kind="added"),),
    ),
)
PYTHON_EVERYTHING = """
def grade(submission):
    assert submission.output == "done: 3 files"
    assert [message.role for message in submission.messages] == ["user", "assistant"]
    assert submission.steps[0].tool == "search"
    assert submission.steps[0].arguments == {"q": "x"}
    assert submission.files["a.txt"].text == "café"
    assert submission.files["b.bin"].content == b"\\xff\\x00"
    assert submission.changes[0].kind == "added"
    assert submission.usage.output_tokens == 7
    assert submission.duration_seconds == 1.5
    return True
"""
JAVASCRIPT_EVERYTHING = """
function grade(submission) {
  assert.strictEqual(submission.output, "done: 3 files");
  assert.deepStrictEqual(submission.messages.map((one) => one.role), ["user", "assistant"]);
  assert.strictEqual(submission.steps[0].tool, "search");
  assert.strictEqual(submission.files["a.txt"].text, "café");
  assert.deepStrictEqual([...submission.files["b.bin"].content], [255, 0]);
  assert.strictEqual(submission.changes[0].kind, "added");
  assert.strictEqual(submission.usage.output_tokens, 7);
  return true;
}
"""


@pytest.fixture
async def resources() -> AsyncIterator[Resources]:
    async with NamespaceProvider() as sandbox:
        yield Resources(sandbox=sandbox)


async def grade(
    resources: Resources, script: str, submission: str | Submission, **body: object
) -> Verdict:
    kind = str(body.pop("kind", "python"))
    given = Submission(output=submission) if isinstance(submission, str) else submission
    return await evaluate(read_standard(kind, {"script": script, **body}), given, resources)


@pytest.mark.parametrize(
    ("returned", "score", "passed"),
    [
        ("True", 100, True),
        ("False", 0, False),
        ("60", 60, True),
        ("59.5", 59.5, False),
        ("{'score': 80, 'findings': ['a', {'criterion': 'c', 'passed': False}]}", 80, True),
    ],
)
async def test_grade_returns_a_bool_a_score_or_findings(
    resources: Resources, returned: str, score: float, passed: bool
) -> None:
    verdict = await grade(resources, f"def grade(submission):\n    return {returned}", "x")
    assert (verdict.score, verdict.passed) == (score, passed)
    if "findings" in returned:
        assert [one.criterion for one in verdict.findings] == ["the grader's checks", "c"]
        assert [one.passed for one in verdict.findings] == [True, False]


@pytest.mark.parametrize(
    ("kind", "script"), [("python", PYTHON_EVERYTHING), ("javascript", JAVASCRIPT_EVERYTHING)]
)
async def test_a_script_sees_everything_that_the_agent_did(
    resources: Resources, kind: str, script: str
) -> None:
    verdict = await grade(resources, script, EVERYTHING, kind=kind)
    assert verdict.score == 100, verdict.reasoning


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("def grade(submission):\n    return unknown", "NameError"),
        ("def grade(submission):\n    return 101", "a score of 0 to 100"),
        ("def grade(submission):\n    return None", "a bool or a score"),
        ("def grade(submission):\n    return {'scores': 1}", "its keys are score"),
        ("def grade(submission:", "SyntaxError"),
        ("import json\ndef grade(s):\n    return json.loads(s.output)['a']", "JSONDecodeError"),
        ("x = 1", "checks nothing"),
        ("import sys\nsys.exit(0)", "SystemExit"),
        ("import os\nos._exit(0)", "no verdict"),
        ("def grade(submission):\n    while True: pass", "more than 5 s"),
    ],
)
async def test_an_error_of_the_grader_is_never_a_score(
    resources: Resources, script: str, reason: str
) -> None:
    with pytest.raises(GraderError, match=reason) as caught:
        await grade(resources, script, "not JSON")
    assert not caught.value.retryable


async def test_a_failed_assertion_is_the_finding(resources: Resources) -> None:
    script = "assert add(1, 2) == 3, 'adds'\nassert add(2, 2) == 5, 'adds more'"
    verdict = await grade(resources, script, ADD, entry_points=["add"])
    assert verdict.score == 0
    assert [one.reason for one in verdict.findings] == [
        "line 2, assert add(2, 2) == 5, 'adds more': adds more"
    ]


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("def add(a, b): return None", "NoneType"),
        ("def add(a, b): raise OSError('no disk')", "raised OSError: no disk (line 1"),
        ("def add(a, b:", "cannot be loaded: SyntaxError"),
        ("def plus(a, b): return a + b", "does not define 'add'"),
        ("add = 5", "TypeError"),
        ("def add(a, b):\n    while True: pass", "over the limit"),
        ("def add(a, b): return {1} | add", "TypeError"),
    ],
)
async def test_what_the_submitted_code_does_wrong_is_a_failed_check(
    resources: Resources, code: str, reason: str
) -> None:
    verdict = await grade(resources, "assert abs(add(1, 2) - 3) < 1", code, entry_points=["add"])
    assert verdict.score == 0
    assert reason in verdict.reasoning


async def test_a_grader_can_call_code_in_another_language(resources: Resources) -> None:
    code = "```javascript\nconst add = (a, b) => a + b;\n```"
    script = "assert add(1, 2) == 3"
    verdict = await grade(resources, script, code, entry_points=["add"], language="javascript")
    assert verdict.score == 100, verdict.reasoning
    script = "assert.strictEqual(add(1, 2), 3)"
    body = {"entry_points": ["add"], "language": "python"}
    verdict = await grade(resources, script, ADD, kind="javascript", **body)
    assert verdict.score == 100, verdict.reasoning


async def test_code_in_another_language_than_the_standard_asks_for_is_refused(
    resources: Resources,
) -> None:
    with pytest.raises(LanguageRefused, match="asks for python"):
        await grade(resources, "assert add(1, 2) == 3", "```js\n1\n```", entry_points=["add"])


async def test_entry_points_in_several_blocks_are_put_together(resources: Resources) -> None:
    first, second = "def a():\n    return 1", "def b():\n    return a() + 1"
    answer = f"First:\n```python\n{first}\n```\nThen:\n```python\n{second}\n```\n"
    verdict = await grade(resources, "assert (a(), b()) == (1, 2)", answer, entry_points=["a", "b"])
    assert verdict.score == 100, verdict.reasoning


async def test_graders_are_parts_of_composites(resources: Resources) -> None:
    parts = [
        {"validation": "contains", "expected": {"contains": ["def"]}},
        {"type": "python", "script": "assert add(1, 2) == 3", "entry_points": ["add"]},
        {"type": "python", "script": "def grade(s):\n    return 50"},
    ]
    standard = read_standard("all_of", {"all_of": parts})
    verdict = await evaluate(standard, Submission(output=ADD), resources)
    assert [part.score for part in verdict.parts] == [100, 100, 50]


async def test_without_a_sandbox_nothing_is_graded() -> None:
    with pytest.raises(NotJudged, match="sandbox"):
        await evaluate(read_standard("python", {"script": "assert 1"}), Submission(output=""))


@pytest.mark.parametrize(
    ("script", "outcome"),
    [
        ("import random\nassert add(1, random.random()) > 1", "holds"),
        # Two equal scores would be a chance of one in 2**64.
        (
            "import os\ndef grade(s):\n    return int.from_bytes(os.urandom(8)) / 2**64",
            "cannot_be_replayed",
        ),
    ],
)
async def test_a_record_is_graded_again(
    tmp_path: Path, resources: Resources, script: str, outcome: str
) -> None:
    store = LocalStore(tmp_path)
    document = {"type": "python", "script": script, "entry_points": ["add"]}
    submission = Submission(output=ADD, duration_seconds=2.0)
    verdict = await evaluate(read_standard_document(document), submission, resources)
    cid = keep_record(store, document, submission, verdict)
    verification = await verify(store, cid, resources.sandbox)
    assert verification.outcome == outcome, verification


async def test_a_forged_record_differs(tmp_path: Path, resources: Resources) -> None:
    store = LocalStore(tmp_path)
    document = {"type": "python", "script": "assert add(1, 2) == 4", "entry_points": ["add"]}
    submission = Submission(output=ADD)
    good = {**document, "script": "assert add(1, 2) == 3"}
    verdict = await evaluate(read_standard_document(good), submission, resources)
    cid = keep_record(store, document, submission, verdict)
    assert (await verify(store, cid, resources.sandbox)).outcome == "differs"


VALIDATORS = """
def politeness(expected, submission):
    found = expected["word"] in submission.output
    return {"score": 90 if found else 10, "findings": [f"says {expected['word']}: {found}"]}

def broken(expected, submission):
    raise RuntimeError("no dictionary")

def leaving(expected, submission):
    raise SystemExit(0)

def odd(expected, submission):
    return "good"
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An installed package with validators."""
    (tmp_path / "manners.py").write_text(VALIDATORS)
    info = tmp_path / "manners-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: manners\nVersion: 1.0\n")
    names = ("politeness", "broken", "leaving", "odd", "missing")
    lines = "".join(f"{name} = manners:{name}\n" for name in names)
    (info / "entry_points.txt").write_text(f"[arena.validators]\n{lines}")
    monkeypatch.syspath_prepend(str(tmp_path))
    installed_validators.cache_clear()
    yield
    installed_validators.cache_clear()


@pytest.mark.usefixtures("package")
async def test_an_installed_validator_judges_in_this_process() -> None:
    standard = read_standard("politeness", {"word": "please"}, pass_score=70)
    verdict = await evaluate(standard, Submission(output="please sit"))
    assert (verdict.score, verdict.passed) == (90, True)
    assert verdict.findings[0].reason == "says please: True"
    assert not (await evaluate(standard, Submission(output="sit"))).passed
    document = {"type": "politeness", "word": "please", "pass_score": 5}
    assert (await evaluate(read_standard_document(document), Submission(output="sit"))).passed


@pytest.mark.usefixtures("package")
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("broken", "RuntimeError: no dictionary"),
        ("leaving", "SystemExit: 0"),
        ("odd", "must be a bool"),
        ("missing", "cannot be imported"),
    ],
)
async def test_an_installed_validator_that_fails_gives_no_score(name: str, reason: str) -> None:
    with pytest.raises(GraderError, match=reason):
        await evaluate(read_standard(name, {}), Submission(output="x"))


@pytest.mark.usefixtures("package")
def test_an_unknown_name_lists_what_is_installed() -> None:
    with pytest.raises(Exception, match="did you mean 'politeness'"):
        read_standard("politness", {})
    with pytest.raises(Exception, match="odd, politeness, python"):
        read_standard("zzz", {})
