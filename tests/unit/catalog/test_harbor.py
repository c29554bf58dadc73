"""Harbor task folders as tests."""

import shutil
from pathlib import Path

import pytest

from arena.catalog.audit import audit_test
from arena.catalog.catalog import lint, load_catalog
from arena.catalog.dockerfile import read_dockerfile
from arena.catalog.test import Test
from arena.evaluation.evaluate import evaluate
from arena.evaluation.resources import Resources
from arena.evaluation.verdict import Submission
from arena.sandbox.namespace.provider import NamespaceProvider
from arena.workspaces.collected import Change, Collected, File

EXAMPLE = Path(__file__).parents[3] / "examples/harbor/count-words"


@pytest.fixture
def task(tmp_path: Path) -> Path:
    return Path(shutil.copytree(EXAMPLE, tmp_path / "tasks" / "count-words"))


def only_test(folder: Path) -> Test:
    report = lint([folder])
    assert report.problems == ()
    (test,) = report.tests
    return test


def test_a_task_folder_is_a_test(task: Path) -> None:
    test = only_test(task)
    assert (test.id, test.name, test.category) == ("count-words", "count-words", "programming")
    assert (test.timeout_seconds, test.validation) == (120, "verify")
    assert test.tags == ("python", "text", "easy")
    assert test.prompt.startswith("The file /app/speech.txt has a speech.")
    assert test.prompt.endswith("(The folder /app is your current folder.)")
    assert test.workspace is not None
    assert list(test.workspace["files"]) == ["speech.txt"]
    assert (test.expected["score"], test.expected["timeout"]) == ("reward", 60.0)
    assert set(test.expected["hidden"]) == {
        ".harbor/tests/test.sh",
        ".harbor/tests/check_counts.py",
    }


def test_a_folder_of_task_folders_is_a_suite_beside_yaml_files(task: Path) -> None:
    shutil.copytree(task, task.parent / "another")
    text = "tests: [{id: plain, name: P, prompt: Say it, expected: {contains: [x]}}]"
    (task.parent / "plain.yaml").write_text(text)
    catalog = load_catalog([task.parent], builtin=False)
    assert catalog.problems == ()
    assert {test.id for test in catalog.tests} == {"another", "count-words", "plain"}


async def test_its_solution_passes_and_doing_nothing_does_not(task: Path) -> None:
    async with NamespaceProvider() as sandbox:
        found = await audit_test(only_test(task), Resources(sandbox=sandbox))
    assert found is not None
    assert (found.findings, found.is_solved) == ((), True)


@pytest.mark.parametrize(
    ("counts", "score"), [(b'{"we": 1}', 0), (b"not JSON", 0), (b"", 0)], ids=str
)
async def test_a_wrong_file_gets_no_reward(task: Path, counts: bytes, score: float) -> None:
    test = only_test(task)
    speech = File(content=(task / "environment/speech.txt").read_bytes())
    files = Collected(files={"counts.json": File(content=counts), "speech.txt": speech})
    async with NamespaceProvider() as sandbox:
        verdict = await evaluate(
            test.standard, Submission(output="", files=files), Resources(sandbox=sandbox)
        )
    assert (verdict.score, verdict.passed) == (score, False), verdict.reasoning


@pytest.mark.parametrize(
    ("reward", "score"),
    [
        ("echo 0.5 > /logs/verifier/reward.txt", 50),
        ("echo '{\"reward\": 0.25}' > /logs/verifier/reward.json", 25),
        ('echo \'{"a": 1, "b": 0.5}\' > /logs/verifier/reward.json', 75),
        ("echo 1 > /logs/verifier/reward.txt; exit 3", 100),
        ("echo 7 > /logs/verifier/reward.txt", 0),
        ("echo NaN > /logs/verifier/reward.txt", 0),
        ("exit 0", 0),
    ],
)
async def test_the_reward_file_is_the_score(task: Path, reward: str, score: float) -> None:
    (task / "tests/test.sh").write_text(f"#!/bin/bash\n{reward}\n")
    planted = {
        ".harbor/logs/verifier/reward.txt": File(content=b"1"),
        ".harbor/logs/verifier/reward.json": File(content=b'{"reward": 1}'),
    }
    async with NamespaceProvider() as sandbox:
        verdict = await evaluate(
            only_test(task).standard,
            Submission(output="", files=Collected(files=planted)),
            Resources(sandbox=sandbox),
        )
    assert (verdict.score, verdict.passed) == (score, score == 100), verdict.reasoning


