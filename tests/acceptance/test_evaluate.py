"""`arena evaluate`, and the examples on the page about standards."""

import json
import re
import signal
from pathlib import Path
from typing import Any

import pytest

from arena.evaluation.evaluate import evaluate
from arena.evaluation.reading import read_standard_document
from arena.evaluation.resources import Resources
from arena.evaluation.verdict import Submission
from arena.sandbox.errors import LanguageRefused
from arena.sandbox.namespace.provider import NamespaceProvider

PAGE = (Path(__file__).parents[2] / "docs/standards.md").read_text()
BLOCKS = re.findall(r"^```json\n(.*?)^```\n(.*?)(?=^```|^#|\Z)", PAGE, re.MULTILINE | re.DOTALL)
SCORED = [
    (document, float(score), code)
    for document, after in BLOCKS
    for score, code in re.findall(r"^- scores ([\d.]+): `(.*)`$", after, re.MULTILINE)
]
ADD = {"type": "test_cases", "functionName": "add", "cases": [{"input": [1, 2], "expected": 3}]}


@pytest.mark.parametrize("document", [document for document, _ in BLOCKS])
def test_every_standard_on_the_page_is_valid(document: str) -> None:
    read_standard_document(json.loads(document))


@pytest.mark.parametrize(("document", "score", "code"), SCORED)
async def test_every_submission_on_the_page_scores_what_it_says(
    document: str, score: float, code: str
) -> None:
    standard = read_standard_document(json.loads(document))
    async with NamespaceProvider() as sandbox:
        verdict = await evaluate(standard, Submission(output=code), Resources(sandbox=sandbox))
    assert verdict.score == score, verdict.reasoning


REFUSED = [
    (document, code)
    for document, after in BLOCKS
    for code in re.findall(r"^- is refused: `(.*)`$", after, re.MULTILINE)
]


@pytest.mark.parametrize(("document", "code"), REFUSED)
async def test_every_submission_on_the_page_that_is_refused(document: str, code: str) -> None:
    standard = read_standard_document(json.loads(document))
    async with NamespaceProvider() as sandbox:
        with pytest.raises(LanguageRefused):
            await evaluate(standard, Submission(output=code), Resources(sandbox=sandbox))


def put(folder: Path, name: str, value: object) -> str:
    path = folder / name
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return str(path)


def test_the_exit_code_reports_the_outcome(shell, tmp_path: Path) -> None:
    standard = put(tmp_path, "add.json", ADD)
    good = put(tmp_path, "good.py", "def add(a, b): return a + b")
    bad = put(tmp_path, "bad.py", "def add(a, b): return a - b")
    done = shell.arena("evaluate", standard, good)
    assert (done.returncode, done.stdout.split()[:4]) == (0, ["passed", "100", "of", "100"])
    done = shell.arena("evaluate", standard, bad)
    assert done.returncode == 1
    assert "expected 3, got -1" in done.stdout
    listed = put(tmp_path, "list.json", {"type": "checklist", "items": ["a", "b"]})
    done = shell.arena("evaluate", listed, good)
    assert done.returncode == 3
    assert "2 items to be reviewed by a person" in done.stdout
    answers = put(tmp_path, "answers.json", [{"passed": True}, {"passed": False}])
    assert shell.arena("evaluate", listed, good, "--answers", answers).returncode == 1
    judged = put(tmp_path, "judged.json", {"type": "judge_prompt", "prompt": "good?"})
    done = shell.arena("evaluate", judged, good)
    assert done.returncode == 3
    assert done.stderr.count("ARENA_JUDGE_MODEL") == 1


def test_either_file_may_come_from_stdin_and_json_has_every_field(shell, tmp_path: Path) -> None:
    standard = put(tmp_path, "add.json", ADD)
    code = "function add(a, b) { return a + b }"
    done = shell.arena("evaluate", standard, "-", "--language", "js", "--json", input=code)
    verdict = json.loads(done.stdout)
    assert (verdict["score"], verdict["passed"]) == (100, True)
    assert verdict["engine"].startswith("node v")
    done = shell.arena("evaluate", "-", put(tmp_path, "a.js", code), input=json.dumps(ADD))
    assert done.returncode == 0


PROGRAM = {"type": "test_cases", "cases": [{"input": [1], "expected": 6}]}


def test_the_ending_of_the_file_names_the_language(shell, tmp_path: Path) -> None:
    standard = put(tmp_path, "program.json", PROGRAM)
    named = put(tmp_path, "main.sh", "echo 6")
    assert shell.arena("evaluate", standard, named).returncode == 0
    nameless = put(tmp_path, "main", "echo 6")
    done = shell.arena("evaluate", standard, nameless)
    assert (done.returncode, done.stdout) == (2, "")
    assert "the language of the program is not evident; name it" in done.stderr
    assert shell.arena("evaluate", standard, nameless, "--language", "sh").returncode == 0
    # The option wins over the ending.
    other = put(tmp_path, "main.rb", "echo 6")
    assert shell.arena("evaluate", standard, other, "--language", "shell").returncode == 0
    ruby = put(tmp_path, "ruby.json", {**PROGRAM, "language": "ruby"})
    done = shell.arena("evaluate", ruby, named)
    assert done.returncode == 2
    assert "the standard asks for ruby, but the submission names shell" in done.stderr


