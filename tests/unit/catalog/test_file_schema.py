"""The JSON Schema of test files accepts what the loader accepts, and refuses plain mistakes."""

import json
import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from arena.catalog.file_schema import DESCRIPTIONS, file_schema
from arena.catalog.folders import BUILTIN_FOLDER
from arena.catalog.keys import TEST_KEYS
from arena.evaluation.standard import VALIDATIONS

ROOT = Path(__file__).parents[3]
SCHEMA = Draft202012Validator(file_schema())
BLOCK = re.compile(r"^```yaml\n(.*?)^```", flags=re.MULTILINE | re.DOTALL)
PAGES = [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md"]
EXAMPLES = [
    (f"{page.relative_to(ROOT)}:{number}", text)
    for page in PAGES
    for number, text in enumerate(BLOCK.findall(page.read_text()))
    if re.search(r"^tests:", text, flags=re.MULTILINE)
]
FILES = [
    *sorted(BUILTIN_FOLDER.glob("*.yaml")),
    *(
        path
        for path in sorted((ROOT / "examples").rglob("*.yaml"))
        if re.search(r"^tests:", path.read_text(), flags=re.MULTILINE)
    ),
]


def plain(value: Any) -> Any:
    """A YAML value as the loader sees it: a date is text."""
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, list):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    return value


def faults(text: str) -> list[str]:
    found = SCHEMA.iter_errors(plain(yaml.safe_load(text)))
    return [f"{one.json_path}: {one.message}" for one in found]


def test_it_is_a_schema() -> None:
    Draft202012Validator.check_schema(file_schema())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_it_accepts_every_file_that_ships(path: Path) -> None:
    assert faults(path.read_text()) == []


@pytest.mark.parametrize(
    ("name", "text"), [one for one in EXAMPLES if not one[1].startswith("# bad")]
)
def test_it_accepts_every_example_of_the_documents(name: str, text: str) -> None:
    assert faults(text) == [], name


@pytest.mark.parametrize(("name", "text"), [one for one in EXAMPLES if one[1].startswith("# bad")])
def test_it_refuses_the_documented_mistakes(name: str, text: str) -> None:
    assert faults(text) != [], name


GOOD = {"id": "t", "name": "T", "prompt": "Say it", "expected": {"contains": ["x"]}}


@pytest.mark.parametrize(
    "changes",
    [
        {"timeout": "30"},
        {"timeout": 0},
        {"points": "many"},
        {"id": "two words"},
        {"prompt": " "},
        {"promt": "Say it"},
        {"validation": "containz"},
        {"expected": {"contain": ["x"]}},
        {"expected": {"contains": "x"}},
        {"expected": {"contains": []}},
        {"expected": ["x"]},
        {"validation": "number", "expected": {"value": "42"}},
        {"validation": "number", "expected": {"value": 42, "tolerance": -1}},
        {"validation": "exact"},
        {"validation": "all_of", "expected": {"all_of": [{"expected": {"contain": ["x"]}}]}},
        {"validation": "all_of", "expected": {"all_of": [{"expectd": {"contains": ["x"]}}]}},
        {"validation": "all_of", "expected": {"all_of": []}},
        {"validation": "reply", "expected": {"turn": 0, "standard": GOOD["expected"]}},
        {"tags": "one"},
        {"trials": 0},
        {"active": "yes please"},
        {"quarantine": "soon"},
        {"quarantine": {"reason": "x"}},
        {"solution": {"anser": "x"}},
        {"solution": {"steps": [{"name": "x"}]}},
    ],
    ids=json.dumps,
)
def test_it_refuses_plain_mistakes(changes: dict[str, object]) -> None:
    assert not list(SCHEMA.iter_errors({"tests": [GOOD]}))
    assert list(SCHEMA.iter_errors({"tests": [{**GOOD, **changes}]}))


def test_it_refuses_a_file_without_tests_or_with_an_unknown_key() -> None:
    assert list(SCHEMA.iter_errors({"category": "x"}))
    assert list(SCHEMA.iter_errors({"tests": []}))
    assert list(SCHEMA.iter_errors({"tests": [GOOD], "sweet": "x"}))
    assert not list(SCHEMA.iter_errors({"tests": [GOOD], "x-mine": "x"}))


def test_it_knows_every_key_and_every_standard() -> None:
    made = file_schema()
    assert set(made["$defs"]["test"]["properties"]) == set(TEST_KEYS)
    assert {f"expected_{name}" for name in VALIDATIONS} <= set(made["$defs"])
    described = {
        name for name, one in made["$defs"]["test"]["properties"].items() if "description" in one
    }
    assert described <= set(DESCRIPTIONS)


def test_the_reference_is_current() -> None:
    page = ROOT / "docs/reference/test-file.schema.json"
    assert json.loads(page.read_text()) == file_schema(), "run: make docs"
