"""Which project a folder is in, what its file may say, and what follows for the settings."""

import logging
import os
import shutil
from pathlib import Path

import pytest

from arena.errors import InvalidInput
from arena.project import Project, default_name
from arena.settings import read_settings

STRANGER = 12345


@pytest.fixture(autouse=True)
def a_user_without_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ARENA_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, the current one."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def write(folder: Path, text: str = 'name = "one"', *, settings: str = "") -> Path:
    """A project file with these lines in its table."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "arena.toml"
    file.write_text(f"{settings}\n[project]\n{text}\n")
    return file


def found() -> Project:
    project = read_settings().project
    assert project is not None
    return project


def refused() -> str:
    with pytest.raises(InvalidInput) as raised:
        read_settings()
    assert "\n" not in raised.value.message
    return raised.value.message


def give_away(path: Path) -> None:
    """Let another user own a file, a folder or a link."""
    if os.geteuid() != 0:
        pytest.skip("only root can create a file of another user")
    os.chown(path, STRANGER, STRANGER, follow_symlinks=False)


def test_without_a_project_the_user_has_a_home_of_their_own(root: Path, tmp_path: Path):
    settings = read_settings()
    assert settings.project is None
    assert settings.home == tmp_path / "user" / ".local" / "share" / "arena"
    assert (settings.has_builtin, settings.project_tests) == (True, ())
    assert settings.agent_folders == (settings.home / "agents",)


def test_a_name_is_enough(root: Path):
    file = write(root)
    settings = read_settings()
    assert settings.project == Project(
        name="one",
        file=file,
        data=root / ".arena",
        tests=(root / "tests",),
        agents=(root / "agents",),
        builtin=True,
    )
    assert settings.project.root == root
    assert settings.home == root / ".arena"
    assert not settings.home.exists()


def test_a_project_names_its_data_its_tests_and_its_agents(root: Path, tmp_path: Path):
    for folder in ("cases", "bots"):
        (root / folder).mkdir()
    elsewhere = tmp_path / "elsewhere.yaml"
    elsewhere.touch()
    write(
        root,
        f'name = "a.b_c-1"\ndata = "var/data"\ntests = ["cases", "{elsewhere}"]\n'
        'agents = ["bots", "../elsewhere.yaml", "bots"]\nbuiltin = false',
    )
    settings = read_settings()
    project = found()
    assert project.name == "a.b_c-1"
    assert settings.home == root / "var" / "data"
    assert settings.project_tests == (root / "cases", elsewhere)
    assert project.agents == (root / "bots", root / ".." / "elsewhere.yaml")
    assert settings.has_builtin is False


def test_lists_may_be_empty(root: Path):
    write(root, 'name = "one"\ntests = []\nagents = []')
    assert (found().tests, found().agents) == ((), ())


def test_a_project_counts_for_the_folders_below_it(root: Path, monkeypatch: pytest.MonkeyPatch):
    file = write(root)
    (root / "deep" / "er").mkdir(parents=True)
    monkeypatch.chdir(root / "deep" / "er")
    assert found().file == file
    assert read_settings().home == root / ".arena"


def test_the_nearest_project_wins(root: Path, monkeypatch: pytest.MonkeyPatch):
    write(root)
    inner = write(root / "inner", 'name = "two"')
    monkeypatch.chdir(inner.parent)
    assert found().name == "two"


def test_a_nearer_dot_arena_wins_over_a_project(root: Path, monkeypatch: pytest.MonkeyPatch):
    write(root)
    (root / "inner" / ".arena").mkdir(parents=True)
    monkeypatch.chdir(root / "inner")
    settings = read_settings()
    assert (settings.project, settings.home) == (None, root / "inner" / ".arena")


def test_a_project_wins_over_a_dot_arena_beside_or_above_it(root: Path):
    write(root, 'name = "one"\ndata = "data"')
    for folder in (root, root.parent):
        (folder / ".arena").mkdir()
    assert read_settings().home == root / "data"


def test_a_file_without_the_table_means_what_it_meant_before(
    root: Path, monkeypatch: pytest.MonkeyPatch
):
    (root / "arena.toml").write_text("port = 7\n")
    assert (read_settings().project, read_settings().port) == (None, 7)
    (root / "below").mkdir()
    monkeypatch.chdir(root / "below")
    assert read_settings().port == 5109


def test_an_empty_file_is_no_project(root: Path):
    (root / "arena.toml").touch()
    assert read_settings().project is None


def test_other_keys_of_a_project_file_are_settings_also_from_a_folder_below(
    root: Path, monkeypatch: pytest.MonkeyPatch
):
    write(
        root,
        settings='port = 7\ntests = ["more", "/elsewhere"]\nagents = "a:b"\nlanguages = "l.toml"\n'
        'database_url = "sqlite:///other.db"\n[weights]\nbenchmark = 0.5\nuser_rating = 0.2\n',
    )
    (root / "below").mkdir()
    monkeypatch.chdir(root / "below")
    monkeypatch.setenv("ARENA_PORT", "8")
    settings = read_settings()
    assert settings.port == 8
    assert settings.tests == (root / "more", Path("/elsewhere"))
    assert settings.agents == (root / "a", root / "b")
    assert settings.languages == root / "l.toml"
    assert settings.database == f"sqlite+aiosqlite:///{root}/other.db"
    assert set(settings.weights) == {"benchmark", "user_rating"}
    assert settings.project_tests == (root / "tests",)
    home = root / ".arena"
    assert settings.agent_folders == (root / "agents", root / "a", root / "b", home / "agents")


@pytest.mark.parametrize(
    "url", ["sqlite:////absolute/a.db", "sqlite:///:memory:", "postgresql://host/name"]
)
def test_an_absolute_database_stays_where_it_is(root: Path, url: str):
    write(root, settings=f'database_url = "{url}"')
    settings = read_settings()
    assert settings.database_url is not None
    assert settings.database_url.get_secret_value() == url


def test_settings_of_the_current_folder_go_before_those_of_a_project_above(
    root: Path, monkeypatch: pytest.MonkeyPatch
):
    write(root, settings="port = 7\nretries = 3")
    (root / "below").mkdir()
    (root / "below" / "arena.toml").write_text("port = 9\n")
    monkeypatch.chdir(root / "below")
    settings = read_settings()
    assert (settings.port, settings.retries, found().name) == (9, 3, "one")


def test_the_variable_for_the_home_wins_and_the_tests_and_agents_still_count(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    write(root)
    monkeypatch.setenv("ARENA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("ARENA_TESTS", "/more")
    monkeypatch.setenv("ARENA_AGENTS", "/others")
    settings = read_settings()
    assert settings.home == tmp_path / "home"
    assert (settings.project_tests, settings.tests) == ((root / "tests",), (Path("/more"),))
    assert settings.agent_folders == (
        root / "agents",
        Path("/others"),
        tmp_path / "home" / "agents",
    )


@pytest.mark.parametrize("part", ["", "arena.toml"], ids=["folder", "file"])
def test_a_variable_names_a_project_elsewhere(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str
):
    write(root)
    other = write(tmp_path / "other", 'name = "other"', settings="port = 7")
    monkeypatch.setenv("ARENA_PROJECT", str(other.parent / part))
    assert (found().name, read_settings().port) == ("other", 7)
    assert read_settings().home == tmp_path / "other" / ".arena"
    other.write_text("port = 7\n")
    assert refused() == f"{other} is not a project: it has no table [project]"
    other.unlink()
    shutil.rmtree(other.parent)
    assert refused().startswith("ARENA_PROJECT: there is no file ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", '[project] needs a name, like: name = "project"'),
        ("name = 3", "name of [project]: must be a text"),
        ('name = ""', "a project cannot be called '': its name must consist of letters"),
        ('name = "two words"', "a project cannot be called 'two words': its name must"),
        ('name = "one/two"', "a project cannot be called 'one/two': its name must"),
        ('name = "größe"', "a project cannot be called 'größe': its name must"),
        ('name = "-x"', "begin with a letter or a digit"),  # would be an option of a command
        ('name = ".."', "begin with a letter or a digit"),
        ('name = "one\\n"', "its name must consist of letters"),
        (f'name = "{"x" * 101}"', "has at most 100 characters, not 101"),
        ('name = "lab"', "cannot be called 'lab', which is a suite of Arena"),
        ('name = "legacy"', "which is a suite of Arena"),
        ('name = "one"\ntest = ["x"]', "test is not a key of [project]; did you mean 'tests'?"),
        ('name = "one"\nbuiltin = "no"', "builtin of [project]: must be true or false"),
        ('name = "one"\nbuiltin = 0', "builtin of [project]: must be true or false"),
        ('name = "one"\ndata = ""', "data of [project]: must name a file or folder"),
        ('name = "one"\ndata = "a\\u0000b"', "data of [project]: must name a file or folder"),
        ('name = "one"\ntests = "tests"', "tests of [project]: must be a list of folders or files"),
        ('name = "one"\ntests = [1]', "tests of [project]: must name a file or folder"),
        ('name = "one"\nagents = [""]', "agents of [project]: must name a file or folder"),
    ],
)
def test_a_mistake_is_reported_with_the_file_and_the_key(root: Path, text: str, message: str):
    write(root, text)
    report = refused()
    assert report.startswith("arena.toml: ")
    assert message in report


def test_the_longest_name_is_allowed(root: Path):
    write(root, f'name = "{"x" * 100}"')
    assert found().name == "x" * 100


@pytest.mark.parametrize("key", ["tests", "agents"])
def test_a_named_folder_must_exist(root: Path, key: str, monkeypatch: pytest.MonkeyPatch):
    file = write(root, f'name = "one"\n{key} = ["typo"]')
    expected = f"{key} of [project]: there is no file or folder {root / 'typo'}"
    assert refused() == f"arena.toml: {expected}"
    (root / "below").mkdir()
    monkeypatch.chdir(root / "below")
    assert refused() == f"{file}: {expected}"


@pytest.mark.parametrize("content", ["project = 3", "[[project]]\nname = 'one'"])
def test_the_project_must_be_a_table(root: Path, content: str):
    (root / "arena.toml").write_text(content)
    assert refused() == "arena.toml: project must be a table: [project]"


def test_the_home_and_the_data_are_not_both_set(root: Path):
    write(root, settings='home = "x"')
    assert refused() == "arena.toml: instead of home, set data in [project]"


def test_an_unknown_setting_beside_a_project_is_reported_with_its_file(
    root: Path, monkeypatch: pytest.MonkeyPatch
):
    file = write(root, settings="prot = 1")
    (root / "below").mkdir()
    monkeypatch.chdir(root / "below")
    assert refused() == f"{file}: prot is not a setting; did you mean 'port'?"


@pytest.mark.parametrize(
    "content",
    [
        b"[project",  # not TOML
        b"[project]\nname = '\xff'",  # not UTF-8
        b"#" * (1024**2 + 1),  # too large
        b"x = " + b"[" * 20_000,  # too deep
    ],
    ids=["toml", "utf-8", "size", "depth"],
)
def test_a_file_that_cannot_be_read_is_an_error_also_below_it(
    root: Path, monkeypatch: pytest.MonkeyPatch, content: bytes
):
    (root / "arena.toml").write_bytes(content)
    assert refused().startswith("arena.toml")
    (root / "below").mkdir()
    monkeypatch.chdir(root / "below")
    assert refused().startswith(f"{root / 'arena.toml'}")


def test_a_folder_called_like_the_file_is_ignored(root: Path):
    (root / "arena.toml").mkdir()
    assert read_settings().project is None


def test_a_link_to_a_project_file_makes_a_project_where_the_link_is(root: Path, tmp_path: Path):
    shared = write(tmp_path / "shared")
    (root / "arena.toml").symlink_to(shared)
    assert found().root == root
    (root / "arena.toml").unlink()
    (root / "arena.toml").symlink_to(tmp_path / "nowhere")
    assert read_settings().project is None


@pytest.mark.parametrize("given", ["file", "link", "target"])
def test_a_project_of_another_user_is_not_used_and_this_is_said(
    root: Path,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    given: str,
):
    file = root / "arena.toml"
    if given == "file":
        write(root, settings="port = 7")
    else:
        target = write(tmp_path / "shared", settings="port = 7")
        file.symlink_to(target)
    give_away(target if given == "target" else file)
    with caplog.at_level(logging.WARNING):
        settings = read_settings()
        read_settings()
    assert (settings.project, settings.port) == (None, 5109)
    message = f"{file} is not used: it belongs to another user; ARENA_PROJECT={file} uses it"
    assert caplog.messages == [message]
    monkeypatch.setenv("ARENA_PROJECT", str(file))
    assert found().name == "one"


def test_a_project_above_that_of_another_user_is_used(root: Path, monkeypatch: pytest.MonkeyPatch):
    write(root)
    inner = write(root / "inner", 'name = "two"')
    give_away(inner)
    monkeypatch.chdir(inner.parent)
    assert found().name == "one"


def test_a_broken_file_of_another_user_above_is_ignored(
    root: Path, monkeypatch: pytest.MonkeyPatch
):
    (root / "arena.toml").write_text("[project")
    give_away(root / "arena.toml")
    (root / "below").mkdir()
    monkeypatch.chdir(root / "below")
    assert read_settings().project is None


def test_data_of_another_user_are_refused_unless_they_are_named(
    root: Path, monkeypatch: pytest.MonkeyPatch
):
    write(root)
    (root / ".arena").mkdir()
    give_away(root / ".arena")
    assert refused().startswith(f"{root / '.arena'} belongs to another user")
    monkeypatch.setenv("ARENA_HOME", str(root / ".arena"))
    assert read_settings().home == root / ".arena"


def test_a_deleted_folder_is_in_no_project(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("ARENA_HOME", str(tmp_path / "home"))
    root.rmdir()
    assert read_settings().project is None


@pytest.mark.parametrize(
    ("folder", "name"),
    [("mine", "mine"), ("My project!", "My-project"), (".hidden", "hidden"), ("日本", None)],
)
def test_a_name_is_made_from_that_of_the_folder(folder: str, name: str | None):
    assert default_name(Path("/somewhere") / folder) == name
