import contextlib
import time
import tracemalloc
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from arena.documents import yaml_reader
from arena.documents.problem import GivenUp, ProblemList
from arena.documents.yaml_reader import Member, YamlReader

LOADERS = [
    pytest.param(yaml.SafeLoader, id="pure"),
    pytest.param(getattr(yaml, "CSafeLoader", None), id="libyaml"),
]


@pytest.fixture(params=LOADERS)
def loader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param is None:
        pytest.skip("PyYAML was built without libyaml")
    monkeypatch.setattr(yaml_reader, "LOADER", request.param)


def read(text: str) -> tuple[list[Member], list[str]]:
    problems = ProblemList("f")
    members: list[Member] = []
    with contextlib.suppress(GivenUp):
        members.extend(YamlReader(text.encode(), problems).members("tests"))
    return members, [str(problem) for problem in problems.in_order()]


def value(text: str) -> Any:
    """The value of the key `v`, from a file without problems."""
    members, problems = read(text)
    assert problems == []
    return next(member.node.value for member in members if member.key == "v")


@pytest.mark.usefixtures("loader")
class TestBothLoaders:
    @pytest.mark.parametrize(
        "written",
        [
            *("a", "yes", "No", "on", "true", "null", "~", "", "1", "-1", "+1", "0x1F", "0b11"),
            *("017", "1_000", "1:30", "1.5", "1e3", "1.0e+3", ".5", ".inf", "-.inf", "0o17"),
            *("'1'", '"yes"', "a: b", "[a, 1, ~]", "{a: 1, b: [c]}", "!!str 1", "!!str yes"),
            *("|\n  text\n  more\n", ">-\n  one\n  line\n", '"\\u00e9\\n"', "&x y", "!!map {a: 1}"),
        ],
    )
    def test_a_value_is_what_the_safe_loader_says_it_is(self, written: str) -> None:
        text = f"v:\n  {written}\n"
        assert value(text) == yaml.safe_load(text)["v"]

    @pytest.mark.parametrize("written", ["2024-01-31", "2024-01-31 10:00:00", "<<", "="])
    def test_a_date_and_a_bare_sign_stay_text(self, written: str) -> None:
        assert value(f"v: {written}") == written

    def test_an_exclamation_mark_makes_text_of_a_number(self) -> None:
        assert value("v: ! 1") == "1"

    def test_the_list_of_tests_is_given_one_item_at_a_time(self) -> None:
        members, problems = read("a: 1\ntests:\n- x\n- [y]\n- {z: 1}\nb: 2\n")
        assert problems == []
        assert [(m.key, m.index, m.node.value) for m in members] == [
            ("a", None, 1),
            ("tests", 0, "x"),
            ("tests", 1, ["y"]),
            ("tests", 2, {"z": 1}),
            ("b", None, 2),
        ]

    def test_every_part_has_its_place(self) -> None:
        (member,), _ = read("tests:\n  - id: one\n    expected:\n      contains: [a, bb]\n")
        node = member.node
        assert node.place() == (2, 5)
        assert node.place(("id",)) == (2, 9)
        assert node.place(("id",), of_key=True) == (2, 5)
        assert node.place(("expected", "contains")) == (4, 17)
        assert node.place(("expected", "contains", 1)) == (4, 21)
        assert node.place(("expected", "contains"), of_key=True) == (4, 7)

    def test_a_part_that_is_not_there_has_the_place_of_what_is_around_it(self) -> None:
        (member,), _ = read("tests:\n  - expected: {a: 1}\n")
        assert member.node.place(("expected", "b", 3)) == (2, 15)
        assert member.node.place(("nowhere",)) == (2, 5)

    def test_columns_count_characters_and_not_bytes(self) -> None:
        _, problems = read("tests:\n- {é: a, é: b}\n")
        assert problems == ["f:2:10: duplicate key 'é'; first: line 2, column 4"]

    def test_a_key_that_stands_twice_is_a_problem_with_both_places(self) -> None:
        _, problems = read("a: 1\ntests:\n- b: 1\n  c: 2\n  b: 3\na: 2\n")
        assert problems == [
            "f:5:3: duplicate key 'b'; first: line 3, column 3",
            "f:6:1: duplicate key 'a'; first: line 1, column 1",
        ]

    @pytest.mark.parametrize(
        ("key", "message"),
        [
            ("1", "a key must be a string, YAML reads this one as 1: quote it"),
            ("yes", "a key must be a string, YAML reads this one as true: quote it"),
            ("~", "a key must be a string"),
            ("? [a]\n  ", "a key must be a string"),
        ],
    )
    def test_a_key_that_is_no_string_is_a_problem(self, key: str, message: str) -> None:
        _, problems = read(f"tests:\n- {key}: 1\n")
        assert len(problems) == 1
        assert problems[0].endswith(message)

    def test_an_alias_is_the_value_of_its_anchor(self) -> None:
        assert value("a: &x [1, 2]\nv: {one: *x, two: *x}") == {"one": [1, 2], "two": [1, 2]}

    def test_an_anchor_of_one_test_serves_the_next(self) -> None:
        members, problems = read("tests:\n- {agents: &all [a, b]}\n- {agents: *all}\n")
        assert problems == []
        assert members[1].node.value == {"agents": ["a", "b"]}

    def test_a_merge_fills_in_what_is_not_there(self) -> None:
        text = "a: &a {x: 1, y: 1}\nb: &b {y: 2, z: 2}\nv: {<<: [*a, *b], x: 0}\n"
        assert value(text) == {"x": 0, "y": 1, "z": 2} == yaml.safe_load(text)["v"]

    def test_a_merged_key_has_the_place_of_the_merge(self) -> None:
        members, _ = read("tests:\n- &a\n  x: 1\n- y: 2\n  <<: *a\n")
        assert members[1].node.place(("x",)) == (5, 3)
        assert members[1].node.place() == (4, 3)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("v: *x", "f:1:4: the alias *x has no anchor &x before it"),
            ("v: &x [*x]", "f:1:8: the alias *x would contain itself"),
            ("tests: &x\n- *x", "f:2:3: the alias *x would contain itself"),
            ("v: {<<: 1}", "f:1:5: '<<' merges a mapping or a list of mappings"),
            ("v: !!python/object/apply:os.system [ls]", "the tag !!python/object/apply:os.system"),
            ("v: !mine 1", "f:1:4: the tag !mine is not allowed; plain values need none"),
            ("v: !!binary aGk=", "the tag !!binary is not allowed"),
            ("v: !!set {a}", "the tag !!set is not allowed"),
            ("v: !!int 1", "the tag !!int is not allowed"),
            ("v: " + "9" * 5000, "is not a usable number: quote it"),
            ("v: 0x_", "0x_ is not a usable number"),
            ('v: "a\\0b"', "must not contain NUL"),
            ("[a]", "f:1:1: the file must be a mapping with the key 'tests'"),
            ("text", "f:1:1: the file must be a mapping"),
            ("", "f:1:1: the file is empty; it needs 'tests'"),
            ("# only a comment\n", "f:1:1: the file is empty"),
            ("a: 1\n---\nb: 1\n", "f:2:1: a second YAML document begins here"),
            ("a: b: c", "f:1:5: is not valid YAML: mapping values are not allowed"),
            ("a: [1", "is not valid YAML: while parsing a flow sequence"),
            ("a:\n\t- b", "is not valid YAML: while scanning"),
            ("a: \x07", "is not valid YAML: a character that is not allowed (byte 3)"),
            ("a: @b", "is not valid YAML: while scanning for the next token"),
            ("a: " + "[" * 100 + "]" * 100, "nest more than 64 deep"),
            ("- " * 200, "the file must be a mapping"),
            ("a:\n" + "".join(f"{' ' * n}- \n" for n in range(1, 100)), "nest more than 64 deep"),
        ],
    )
    def test_what_cannot_be_read_is_a_problem(self, text: str, message: str) -> None:
        _, problems = read(text)
        assert any(message in problem for problem in problems), problems

    def test_half_of_a_surrogate_pair_is_a_problem(self) -> None:
        _, problems = read('v: "\\ud800"')
        assert len(problems) == 1  # libyaml and PyYAML say it in different words

    def test_what_was_found_before_the_end_is_not_lost(self) -> None:
        members, problems = read("tests:\n- {a: 1, a: 2}\n- {b: 1}\n- [oops\n")
        assert [member.node.value for member in members] == [{"a": 1}, {"b": 1}]
        assert len(problems) == 2

    def test_a_file_of_problems_is_given_up_after_two_hundred(self) -> None:
        _, problems = read("tests:\n" + "- {1: 2}\n" * 1000)
        assert len(problems) == 201
        assert problems[-1].endswith("there may be more problems; these are the first 200")


