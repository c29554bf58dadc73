"""Tests with variables, data sets and matrices."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arena.catalog.catalog import Catalog, lint, load_catalog
from arena.catalog.data_test import DataTest
from arena.catalog.dataset import MAX_ROW_BYTES
from arena.catalog.live import LiveCatalog
from arena.catalog.loader import read_source
from arena.catalog.selection import check_tags, selected
from arena.catalog.source import Source
from arena.catalog.suite import Suite
from arena.catalog.test import Test, digest_of
from arena.errors import Conflict, InvalidInput, NotFound

CAPITALS = """\
category: geography
tests:
  - id: capital
    name: Capital of {{country}}
    dataset: rows.csv
    prompt: What is the capital of {{country}}?
    expected:
      contains: ["{{capital}}"]
"""
ROWS = "id,country,capital\nfr,France,Paris\njp,Japan,Tokyo\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def read(folder: Path, text: str, **files: str | bytes) -> Source:
    for name, content in files.items():
        data = content.encode() if isinstance(content, str) else content
        (folder / name.replace("_", ".")).write_bytes(data)
    path = folder / "tests.yaml"
    path.write_text(text)
    return read_source(path)


def problems(folder: Path, text: str, **files: str | bytes) -> list[str]:
    source = read(folder, text, **files)
    assert not source.parts
    return [str(one).removeprefix(f"{folder}/") for one in source.problems]


def ids(source: Source | Catalog) -> list[str]:
    return [test.id for test in source.tests]


def catalog_of(folder: Path) -> Catalog:
    return load_catalog([folder], builtin=False)


def test_every_row_is_a_test(folder: Path) -> None:
    source = read(folder, CAPITALS, rows_csv=ROWS)
    assert source.problems == ()
    assert ids(source) == ["capital[fr]", "capital[jp]"]
    assert [test.prompt for test in source.tests] == [
        "What is the capital of France?",
        "What is the capital of Japan?",
    ]
    assert source.tests[1].expected == {"contains": ["Tokyo"]}
    assert {test.category for test in source.tests} == {"geography"}
    assert len(source.tests) == 2


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("rows.csv", '\ufeffcountry,capital\r\nFrance,"Pa""ris, \nthe city"\r\n\r\n'
         "Japan,Tokyo\r\n"),
        ("rows.jsonl", '{"country": "France", "capital": "Pa\\"ris, \\nthe city"}\n\n'
         '{"country": "Japan", "capital": "Tokyo"}'),
        ("rows.yaml", '- {country: France, capital: "Pa\\"ris, \\nthe city"}\n'
         "- country: Japan\n  capital: Tokyo\n"),
    ],
)  # fmt: skip
def test_the_formats_give_the_same_tests(folder: Path, name: str, content: str) -> None:
    (folder / name).write_bytes(content.encode())
    source = read(folder, CAPITALS.replace("rows.csv", name))
    assert source.problems == ()
    # Named by the digests of the rows, which do not depend on the format.
    found = [(test.name[11:], test.expected["contains"][0]) for test in source.tests]
    rows = [{"country": country, "capital": capital} for country, capital in found]
    assert ids(source) == [f"capital[{digest_of(row)[:12]}]" for row in rows]
    assert [test.expected["contains"] for test in source.tests] == [
        ['Pa"ris, \nthe city'],
        ["Tokyo"],
    ]
    catalog = load_catalog([folder / "tests.yaml"], builtin=False)
    assert [catalog.test(test.id).expected for test in source.tests] == [
        test.expected for test in source.tests
    ]


def test_values_keep_their_types_and_cells_can_be_read_as_json(folder: Path) -> None:
    text = """\
tests:
  - id: t
    name: n
    dataset: rows.jsonl
    prompt: "{{user.name}} {{n}}"
    points: "{{n}}"
    tags: "{{tags}}"
    expected: {contains: "{{words}}"}
