from pathlib import Path

import pytest

from arena.catalog.catalog import Catalog, lint, load_catalog
from arena.catalog.folders import BUILTIN_FOLDER
from arena.errors import InvalidInput, NotFound
from factories import write_tests

ONE = """
category: {category}
tests:
  - id: {id}
    name: A test
    prompt: Say hello
    expected: {{contains: [hello]}}
    {more}
"""


def write(folder: Path, name: str, test_id: str, category: str = "custom", more: str = "") -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(ONE.format(id=test_id, category=category, more=more))
    return path


def ids(catalog: Catalog) -> list[str]:
    return [test.id for test in catalog.tests]


def test_both_suffixes_are_read_in_the_order_of_their_names(tmp_path: Path) -> None:
    write(tmp_path, "b.yml", "second")
    write(tmp_path, "a.yaml", "first")
    write(tmp_path, "c.yaml", "third")
    write(tmp_path, "d.txt", "not_a_test_file")
    write(tmp_path, ".hidden.yaml", "an_editors_scratch_file")
    assert ids(load_catalog([tmp_path], builtin=False)) == ["first", "second", "third"]


def test_the_package_comes_first_then_the_project_then_the_named_folders_then_the_home(
    tmp_path: Path,
) -> None:
    for name in ("project", "named", "home"):
        write(tmp_path / name, "a.yaml", f"of_the_{name}")
    catalog = load_catalog(
        [tmp_path / "named"], project=[tmp_path / "project"], home=tmp_path / "home"
    )
    assert ids(catalog)[0] == "bench_ana_001"
    assert ids(catalog)[-3:] == ["of_the_project", "of_the_named", "of_the_home"]
    origins = dict.fromkeys(source.origin for source in catalog.sources)
    assert list(origins) == ["builtin", "project", "named", "home"]


@pytest.mark.parametrize("origin", ["project", "named"])
def test_a_copy_in_the_home_does_not_stand_in_for_a_file_elsewhere(
    tmp_path: Path, origin: str
) -> None:
    own = write(tmp_path / "own", "a.yaml", "mine", category="own")
    copy = write(tmp_path / "home", "a.yaml", "mine", category="copy")
    folders = [own.parent]
    catalog = load_catalog(
        folders if origin == "named" else (),
        project=folders if origin == "project" else (),
        home=copy.parent,
        builtin=False,
    )
    assert [test.category for test in catalog.tests] == ["own"]
    (problem,) = catalog.problems
    assert (problem.file, str(own) in problem.message) == (str(copy), True)


def test_a_folder_of_a_project_that_does_not_exist_yet_is_no_problem(tmp_path: Path) -> None:
    assert load_catalog(project=[tmp_path / "not yet"]).problems == ()


def test_lint_knows_that_a_project_leaves_the_bundled_tests_out(tmp_path: Path) -> None:
    path = write(tmp_path, "a.yaml", "bench_ana_001")
    assert len(lint([path]).problems) == 1
    alone = lint([path], builtin=False)
    assert (ids(alone), alone.problems) == (["bench_ana_001"], ())


def test_a_home_that_does_not_exist_yet_is_no_problem(tmp_path: Path) -> None:
    assert load_catalog(home=tmp_path / "not yet").problems == ()


def test_a_named_folder_that_does_not_exist_is_a_problem(tmp_path: Path) -> None:
    (problem,) = load_catalog([tmp_path / "typo"]).problems
    assert str(problem) == f"{tmp_path / 'typo'}:1:1: no such folder"


def test_a_single_file_may_be_named(tmp_path: Path) -> None:
    path = write(tmp_path, "one.yaml", "only_this")
    write(tmp_path, "two.yaml", "not_this")
    assert ids(load_catalog([path], builtin=False)) == ["only_this"]


def test_a_folder_named_twice_or_linked_counts_once(tmp_path: Path) -> None:
    folder = tmp_path / "tests"
    write(folder, "a.yaml", "once")
    (tmp_path / "link").symlink_to(folder)
    catalog = load_catalog([folder, folder, tmp_path / "link"], builtin=False)
    assert ids(catalog) == ["once"]
    assert catalog.problems == ()


def test_an_id_taken_by_an_earlier_file_is_a_problem_of_the_later_one(tmp_path: Path) -> None:
    first = write(tmp_path / "a", "a.yaml", "mine")
    second = write(tmp_path / "b", "a.yaml", "mine")
    catalog = load_catalog([tmp_path / "a", tmp_path / "b"], builtin=False)
    (problem,) = catalog.problems
    assert str(problem) == (
        f"{second}:4:9: the id 'mine' is taken: {first}:4:9 has it; choose another id"
    )
    assert ids(catalog) == ["mine"]
    assert [source.state for source in catalog.sources] == ["good", "bad"]


