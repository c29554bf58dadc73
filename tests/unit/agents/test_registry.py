import errno
import os
from pathlib import Path

import pytest

from arena.agents.registry import Registry
from arena.errors import Conflict, NotFound
from factories import without_descriptors


def write(folder: Path, name: str, id: str, version: str = "1.0.0") -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"id: {id}\nversion: {version}\nconnector: {{type: command, command: run}}\n")
    return path


def names(registry: Registry) -> list[str]:
    return [agent.reference for agent in registry.agents]


def test_agents_of_all_folders_are_found(tmp_path):
    write(tmp_path / "one", "b.yaml", "bee")
    write(tmp_path / "one", "a.yml", "ant")
    write(tmp_path / "two", "c.yaml", "cat")
    (tmp_path / "two" / "notes.txt").write_text("no agent")
    registry = Registry([tmp_path / "one", tmp_path / "two", tmp_path / "none"], builtin=None)
    assert names(registry) == ["ant@1.0.0", "bee@1.0.0", "cat@1.0.0"]
    assert registry.problems == ()


def test_the_newest_version_is_found_unless_one_is_named(tmp_path):
    for version in ("1.9.0", "1.10.0", "1.10.0-rc.1"):
        write(tmp_path, f"bee-{version}.yaml", "bee", version)
    registry = Registry([tmp_path], builtin=None)
    assert registry.find("bee").version == "1.10.0"
    assert registry.find("bee", "1.9.0").version == "1.9.0"
    assert names(registry) == ["bee@1.10.0", "bee@1.10.0-rc.1", "bee@1.9.0"]


def test_an_unknown_agent_or_version_is_not_found_with_the_nearest(tmp_path):
    write(tmp_path, "a.yaml", "web-agent")
    registry = Registry([tmp_path], builtin=None)
    with pytest.raises(NotFound, match="'web-agnt'; did you mean 'web-agent'"):
        registry.find("web-agnt")
    with pytest.raises(NotFound, match=r"no version of web-agent is called '1.0.1'"):
        registry.find("web-agent", "1.0.1")


def test_a_bad_file_does_not_affect_good_ones(tmp_path):
    write(tmp_path, "good.yaml", "good")
    (tmp_path / "bad.yaml").write_text("id: [\n")
    (tmp_path / "worse.yaml").write_text("id: A\ncolour: red\n")
    registry = Registry([tmp_path], builtin=None)
    assert names(registry) == ["good@1.0.0"]
    assert {Path(problem.file).name for problem in registry.problems} == {"bad.yaml", "worse.yaml"}


@pytest.mark.parametrize(
    "content",
    [
        "id: bee\nversion: 1.1.0\nconnector: {type: python, callabel: 'm:f'}\n",
        "id: 'bee'\nconnector: {type: python\n",  # not YAML, but its id is found
        '{"version": "1.1.0", "id": "bee"}',
    ],
)
def test_a_file_with_a_problem_is_never_skipped_for_an_older_version(tmp_path, content):
    write(tmp_path, "v1.yaml", "bee", "1.0.0")
    write(tmp_path, "ant.yaml", "ant")
    (tmp_path / "v2.yaml").write_text(content)
    registry = Registry([tmp_path], builtin=None)
    with pytest.raises(Conflict, match=r"the newest version of 'bee' is unknown.*v2\.yaml:\d+"):
        registry.find("bee")
    assert registry.find("bee", "1.0.0").version == "1.0.0"
    assert registry.find("ant").version == "1.0.0"


def test_an_agent_that_is_not_found_is_reported_with_the_likely_problem(tmp_path):
    (tmp_path / "bee.yaml").write_text("id: bee\nconnector: {type: python, callabel: 'm:f'}\n")
    (tmp_path / "pile.yaml").write_text("[\n")
    write(tmp_path, "ant.yaml", "ant")
    registry = Registry([tmp_path], builtin=None)
    with pytest.raises(NotFound) as error:
        registry.find("bee")
    assert "no agent is called 'bee'" in error.value.message
    assert (
        "bee.yaml:2:27: connector: unknown key 'callabel'; did you mean 'callable'?"
        in error.value.message
    )
    assert "pile.yaml" not in error.value.message
    for unknown in (("wasp", None), ("ant", "2.0.0")):
        with pytest.raises(NotFound, match=r"files with problems: .*bee\.yaml.*pile\.yaml"):
            registry.find(*unknown)