async def test_files_of_the_agent_beside_the_tests_fail_the_task(task: Path) -> None:
    (task / "tests/test.sh").write_text("#!/bin/bash\necho 1 > /logs/verifier/reward.txt\n")
    path = ".harbor/tests/yaml.py"
    planted = Collected(
        files={path: File(content=b"evil")}, changes=(Change(path=path, kind="added"),)
    )
    async with NamespaceProvider() as sandbox:
        verdict = await evaluate(
            only_test(task).standard,
            Submission(output="", files=planted),
            Resources(sandbox=sandbox),
        )
    assert (verdict.score, verdict.passed) == (0, False)
    assert path in verdict.reasoning


@pytest.mark.parametrize(
    ("file", "old", "new", "problem"),
    [
        ("task.toml", "cpus = 1", "gpus = 2", "task.toml:15:1: environment.gpus is not supported"),
        (
            "task.toml",
            "timeout_sec = 60.0",
            'timeout_sec = 60.0\nenv = {KEY = "x"}',
            "task.toml:13:1: verifier.env is not supported",
        ),
        (
            "task.toml",
            "timeout_sec = 60.0",
            "timeout_sec = 9000",
            "task.toml:12:1: verifier.timeout_sec is 9000, at most 3600",
        ),
        ("task.toml", "[agent]", "[agent", "task.toml:8:7: is not TOML"),
        (
            "environment/Dockerfile",
            "WORKDIR /app",
            "WORKDIR /",
            "Dockerfile:2:1: the working folder / is not supported",
        ),
        (
            "environment/Dockerfile",
            "COPY speech.txt /app/",
            "COPY nothing.txt /app/",
            "Dockerfile:3:1: copies nothing",
        ),
    ],
)
def test_what_is_not_supported_is_a_problem_with_a_line(
    task: Path, file: str, old: str, new: str, problem: str
) -> None:
    path = task / file
    path.write_text(path.read_text().replace(old, new))
    problems = [str(one) for one in lint([task]).problems]
    assert any(problem in one for one in problems), problems


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("instruction.md", "needs instruction.md"),
        ("tests/test.sh", "needs test.sh"),
    ],
)
def test_what_is_missing_is_a_problem(task: Path, path: str, problem: str) -> None:
    (task / path).unlink()
    assert any(problem in str(one) for one in lint([task]).problems)


@pytest.mark.parametrize("name", ["environment/docker-compose.yaml", "steps/one/instruction.md"])
def test_several_containers_or_steps_are_a_problem(task: Path, name: str) -> None:
    (task / name).parent.mkdir(parents=True, exist_ok=True)
    (task / name).write_text("x: 1\n")
    assert any("not supported" in str(one) for one in lint([task]).problems)


def test_a_task_that_installs_something_needs_an_image(task: Path) -> None:
    dockerfile = task / "environment/Dockerfile"
    dockerfile.write_text(dockerfile.read_text() + "RUN pip install numpy\n")
    test = only_test(task)
    assert test.workspace is not None
    image = test.workspace["image"]
    assert image.startswith("arena-harbor/count-words:")
    assert test.expected["image"] == image
    assert test.workspace["setup"] == "cp -R /app/. ."
    assert f"docker build -t {image} count-words/environment" in (test.description or "")
    toml = task / "task.toml"
    toml.write_text(toml.read_text() + 'docker_image = "mine:1"\n')
    assert only_test(task).expected["image"] == "mine:1"


def test_a_hook_that_the_instruction_asks_for_is_collected(task: Path) -> None:
    (task / "instruction.md").write_text("Write /app/setup.py and a Makefile.\n")
    test = only_test(task)
    assert test.workspace is not None
    assert test.workspace["collect"] == ["**", "setup.py", "Makefile"]


def test_a_change_anywhere_in_the_folder_changes_the_catalog(task: Path) -> None:
    before = load_catalog([task], builtin=False)
    (task / "tests/check_counts.py").write_text("print(1)\n")
    after = load_catalog([task], builtin=False)
    assert before.digest != after.digest
    assert before.tests[0].fingerprint != after.tests[0].fingerprint


def test_a_dockerfile_is_read_over_continued_lines() -> None:
    copies = 'COPY --chown=1 a \\\n  b/ \\\n  ./\nCOPY ["c d", "e"]\nADD *.x .\n'
    text = f"FROM x\n# no\nWORKDIR /app\n{copies}"
    docker = read_dockerfile(text)
    assert [one.words for one in docker.copies] == [("a", "b/", "./"), ("c d", "e"), ()]
    assert [one.line for one in docker.instructions] == [1, 3, 4, 7, 8]
    assert docker.workdir == "/app"
    assert not docker.is_only_files
