"""`arena init` writes a whole project, or nothing."""

import resource
import shutil
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from arena.agents.registry import Registry
from arena.catalog.audit import audit
from arena.catalog.catalog import lint
from arena.cli.init import FILES, TEMPLATE, init
from arena.errors import InvalidInput
from arena.settings import read_settings


@pytest.fixture(autouse=True)
def in_an_empty_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def files_in(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}


def refused(*given: object, **options: object) -> str:
    with pytest.raises(InvalidInput) as raised:
        init(*given, **options)  # pyright: ignore[reportArgumentType]
    return raised.value.message


@contextmanager
def a_full_disk(free_bytes: int) -> Iterator[None]:
    """No file can be larger than this."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (free_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_every_template_is_used():
    assert {path.name for path in TEMPLATE.iterdir() if path.is_file()} == set(FILES.values())


async def test_a_new_project_has_no_problems_and_no_test_that_passes_by_doing_nothing(
    monkeypatch: pytest.MonkeyPatch,
):
    init(Path("mine"))
    assert files_in(Path("mine")) == set(FILES)
    monkeypatch.chdir("mine")
    settings = read_settings()
    assert settings.project is not None
    assert (settings.project.name, settings.has_builtin) == ("mine", False)
    tests = lint(settings.project_tests, builtin=False)
    assert (len(tests.tests), tests.problems) == (3, ())
    assert await audit(tests.tests) == []
    registry = Registry(settings.agent_folders, builtin=None)
    assert ([agent.id for agent in registry.agents], registry.problems) == (["my-agent"], ())


def test_the_defaults_in_the_comments_are_the_defaults(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("ARENA_HOME")
    init(Path("mine"))
    monkeypatch.chdir("mine")
    before = read_settings()
    file = Path("arena.toml")
    lines = [line.removeprefix("# ") for line in file.read_text().splitlines()[4:]]
    file.write_text("[project]\n" + "\n".join(lines))
    assert set(tomllib.loads(file.read_text())["project"]) == {
        "name",
        "builtin",
        "data",
        "tests",
        "agents",
    }
    assert read_settings() == before


def test_the_ci_file_is_yaml_and_runs_the_agent_with_a_gate():
    init(Path("mine"))
    workflow = yaml.safe_load(Path("mine/.github/workflows/arena.yml").read_text())
    commands = [step.get("run", "") for step in workflow["jobs"]["benchmark"]["steps"]]
    assert "arena run my-agent --fail-under 60" in commands


def test_the_current_folder_is_the_default_and_a_name_can_be_given(in_an_empty_folder: Path):
    init(name="other", builtin=True)
    settings = read_settings()
    assert settings.project is not None
    assert (settings.project.name, settings.project.root) == ("other", in_an_empty_folder)
    assert settings.has_builtin


def test_bundled_agents_are_not_asked_the_tests_of_a_new_project():
    init(builtin=True)
    for test in lint([Path("tests")]).tests:
        assert (test.is_for("my-agent"), test.is_for("ai-assistant")) == (True, False)


@pytest.mark.parametrize("path", [path for path in FILES if path != ".gitignore"])
def test_existing_files_are_listed_and_nothing_is_written(in_an_empty_folder: Path, path: str):
    mine = in_an_empty_folder / path
    mine.parent.mkdir(parents=True, exist_ok=True)
    mine.symlink_to("nowhere")  # even a broken link is the user's
    assert f"because these exist: {path};" in refused()
    assert files_in(in_an_empty_folder) == {path}


def test_every_existing_file_is_listed(in_an_empty_folder: Path):
    init()
    message = refused()
    for path in set(FILES) - {".gitignore"}:
        assert path in message


def test_an_ignore_file_of_the_user_stays(
    in_an_empty_folder: Path, capsys: pytest.CaptureFixture[str]
):
    (in_an_empty_folder / ".gitignore").write_text("mine\n")
    init()
    assert (in_an_empty_folder / ".gitignore").read_text() == "mine\n"
    assert "see that it has a line for .arena/" in capsys.readouterr().out


@pytest.mark.parametrize("path", ["agents", "work", ".github/workflows"])
def test_a_file_where_a_folder_is_needed_is_an_error(in_an_empty_folder: Path, path: str):
    root = in_an_empty_folder / "work" if path == "work" else in_an_empty_folder
    mine = in_an_empty_folder / path
    mine.parent.mkdir(exist_ok=True)
    mine.touch()
    assert str(mine) in refused(root, name="mine")
    assert files_in(in_an_empty_folder) == {path}


@pytest.mark.parametrize("free_bytes", [0, 250])
def test_nothing_is_left_of_a_project_that_could_not_be_written(
    in_an_empty_folder: Path, free_bytes: int
):
    sizes = [(TEMPLATE / name).stat().st_size for name in FILES.values()]
    assert min(sizes) < 250 < max(sizes)
    (in_an_empty_folder / "tests").mkdir()
    with a_full_disk(free_bytes):
        message = refused(in_an_empty_folder)
    assert "cannot be written: File too large" in message
    assert [path.name for path in in_an_empty_folder.iterdir()] == ["tests"]
    shutil.rmtree("tests")
    with a_full_disk(free_bytes):
        refused(in_an_empty_folder / "new" / "er")
    assert not list(in_an_empty_folder.iterdir())


@pytest.mark.parametrize(
    ("folder", "name", "message"),
    [
        ("two words", None, "called 'two words': its name must consist of letters, digits, '_'"),
        ("two words", None, "; use --name two-words"),
        ("日本", None, "; use --name NAME"),
        (
            "lab",
            None,
            "a project cannot be called 'lab', which is a suite of Arena; use --name NAME",
        ),
        ("mine", "a/b", "a project cannot be called 'a/b': its name must consist of letters"),
        ("mine", "", "a project cannot be called '': its name must consist of letters"),
        ("mine", "x" * 101, "the name of a project has at most 100 characters, not 101"),
        ("mine", 'x"\ny = 1', "a project cannot be called 'x\"\\ny = 1': its name must"),
    ],
)
def test_a_bad_name_is_refused(
    in_an_empty_folder: Path, folder: str, name: str | None, message: str
):
    assert message in refused(Path(folder), name=name)
    assert not list(in_an_empty_folder.iterdir())