def test_each_problem_is_logged_once(tmp_path, caplog):
    (tmp_path / "bee.yaml").write_text("id: bee\n")
    registry = Registry([tmp_path], builtin=None)
    write(tmp_path, "ant.yaml", "ant")
    assert registry.refresh()
    assert [record.message for record in caplog.records] == [
        f"{tmp_path}/bee.yaml:1:1: needs the key 'connector'"
    ]


def test_a_second_agent_of_the_same_id_and_version_is_a_problem_with_both_places(tmp_path):
    first = write(tmp_path / "one", "a.yaml", "bee")
    second = write(tmp_path / "two", "z.yaml", "bee")
    registry = Registry([tmp_path / "one", tmp_path / "two"], builtin=None)
    assert registry.find("bee").source == first
    assert [str(problem) for problem in registry.problems] == [
        f"{second}:1:5: bee@1.0.0 is already defined in {first}:1:5; change its id or version"
    ]


def test_a_folder_given_twice_is_read_once(tmp_path):
    write(tmp_path, "a.yaml", "bee")
    assert Registry([tmp_path, tmp_path], builtin=None).problems == ()


def test_a_file_with_two_names_is_read_once(tmp_path, monkeypatch):
    write(tmp_path / "one", "a.yaml", "ant")
    (tmp_path / "link").symlink_to(tmp_path / "one")
    monkeypatch.chdir(tmp_path)
    registry = Registry([tmp_path / "one", Path("one"), tmp_path / "link"], builtin=None)
    assert (names(registry), registry.problems) == (["ant@1.0.0"], ())


def test_files_that_come_change_and_go_are_noticed(tmp_path):
    folder = tmp_path / "later"
    registry = Registry([folder], builtin=None)
    assert names(registry) == []
    path = write(folder, "a.yaml", "bee")
    assert registry.refresh()
    assert names(registry) == ["bee@1.0.0"]
    path.write_text(path.read_text().replace("1.0.0", "1.0.1"))
    os.utime(path, ns=(1, 1))  # same size, different time
    assert registry.refresh()
    assert names(registry) == ["bee@1.0.1"]
    path.unlink()
    assert registry.refresh()
    assert names(registry) == []


def test_nothing_is_read_again_while_nothing_changes(tmp_path):
    write(tmp_path, "a.yaml", "bee")
    other = write(tmp_path, "b.yaml", "cat")
    registry = Registry([tmp_path], builtin=None)
    bee = registry.find("bee")
    assert not registry.refresh()
    other.write_text(other.read_text() + "name: Tom\n")
    assert registry.refresh()
    assert registry.find("cat").name == "Tom"
    assert registry.find("bee") is bee


def test_a_dangling_link_is_skipped(tmp_path):
    (tmp_path / "a.yaml").symlink_to(tmp_path / "gone.yaml")
    assert names(Registry([tmp_path], builtin=None)) == []


def test_the_agents_of_the_package_have_no_problems():
    assert Registry().problems == ()


def test_a_folder_that_cannot_be_read_keeps_its_agents(tmp_path):
    write(tmp_path, "a.yaml", "a")
    registry = Registry([tmp_path], builtin=None)
    with without_descriptors():
        registry.refresh()
        assert names(registry) == ["a@1.0.0"]
        (problem,) = registry.problems
        assert problem.message == "the folder cannot be read: Too many open files"
    registry.refresh()
    assert (names(registry), registry.problems) == (["a@1.0.0"], ())


def test_a_file_that_could_not_be_read_is_read_again(tmp_path, monkeypatch):
    path = write(tmp_path, "a.yaml", "a")
    broken = OSError(errno.EMFILE, "Too many open files")

    def refuse(*_: object, **__: object) -> None:
        raise broken

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", refuse)
        registry = Registry([tmp_path], builtin=None)
    assert [problem.file for problem in registry.problems] == [str(path)]
    registry.refresh()
    assert (names(registry), registry.problems) == (["a@1.0.0"], ())