"""
    row = {"id": 7, "n": 2.5, "tags": ["x"], "words": ["a", "b"], "user": {"name": "Ada"}}
    (test,) = read(folder, text, rows_jsonl=json.dumps(row)).tests
    assert (test.id, test.prompt, test.points, test.tags) == ("t[7]", "Ada 2.5", 2.5, ("x",))
    assert test.expected == {"contains": ["a", "b"]}
    text = text.replace("rows.jsonl", "rows.csv").replace('"{{n}}"', '"{{n:json}}"')
    text = text.replace("{{tags}}", "{{tags:json}}").replace("{{words}}", "{{words:json}}")
    cells = 'id,n,tags,words,user.name\n7,2.5,"[""x""]","[""a"", ""b""]",Ada\n'
    assert list(read(folder, text, rows_csv=cells).tests) == [test]


def test_variables_of_the_file_the_test_and_the_row(folder: Path) -> None:
    text = """\
vars: {tone: kind, place: file}
tests:
  - id: a
    name: "{{tone}}"
    vars: {place: test}
    prompt: "{{tone}} {{place}}"
    expected: {contains: ["{{place}}"]}
  - id: b
    name: n
    vars: {place: test}
    dataset: rows.csv
    prompt: "{{tone}} {{place}}"
    expected: {contains: [x]}
  - id: c
    name: n
    prompt: "{{place}} {{{{place}}"
    expected: {contains: [x]}
"""
    source = read(folder, text, rows_csv="id,place\n1,row\n")
    assert [(test.id, test.prompt) for test in source.tests] == [
        ("a", "kind test"),
        ("b[1]", "kind row"),
        ("c", "file {{place}}"),
    ]
    assert source.tests[0].name == "kind"


def test_braces_mean_nothing_in_a_file_without_variables(folder: Path) -> None:
    text = "tests: [{id: a, name: n, prompt: 'say {{x}}', expected: {contains: ['{{{{']}}]"
    (test,) = read(folder, text).tests
    assert (test.prompt, test.expected) == ("say {{x}}", {"contains": ["{{{{"]})


def test_a_matrix_makes_a_test_of_every_combination_and_they_share_a_group(folder: Path) -> None:
    text = """\
tests:
  - id: m
    name: n
    matrix: {n: [1, 2], word: [x, y z]}
    prompt: "{{n}} {{word}}"
    expected: {contains: ["{{word}}"]}