def measured(text: str) -> tuple[list[str], float, int]:
    """The problems of a text, and what it cost to find them: seconds, bytes."""
    tracemalloc.start()
    start = time.monotonic()
    _, problems = read(text)
    spent = time.monotonic() - start
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return problems, spent, peak


def billion_laughs(line: str) -> str:
    lines = ["l0: &l0 [lol, lol, lol]"]
    lines += [line.format(new=n, old=n - 1) for n in range(1, 40)]
    return "\n".join(lines)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            billion_laughs("l{new}: &l{new} [" + ", ".join(["*l{old}"] * 9) + "]"), id="lists"
        ),
        pytest.param(
            "l0: &l0 {a: b}\n"
            + "\n".join(
                f"l{n}: &l{n} {{{', '.join(f'k{i}: *l{n - 1}' for i in range(9))}}}"
                for n in range(1, 40)
            ),
            id="mappings",
        ),
        pytest.param(
            f"a: &a {'x' * 500_000}\nb: [{', '.join(['*a'] * 50_000)}]", id="one long text"
        ),
        pytest.param(
            "a: &a {"
            + ", ".join(f"k{n}: v" for n in range(10_000))
            + "}\ntests:\n"
            + "- {<<: *a}\n" * 10_000,
            id="merges",
        ),
    ],
)
def test_a_yaml_bomb_is_reported_quickly_and_in_little_memory(text: str) -> None:
    problems, spent, peak = measured(text)
    assert any("the aliases of this file repeat more than 4 MiB" in line for line in problems)
    assert spent < 60
    assert peak < 64 * 1024 * 1024