def test_taken_ids_are_reported_for_an_invalid_file_too(tmp_path: Path) -> None:
    good = write(tmp_path, "b.yaml", "mine")
    invalid = [write(tmp_path, name, "mine", more="timeout: abc") for name in ("a.yaml", "c.yaml")]
    shared = [write(tmp_path, name, "ours", more="timeout: abc") for name in ("d.yaml", "e.yaml")]
    catalog = load_catalog([tmp_path], builtin=False)
    messages = [str(problem) for problem in catalog.problems if "is taken" in problem.message]
    assert messages == [
        f"{invalid[0]}:4:9: the id 'mine' is taken: {good}:4:9 has it; choose another id",
        f"{invalid[1]}:4:9: the id 'mine' is taken: {good}:4:9 has it; choose another id",
        f"{shared[1]}:4:9: the id 'ours' is taken: {shared[0]}:4:9 has it; choose another id",
    ]
    assert len(catalog.problems) == 7
    assert ids(catalog) == ["mine"]  # an invalid file does not claim its ids


def test_every_id_of_a_file_that_clashes_is_checked(tmp_path: Path) -> None:
    write(tmp_path, "a.yaml", "first")
    both = write(tmp_path, "b.yaml", "first")
    with both.open("a") as file:
        file.write("  - {id: second, name: n, prompt: p, expected: {contains: [x]}}\n")
    write(tmp_path, "c.yaml", "second")
    catalog = load_catalog([tmp_path], builtin=False)
    assert [problem.message.partition(" is taken")[0] for problem in catalog.problems] == [
        "the id 'first'",
        "the id 'second'",
    ]
    assert {problem.file for problem in catalog.problems} == {str(both)}


def test_a_copy_of_a_large_file_is_reported_in_a_few_problems(tmp_path: Path) -> None:
    write_tests(tmp_path / "a.yaml", count=300)
    (tmp_path / "b.yaml").write_bytes((tmp_path / "a.yaml").read_bytes())
    catalog = load_catalog([tmp_path], builtin=False)
    assert len(catalog.tests) == 300
    assert len(catalog.problems) == 200


def test_a_custom_test_cannot_take_the_place_of_a_builtin_one(tmp_path: Path) -> None:
    write(tmp_path, "a.yaml", "bench_nav_001")
    catalog = load_catalog([tmp_path])
    assert catalog.test("bench_nav_001").name == "List User Interfaces"
    assert "is taken" in catalog.problems[0].message


def test_a_bad_file_offers_nothing_and_leaves_the_good_ones_alone(tmp_path: Path) -> None:
    write(tmp_path, "good.yaml", "good")
    bad = write(tmp_path, "bad.yaml", "well_formed")
    with bad.open("a") as file:
        file.write("  - id: without_a_prompt\n")
    catalog = load_catalog([tmp_path], builtin=False)
    assert ids(catalog) == ["good"]
    assert {problem.file for problem in catalog.problems} == {str(bad)}
    assert {source.file: source.state for source in catalog.sources}[str(bad)] == "bad"


def test_tests_for_an_agent_are_active_and_meant_for_it(tmp_path: Path) -> None:
    write(tmp_path, "a.yaml", "everyone")
    write(tmp_path, "b.yaml", "me", more="agents: [me, you]")
    write(tmp_path, "c.yaml", "you", more="agents: [you]")
    write(tmp_path, "d.yaml", "nobody", more="agents: []")
    write(tmp_path, "e.yaml", "inactive", more="active: false")
    write(tmp_path, "f.yaml", "other", category="other")
    catalog = load_catalog([tmp_path], builtin=False)
    assert [test.id for test in catalog.for_agent("me")] == ["everyone", "me", "other"]
    assert [test.id for test in catalog.for_agent("me", category="other")] == ["other"]
    assert [test.id for test in catalog.for_agent("me", test_ids=["other", "me"])] == [
        "me",
        "other",
    ]
    assert catalog.for_agent("me", category="other", test_ids=["me"]) == ()
    with pytest.raises(InvalidInput, match="it is for: you"):
        catalog.for_agent("me", test_ids=["you"])
    with pytest.raises(InvalidInput, match="it is for: nobody"):
        catalog.for_agent("me", test_ids=["nobody"])
    with pytest.raises(InvalidInput, match="not active"):
        catalog.for_agent("me", test_ids=["inactive"])
    with pytest.raises(NotFound, match="did you mean 'everyone'"):
        catalog.for_agent("me", test_ids=["everyon"])
    with pytest.raises(NotFound, match="no category is called 'othr'; did you mean 'other'"):
        catalog.for_agent("me", category="othr")