"""
    source = read(folder, text)
    assert ids(source) == ["m[1,x]", "m[1,y-z]", "m[2,x]", "m[2,y-z]"]
    assert {test.group for test in source.tests} == {"m"}
    rows = text.replace("matrix:", "dataset: rows.csv\n    matrix:")
    source = read(folder, rows, rows_csv="id\nr1\nr2\n")
    assert ids(source)[::4] == ["m[r1,1,x]", "m[r2,1,x]"]
    assert [test.group for test in source.tests] == ["m[r1]"] * 4 + ["m[r2]"] * 4
    own = rows.replace("prompt", 'group: "g {{id}}"\n    prompt')
    assert {test.group for test in read(folder, own).tests} == {"g r1", "g r2"}


def test_rows_are_independent_unless_a_group_names_a_column(folder: Path) -> None:
    rows = "id,country,capital\n1,France,Paris\n2,France,Paris\n3,Japan,Tokyo\n"
    one, two, three = read(folder, CAPITALS, rows_csv=rows).tests
    assert one.cluster == two.cluster != three.cluster  # the same question, asked twice
    grouped = CAPITALS + '    group: "{{capital}}"\n'
    assert [test.cluster for test in read(folder, grouped).tests] == [
        "group Paris",
        "group Paris",
        "group Tokyo",
    ]


def test_ids_of_rows_become_usable_and_stay_apart(folder: Path) -> None:
    rows = f"id,country,capital\nHumanEval/12,a,b\n{'x' * 80},a,b\n{'x' * 79}y,a,b\nñ ü,a,b\n"
    found = ids(read(folder, CAPITALS, rows_csv=rows))
    assert found[0] == "capital[HumanEval-12]"
    assert found[3] == "capital[ñ-ü]"
    assert len(set(found)) == 4
    assert all(len(one) <= len("capital[]") + 60 for one in found)


BAD = [
    # what is wrong, and where
    ("id,country\nfr,France\n", "tests.yaml:8:18: there is no variable 'capital'"),
    ("id,country,capital\nfr,France\n", "rows.csv:2:1: has 2 cells, the header has 3"),
    ("id,country,capital\nfr,France,Paris\nfr,Japan,Tokyo\n",
     "rows.csv:3:1: duplicate id 'fr'; first: line 2"),
    ("country,capital\nFrance,Paris\n\nFrance,Paris\n",
     "rows.csv:4:1: is the same row as line 2; to keep both, add a column 'id'"),
    ("id,country,capital\n,France,Paris\n", "rows.csv:2:1: id: is empty"),
    ("id,country,capital\nfr,France,\n",
     "rows.csv:2:1: expected.contains[0]: must not be empty (used at tests.yaml:8:18)"),
    ('id,country,capital\nfr,"France,Paris\n', "rows.csv:2:1: is not valid CSV: unexpected end"),
    (f"id,country,capital\nfr,\"{'x' * MAX_ROW_BYTES}\n", "rows.csv:2:1: is longer than 1 MiB"),
    ("", "rows.csv:1:1: is empty"),
    ("id,country,capital\n", "rows.csv:1:1: has no rows"),
    ("id,country,country\na,b,c\n", "rows.csv:1:1: two columns are called 'country'"),
    ("id,,capital\na,b,c\n", "rows.csv:1:1: a column has no name"),
    (b"id,country,capital\nfr,Fran\xe7e,Paris\n", "rows.csv:2:1: is not UTF-8: the byte 0xe7"),
    ("id,country,capital\nfr,Fra\0nce,Paris\n", "rows.csv:2:1: must not contain NUL"),
    ("id,country,capital\rfr,France,Paris\r",
     "rows.csv:1:1: is not valid CSV: new-line character seen in unquoted field"),
]  # fmt: skip


@pytest.mark.parametrize(("rows", "expected"), BAD)
def test_a_bad_row_is_a_problem_with_its_line(
    folder: Path, rows: str | bytes, expected: str
) -> None:
    found = problems(folder, CAPITALS, rows_csv=rows)
    assert any(one.startswith(expected) for one in found), found


@pytest.mark.parametrize(
    ("name", "rows", "expected"),
    [
        ("rows.jsonl", '{"country": "a", "capital": "b"}\n{"country": "a"\n',
         "rows.jsonl:2:1: is not valid JSON"),
        ("rows.jsonl", '{"country": "a", "capital": "b"}\n[1]\n',
         "rows.jsonl:2:1: a row must be a JSON object"),
        ("rows.jsonl", '{"country": "a", "capital": "b"}\n{"country": "c"}\n',
         "rows.jsonl:2:1: there is no variable 'capital'"),
        ("rows.jsonl", '{"country": "a", "capital": NaN}\n', "rows.jsonl:1:1: is not valid JSON"),
        ("rows.jsonl", '{"country": "a", "capital": "\\ud800"}\n', "rows.jsonl:1:1: a text is not"),
        ("rows.jsonl", '{"country": "a", "capital": "b", "country": "c"}\n',
         "rows.jsonl:1:1: is not valid JSON: duplicate key 'country'"),
        ("rows.jsonl", f'{{"country": "a", "capital": {"9" * 5000}}}\n',
         "rows.jsonl:1:1: is not valid JSON: a number has more than 4,300 digits"),
        ("rows.jsonl", f'{{"country": "a", "capital": {"[" * 99999}}}\n',
         "rows.jsonl:1:1: is not valid JSON: it is nested too deeply"),
        ("rows.jsonl", '{"id": [], "country": "a", "capital": "b"}\n',
         "rows.jsonl:1:1: id: must be a text or a whole number, is a list"),
        ("rows.jsonl", '{"country": "a", "capital": 5}\n',
         "rows.jsonl:1:1: expected.contains[0]: must be a string"),
        ("rows.yaml", "- {country: a, capital: b}\n- 5\n",
         "rows.yaml:2:3: a row must be a mapping"),
        ("rows.yaml", "country: a\n", "rows.yaml:1:1: the file must be a list of rows"),
        ("rows.yaml", "- {country: a, capital: b}\n- {country: [\n",
         "rows.yaml:3:1: is not valid YAML"),
        ("rows.yaml", "- {country: a, capital: b}\n\n- {country: c}\n",
         "rows.yaml:3:1: there is no variable 'capital'"),
        ("rows.txt", "", "tests.yaml:5:14: dataset: must be a file whose name ends in"),
    ],
)  # fmt: skip
def test_bad_rows_of_other_formats(folder: Path, name: str, rows: str, expected: str) -> None:
    (folder / name).write_text(rows)
    found = problems(folder, CAPITALS.replace("rows.csv", name))
    assert any(one.startswith(expected) for one in found), found


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("dataset: none.csv", "none.csv:1:1: cannot be read: No such file or directory"),
        ("dataset: 5", "tests.yaml:3:14: dataset: must be a string"),
        ("matrix: {}", "tests.yaml:3:13: matrix: must not be empty"),
        ("matrix: {a: []}", "tests.yaml:3:17: matrix.a: must not be empty"),
        ("matrix: {b: [x y, x/y]}", "tests.yaml:3:13: matrix: two combinations are called 'x-y'"),
        ("vars: [a]", "tests.yaml:3:11: vars: must be a mapping"),
        ("vars: {a: 1}", "tests.yaml:5:13: there is no variable 'b'; known: a"),
        ("matrix: {b: [1]}\n    points: -1", "tests.yaml:4:13: points: must be above 0"),
        ("matrix: {b: [1]}\n    pionts: 1", "tests.yaml:4:5: unknown key 'pionts'"),
    ],
)
def test_mistakes_in_the_test_itself(folder: Path, key: str, expected: str) -> None:
    text = f"tests:\n  - id: t\n    {key}\n    name: n\n"
    text += '    prompt: "{{b}}"\n    expected: {contains: [x]}\n'
    found = problems(folder, text)
    assert any(expected.partition(": ")[2] in one for one in found), found
    assert any(one.startswith(expected.partition(": ")[0]) for one in found), found


def test_a_problem_of_the_template_is_reported_once(folder: Path) -> None:
    rows = "id,country,capital\n" + "".join(f"{n},a,b\n" for n in range(500))
    found = problems(folder, CAPITALS + "    points: none\n", rows_csv=rows)
    assert found == ["tests.yaml:9:13: points: must be a number, is a string"]


def test_a_problem_around_a_variable_names_the_row(folder: Path) -> None:
    text = CAPITALS.replace('contains: ["{{capital}}"]', 'schema: {const: "{{capital}}"}')
    text = text.replace("    expected:", "    validation: json_schema\n    expected:")
    deep = "[" * 300 + "]" * 300
    rows = f'{{"country": "a", "capital": "b"}}\n{{"country": "c", "capital": {deep}}}\n'
    assert problems(folder, text.replace("rows.csv", "rows.jsonl"), rows_jsonl=rows) == [
        "tests.yaml:9:15: expected.schema: is nested more than 200 deep (with rows.jsonl:2)"
    ]


def test_variables_of_the_file_come_before_its_tests(folder: Path) -> None:
    text = "tests: [{id: t, name: n, prompt: p, expected: {contains: [x]}}]\nvars: {a: 1}\n"
    assert problems(folder, text) == [
        "tests.yaml:2:1: vars: must come before the tests that use it"
    ]


def test_a_column_that_is_also_in_the_matrix_is_a_problem(folder: Path) -> None:
    text = CAPITALS + "    matrix: {country: [a]}\n"
    assert "'country' is also a name of the matrix" in problems(folder, text, rows_csv=ROWS)[1]


def test_a_row_that_is_looked_up_is_the_row_that_was_read(folder: Path) -> None:
    # A cell that begins with a byte order mark: files that were concatenated have such rows.
    rows = "\ufeffcapital,country\nParis,France\n\ufeffTokyo,Japan\n"
    source = read(folder, CAPITALS, rows_csv=rows)
    catalog = catalog_of(folder)
    assert source.tests[1].expected == {"contains": ["\ufeffTokyo"]}
    assert [catalog.test(test.id).expected for test in source.tests] == [
        test.expected for test in source.tests
    ]


def test_the_base_id_is_taken_for_other_files(folder: Path) -> None:
    read(folder, CAPITALS, rows_csv=ROWS)
    other = "tests: [{id: capital, name: n, prompt: p, expected: {contains: [x]}}]"
    (folder / "zz.yaml").write_text(other)
    (problem,) = catalog_of(folder).problems
    assert "the id 'capital' is taken" in problem.message
    assert [str(one.message) for one in lint([folder / "zz.yaml"]).problems] == []


def test_rows_are_found_by_id_and_by_the_id_of_the_data_set(folder: Path) -> None:
    read(folder, CAPITALS, rows_csv=ROWS)
    catalog = catalog_of(folder)
    assert catalog.test("capital[jp]").prompt.endswith("Japan?")
    assert list(catalog.by_id) == ["capital[fr]", "capital[jp]"]
    assert "capital[jp]" in catalog.by_id
    assert "capital" not in catalog.by_id
    assert "capital[x]" not in catalog.by_id
    with pytest.raises(
        NotFound, match=r"2 tests, none of them called 'x'; its first is capital\[fr\]"
    ):
        catalog.test("capital[x]")
    with pytest.raises(NotFound, match="is a data set of 2 tests"):
        catalog.test("capital")
    with pytest.raises(NotFound, match="did you mean 'capital'"):
        catalog.test("captial")
    chosen = catalog.for_agent("a", test_ids={"capital[jp]"})
    assert [test.id for test in chosen] == ["capital[jp]"]
    assert len(catalog.for_agent("a", test_ids={"capital"})) == 2
    with pytest.raises(NotFound):
        catalog.for_agent("a", test_ids={"capital[no]"})


def test_rows_are_selected_by_tag_name_and_agent(folder: Path) -> None:
    text = CAPITALS + '    tags: ["{{continent}}", all]\n    agents: [a]\n'
    rows = "id,country,capital,continent\n1,France,Paris,eu\n2,Japan,Tokyo,as\n3,Italy,Rome,eu\n"
    read(folder, text, rows_csv=rows)
    catalog = catalog_of(folder)
    tests = catalog.for_agent("a")
    assert [test.id for test in selected(tests, tags=["eu"])] == ["capital[1]", "capital[3]"]
    assert len(selected(tests, tags=["all"])) == 3
    assert [test.id for test in selected(tests, match=["*japan*"])] == ["capital[2]"]
    assert [test.id for test in selected(tests, match=["capital?3?"])] == ["capital[3]"]
    assert len(catalog.for_agent("b")) == 0
    check_tags(["as"], catalog.tests)
    with pytest.raises(NotFound):
        check_tags(["us"], catalog.tests)
    with pytest.raises(InvalidInput, match="is not for 'b'"):
        catalog.for_agent("b", test_ids={"capital[1]"})


def test_the_state_of_the_catalog_has_the_tags_of_every_row(folder: Path) -> None:
    text = CAPITALS + '    tags: [maps, "{{continent}}"]\n'
    rows = "id,country,capital,continent\nfr,France,Paris,europe\njp,Japan,Tokyo,asia\n"
    read(folder, text, rows_csv=rows)
    state = catalog_of(folder).state
    assert (state.categories, state.tags) == (["geography"], ["asia", "europe", "maps"])


def test_thousands_of_rows_are_chosen_from_thousands_without_comparing_each_with_each(
    folder: Path,
) -> None:
    class Counted(int):
        compared = 0

        def __eq__(self, other: object) -> bool:
            Counted.compared += 1
            return int(self) == other

        __hash__ = int.__hash__

    rows = "\n".join(f"r{n},France,Paris" for n in range(3000))
    (part,) = read(folder, CAPITALS, rows_csv=f"id,country,capital\n{rows}\n").parts
    assert isinstance(part, DataTest)
    some = part._only([Counted(n) for n in range(2500)])
    chosen = some.with_ids({f"capital[r{n}]" for n in range(1000, 2600, 2)})
    assert list(chosen.ids()) == [f"capital[r{n}]" for n in range(1000, 2500, 2)]
    assert Counted.compared < 10_000


def test_slices_are_those_of_a_tuple(folder: Path) -> None:
    text = CAPITALS + "  - {id: last, name: n, prompt: p, expected: {contains: [x]}}\n"
    one = "  - {id: one, name: n, prompt: p, expected: {contains: [x]}}\n"
    text = text.replace("tests:\n", f"tests:\n{one}")
    rows = "id,country,capital\n" + "".join(f"{n},c{n},d{n}\n" for n in range(7))
    tests = read(folder, text, rows_csv=rows).tests
    every = tuple(tests)
    assert len(tests) == len(every) == 9
    for start in range(-1, 10):
        for stop in range(start, 11):
            assert tuple(tests[start:stop]) == every[start:stop]
    assert [tests[n] for n in range(-9, 9)] == [every[n] for n in range(-9, 9)]
    with pytest.raises(IndexError):
        tests[9]


LABELS = st.lists(st.text("ab-].[/ é,", min_size=1, max_size=6), min_size=1, max_size=30)


@given(labels=LABELS, width=st.integers(1, 3))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_data_set_is_the_same_suite_as_its_tests_written_out(
    tmp_path: Path, labels: list[str], width: int
) -> None:
    text = CAPITALS + f"    matrix: {{v: {list(range(width))}}}\n" if width > 1 else CAPITALS
    rows = [{"id": one, "country": f"c{n}", "capital": "x"} for n, one in enumerate(labels)]
    text = text.replace("rows.csv", "rows.jsonl") + "  - {id: capital-, name: n, prompt: p, "
    text += "expected: {contains: [x]}}\n"
    source = read(tmp_path, text, rows_jsonl="\n".join(map(json.dumps, rows)))
    if source.problems:
        assert any("duplicate id" in str(one) or "is empty" in str(one) for one in source.problems)
        return
    data = Suite(name="s", tests=source.tests)
    plain = Suite(name="s", tests=tuple(source.tests))
    assert data.version == plain.version
    assert data.manifest == plain.manifest
    assert list(data.in_order()) == sorted(plain.manifest.items())
    assert data.groups_digest == plain.groups_digest
    assert data.size == plain.size == len(rows) * width + 1
    assert list(data.entries()) == list(plain.entries())
    by_id = load_catalog([tmp_path / "tests.yaml"], builtin=False).by_id
    assert {key: by_id[key].prompt for key in by_id} == {t.id: t.prompt for t in plain.tests}


def test_a_category_that_follows_the_tests_counts_all_the_same(folder: Path) -> None:
    late = CAPITALS.replace("category: geography\n", "") + "category: geography\nsuite: words\n"
    one = read(folder, CAPITALS, rows_csv=ROWS)
    other = read(folder, late)
    assert {test.category for test in other.tests} == {"geography"}
    assert {test.suite for test in other.tests} == {"words"}
    digests = [Suite(name="s", tests=source.tests).groups_digest for source in (one, other)]
    assert digests[0] == digests[1]


def test_a_large_data_file_is_read_where_a_test_file_would_be_too_large(folder: Path) -> None:
    filler = "x" * 150
    rows = "id,country,capital\n" + "".join(f"{n},{filler},b\n" for n in range(10_000))
    source = read(folder, CAPITALS, rows_csv=rows)
    assert source.problems == ()
    assert len(source.tests) == 10_000
    assert source.tests[9_999].id == "capital[9999]"


def test_a_changed_data_file_makes_another_catalog_and_version(folder: Path) -> None:
    read(folder, CAPITALS, rows_csv=ROWS)
    live = LiveCatalog([folder], builtin=False)
    before = live.current
    (folder / "new.csv").write_text(ROWS.replace("Tokyo", "Kyoto"))
    (folder / "new.csv").replace(folder / "rows.csv")
    # The file was replaced, not changed: an earlier snapshot still has its rows.
    assert before.test("capital[jp]").expected == {"contains": ["Tokyo"]}
    after = live.refresh()
    assert after.test("capital[jp]").expected == {"contains": ["Kyoto"]}
    assert after.digest != before.digest
    (name,) = after.suite_names
    assert after.suite(name).version != before.suite(name).version
    assert live.refresh() is after or live.refresh().digest == after.digest


def test_a_data_file_that_was_overwritten_is_not_read_as_if_it_were_the_same(folder: Path) -> None:
    read(folder, CAPITALS, rows_csv=ROWS)
    live = LiveCatalog([folder], builtin=False)
    before = live.current
    (folder / "rows.csv").write_text(ROWS.replace("fr,", "ff,") + "it,Italy,Rome\n")
    with pytest.raises(Conflict, match=r"rows\.csv was changed while it was used"):
        list(before.tests)
    assert ids(live.refresh()) == ["capital[ff]", "capital[jp]", "capital[it]"]


def test_a_data_file_that_became_bad_has_no_tests_unless_the_last_good_rows_are_there(
    folder: Path,
) -> None:
    read(folder, CAPITALS, rows_csv=ROWS)
    live = LiveCatalog([folder], builtin=False)
    (folder / "bad.csv").write_text("id,country,capital\nfr\n")
    (folder / "bad.csv").replace(folder / "rows.csv")
    assert ids(live.refresh()) == ["capital[fr]", "capital[jp]"]  # the old file is still open
    assert [one.state for one in live.current.sources] == ["last_good"]
    assert any(problem.file.endswith("rows.csv") for problem in live.current.problems)
    (folder / "rows.csv").write_text(ROWS)
    assert [one.state for one in live.refresh().sources] == ["good"]
    (folder / "rows.csv").write_text("id,country,capital\nfr\n")
    assert ids(live.refresh()) == []
    assert [one.state for one in live.current.sources] == ["bad"]


def test_a_row_is_a_plain_test(folder: Path) -> None:
    (test, _) = read(folder, CAPITALS, rows_csv=ROWS).tests
    assert Test.from_json(test.as_json()).digest == test.digest


ROOT = Path(__file__).parents[3]


def test_the_examples_of_the_guide_load(folder: Path) -> None:
    page = (ROOT / "docs/guide/data-sets.md").read_text()
    blocks = re.findall(r"(?ms)^```(yaml|csv)\n(?:# (\S+)\n)?(.*?)^```", page)
    for _, name, text in blocks:
        (folder / (name or "capitals.csv")).write_text(text)
    catalog = catalog_of(folder)
    assert catalog.problems == ()
    assert [test.id for test in catalog.tests] == [
        *("capital[fr]", "capital[jp]", "capital[ke]"),
        *("sum[plain,2---3]", "sum[plain,1200---34]", "sum[polite,2---3]", "sum[polite,1200---34]"),
    ]


def test_the_example_folder_is_good() -> None:
    report = lint([ROOT / "examples/data-sets"])
    assert report.problems == ()
    assert "sum[small,polite]" in report.by_id
    assert len(report.tests) == 7