def test_depth_by_aliases_is_bounded_too() -> None:
    text = "l0: &l0 [x]\n" + "\n".join(f"l{n}: &l{n} [*l{n - 1}]" for n in range(1, 200))
    problems, _, _ = measured(text)
    assert len(problems) == 1
    assert "with this alias, values nest more than 64 deep" in problems[0]


@pytest.mark.parametrize("text", ["[" * 500_000, "{a: " * 200_000, "- " * 300_000, "? " * 300_000])
def test_depth_without_end_is_reported_quickly(text: str) -> None:
    problems, spent, peak = measured("a:\n  " + text)
    assert problems
    assert spent < 60
    assert peak < 64 * 1024 * 1024


def test_reading_many_tests_takes_no_more_memory_than_reading_one() -> None:
    def peak_of(count: int) -> int:
        text = "tests:\n" + "- {id: abc, expected: {contains: [a, b]}}\n" * count
        data = text.encode()
        tracemalloc.start()
        for _ in YamlReader(data, ProblemList("f")).members("tests"):
            pass
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak

    assert peak_of(5000) < peak_of(50) + 100_000


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(allow_nan=False),
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20),
)
TREES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text("abc: #'\"-", max_size=5), inner)
    ),
    max_leaves=20,
)


@given(TREES, st.sampled_from([None, True, False]), st.sampled_from([None, '"', "'", "|"]))
def test_what_the_dumper_writes_is_read_back(tree: Any, flow: bool | None, style: str) -> None:
    text = yaml.safe_dump(
        {"v": tree}, default_flow_style=flow, default_style=style, allow_unicode=True
    )
    if style is not None:  # a style makes the dumper write tags such as !!int
        tree = yaml.safe_load(text)["v"]
        _, problems = read(text)
        if problems:
            assert all("the tag !!" in problem for problem in problems)
            return
    assert value(text) == tree


@given(st.text(st.sampled_from("ab:-[]{}&*!?|>'\"%@`#, \n\t1~<=\\"), max_size=60))
def test_whatever_is_written_is_read_or_is_a_problem(text: str) -> None:
    members, problems = read(text)
    try:
        loaded = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, TypeError):
        loaded = None
    if isinstance(loaded, dict) and not problems:
        mine = {member.key: member.node.value for member in members if member.index is None}
        streamed = [member.node.value for member in members if member.index is not None]
        if streamed:
            mine["tests"] = streamed
        assert mine == loaded