def test_the_digest_follows_the_content_and_not_the_place(tmp_path: Path) -> None:
    write(tmp_path / "a", "x.yaml", "one")
    write(tmp_path / "b", "x.yaml", "one")
    write(tmp_path / "c", "x.yaml", "two")
    one, same, other = (
        load_catalog([tmp_path / name], builtin=False).digest for name in ("a", "b", "c")
    )
    assert one == same
    assert one != other


def test_a_catalog_cannot_be_changed(tmp_path: Path) -> None:
    catalog = load_catalog([])
    with pytest.raises(AttributeError):
        catalog.tests = ()  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(TypeError):
        catalog.by_id["x"] = catalog.tests[0]  # pyright: ignore[reportIndexIssue]


def test_lint_reports_only_the_named_files_and_knows_the_builtin_ids(tmp_path: Path) -> None:
    write(tmp_path, "a.yaml", "bench_nav_001")
    write(tmp_path, "b.yaml", "mine")
    report = lint([tmp_path])
    assert ids(report) == ["mine"]
    assert [Path(source.file).name for source in report.sources] == ["a.yaml", "b.yaml"]
    assert "the id 'bench_nav_001' is taken" in str(report.problems[0])


def test_the_builtin_files_themselves_can_be_linted() -> None:
    report = lint([BUILTIN_FOLDER / "navigation.yaml"])
    assert report.problems == ()
    assert len(report.tests) == 3


def suite_in(text: str, suite: str) -> str:
    return f"suite: {suite}\n{text.lstrip()}"


def test_a_file_that_is_left_out_for_a_taken_id_leaves_its_suite_unread(tmp_path: Path) -> None:
    write(tmp_path, "a.yaml", "one")
    left_out = write(tmp_path, "b.yaml", "one", more="pass_score: 50")
    suite = load_catalog([tmp_path], builtin=False).suite(tmp_path.name)
    assert (suite.unread, suite.is_whole) == ((str(left_out),), False)
    # The very same test is served from the other file: nothing is missing.
    left_out.write_text((tmp_path / "a.yaml").read_text())
    assert load_catalog([tmp_path], builtin=False).suite(tmp_path.name).is_whole


def test_a_file_with_another_label_leaves_its_suite_unread(tmp_path: Path) -> None:
    for name, label in (("a.yaml", "1"), ("b.yaml", "2")):
        path = write(tmp_path, name, name[0])
        path.write_text(f"suite_version: '{label}'\n{path.read_text()}")
    suite = load_catalog([tmp_path], builtin=False).suite(tmp_path.name)
    assert (suite.label, suite.unread) == ("1", (str(tmp_path / "b.yaml"),))


def test_a_file_with_problems_counts_for_the_suite_that_it_names(tmp_path: Path) -> None:
    for name, suite in (("a.yaml", "letters"), ("b.yaml", "letters"), ("c.yaml", "words")):
        path = write(tmp_path, name, name[0])
        path.write_text(suite_in(path.read_text(), suite))
    broken = tmp_path / "b.yaml"
    broken.write_text(broken.read_text() + "\n  - {id: broken}\n")
    catalog = load_catalog([tmp_path], builtin=False)
    assert catalog.suite("letters").unread == (str(broken),)
    assert catalog.suite("words").is_whole


def test_a_file_that_cannot_be_read_at_all_may_be_of_every_suite_beside_it(tmp_path: Path) -> None:
    for name, suite in (("a.yaml", "letters"), ("c.yaml", "words")):
        path = write(tmp_path, name, name[0])
        path.write_text(suite_in(path.read_text(), suite))
    broken = tmp_path / "b.yaml"
    broken.write_text("tests: [\n")
    (tmp_path / "d.yaml").write_text("suite: [not, a, name]\ntests: []\n")
    catalog = load_catalog([tmp_path], builtin=False)
    for suite in ("letters", "words"):
        assert catalog.suite(suite).unread == (str(broken), str(tmp_path / "d.yaml"))


def test_a_suite_is_called_like_the_folder_or_file_that_was_named(tmp_path: Path) -> None:
    folder = tmp_path / "smoke"
    file = write(folder, "easy.yaml", "one")
    whole, alone = (load_catalog([path], builtin=False) for path in (folder, file))
    assert (whole.suite_names, alone.suite_names) == (("smoke",), ("easy",))
    digests = {catalog.suite(catalog.suite_names[0]).folder for catalog in (whole, alone)}
    assert len(digests) == 2 and None not in digests
    file.write_text(suite_in(file.read_text(), "mine"))
    assert load_catalog([folder], builtin=False).suite("mine").folder is None