def test_a_line_whose_language_cannot_be_told_has_no_verdict_and_is_judged_again(
    shell, tmp_path: Path
) -> None:
    rows = [
        {"id": "unclear", "standard": PROGRAM, "submission": "echo 6"},
        {"id": "named", "standard": PROGRAM, "submission": "echo 6", "language": "sh"},
    ]
    source = put(tmp_path, "batch.jsonl", "\n".join(map(json.dumps, rows)))
    verdicts = tmp_path / "verdicts.jsonl"
    for _ in range(2):
        assert shell.arena("evaluate", "--batch", source, "-o", str(verdicts)).returncode == 2
        found = lines(verdicts)
        assert found["unclear"]["error"]["code"] == "language_refused"
        assert found["named"]["score"] == 100


@pytest.mark.parametrize(
    ("standard", "code", "message"),
    [
        ({**ADD, "functionName": ""}, b"x", "functionName: must not be empty"),
        ("{", b"x", "standard:1:2: not JSON"),
        ("{}", b"x", "error: the standard: needs the key"),
        ("[]", b"x", "standard is not a standard: it must be a JSON object"),
        ('{"type": "test_cases", "cases": [{"expected": NaN}]}', b"x", "NaN is not JSON"),
        (ADD, b"\xff\xfe", "is not UTF-8 text (byte 0)"),
    ],
)
def test_bad_input_says_what_and_where(shell, tmp_path, standard, code, message) -> None:
    (tmp_path / "code").write_bytes(code)
    done = shell.arena("evaluate", put(tmp_path, "standard", standard), str(tmp_path / "code"))
    assert done.returncode == 2
    assert message in done.stderr


def test_an_output_file_for_a_single_verdict_is_refused(shell, tmp_path) -> None:
    standard, code = put(tmp_path, "standard", ADD), put(tmp_path, "code.py", "x")
    done = shell.arena("evaluate", standard, code, "-o", str(tmp_path / "verdict.json"))
    assert done.returncode == 2
    assert "--output is for a batch" in done.stderr


def test_a_standard_is_found_by_its_cid(shell, tmp_path: Path) -> None:
    cid = shell.arena("content", "put", put(tmp_path, "add.json", ADD)).stdout.strip()
    code = put(tmp_path, "a.py", "def add(a, b): return a + b")
    assert shell.arena("evaluate", cid, code).returncode == 0


def lines(path: Path) -> dict[Any, Any]:
    return {line["id"]: line for line in map(json.loads, path.read_text().splitlines())}


def test_a_batch_judges_every_line_and_reports_a_faulty_one(shell, tmp_path) -> None:
    code = "def add(a, b): return {}"
    rows: list[Any] = [
        {"id": f"n{n}", "standard": ADD, "submission": code.format("a + b" if n % 2 else "0")}
        for n in range(20)
    ]
    rows += [{"id": "n1", "standard": ADD, "submission": "again"}, {"id": "bad", "standard": 1}]
    rows += [{"id": "list", "standard": {"type": "checklist", "items": ["a"]}, "submission": ""}]
    source = put(tmp_path, "batch.jsonl", "\n".join(map(json.dumps, rows)) + "\n\n{no\n")
    done = shell.arena("evaluate", "--batch", source)
    assert done.returncode == 2
    output = [json.loads(line) for line in done.stdout.splitlines()]
    scores = {line["id"]: line["score"] for line in output if "score" in line}
    assert scores == {f"n{n}": 100 if n % 2 else 0 for n in range(20)}
    errors = {line["error"]["line"]: line["error"]["message"] for line in output if "error" in line}
    assert errors.keys() == {21, 22, 23, 25}
    assert "earlier line" in errors[21]
    assert "reviewed by a person" in errors[23]


def test_a_batch_that_was_killed_continues_and_judges_nothing_twice(shell, tmp_path: Path) -> None:
    slow = "import time\ndef add(a, b):\n    time.sleep(0.2)\n    return a + b"
    rows = [{"id": str(n), "standard": ADD, "submission": slow} for n in range(40)]
    source = put(tmp_path, "batch.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    verdicts = tmp_path / "verdicts.jsonl"
    words = ("evaluate", "--batch", source, "--output", str(verdicts), "--concurrency", "2")
    process = shell.start(*words)
    while not (verdicts.exists() and verdicts.read_text().count("\n") >= 3):
        assert process.poll() is None, process.communicate()
    process.send_signal(signal.SIGKILL)
    process.communicate()
    with verdicts.open("a") as file:
        file.write('{"id": "39", "score": 1')  # torn by the kill
    before = [line for line in verdicts.read_text().splitlines() if line.endswith("}")]
    assert 3 <= len(before) < 40
    done = shell.arena(*words)
    assert done.returncode == 0, done.stderr
    assert verdicts.read_text().splitlines()[: len(before)] == before
    assert len(verdicts.read_text().splitlines()) == 40
    assert {line["score"] for line in lines(verdicts).values()} == {100}
