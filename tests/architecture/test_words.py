"""One word per idea: names that users meet are made of the glossary's words.

`words.txt` holds the other words that 0.1 used in names, and plain English for labels. It is
frozen: a new idea gets a row in docs/glossary.md.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from arena.settings import Settings
from arena.store.tables.metadata import METADATA

ROOT = Path(__file__).parents[2]
FROZEN = set((Path(__file__).parent / "words.txt").read_text().split())
GLOSSARY = ROOT / "docs" / "glossary.md"

LABELS = (
    re.compile(r"<Table\.Th[^>]*>([^<{]+)<"),
    re.compile(r"\b(?:label|header|legend)(?:=|: )\"([^\"]+)\""),
)
"""Table headings and the labels of fields, tabs and columns; not sentences."""


MISTAKES = {"promt"}
"""Keys that a page shows as examples of mistakes."""


def words(name: str) -> list[str]:
    """The words of a name: `test_cases`, `functionName` and `Cost efficiency` have two each."""
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return [word.lower() for word in re.findall(r"[A-Za-z]+", apart)]


def known() -> set[str]:
    """Every word that a name may use."""
    rows = re.findall(r"(?m)^\| ([^|]+) \|", GLOSSARY.read_text())
    return FROZEN | {word for row in rows for word in words(row)}


def unknown(names: set[str]) -> dict[str, str]:
    """The names with a word that is in no list, in the singular or the plural."""
    allowed = known()
    return {
        name: word
        for name in sorted(names)
        for word in words(name)
        if not {word, word.removesuffix("s"), word.removesuffix("es")} & allowed
    }


def api_names() -> set[str]:
    """Every field and parameter of the API."""
    page: dict[str, Any] = json.loads((ROOT / "docs" / "reference" / "openapi.json").read_text())
    shapes = page["components"]["schemas"].values()
    fields = {field for shape in shapes for field in shape.get("properties", ())}
    operations = [one for found in page["paths"].values() for one in found.values()]
    return fields | {one["name"] for found in operations for one in found.get("parameters", ())}


def column_names() -> set[str]:
    """Every table and column."""
    tables = METADATA.tables
    return {*tables, *(column.name for table in tables.values() for column in table.columns)}


def yaml_names() -> set[str]:
    """Every key of a bundled or documented YAML file, and every setting."""
    documents = [path.read_text() for path in ROOT.glob("src/arena/**/builtin/*.yaml")]
    for page in (ROOT / "docs").rglob("*.md"):
        documents += re.findall(r"(?ms)^```yaml\n(.*?)^```", page.read_text())
    pages = (ROOT / "docs" / "reference" / "test-format.md").read_text()
    names = set(re.findall(r"(?m)^\| `([a-z_]+)` \|", pages))
    for document in documents:
        try:
            names.update(_keys(yaml.safe_load(document)))
        except yaml.YAMLError:
            continue  # an example of a mistake
    return (names - MISTAKES) | set(Settings.model_fields)


def _keys(value: Any) -> Iterator[str]:
    """The keys of a document, not those of values that a test compares."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if isinstance(key, str):
                yield key
            if key in ("tests", "connector", "limits"):
                yield from _keys(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _keys(inner)


def label_names() -> set[str]:
    """Table headings and labels of the dashboard."""
    texts = [path.read_text() for path in (ROOT / "web" / "src").rglob("*.ts*")]
    return {found for text in texts for label in LABELS for found in label.findall(text)}


def complaint(names: set[str]) -> str:
    return f"add the idea to docs/glossary.md, or use its word: {unknown(names)}"


def test_api_fields_use_the_words_of_the_glossary():
    assert not unknown(api_names()), complaint(api_names())


def test_columns_use_the_words_of_the_glossary():
    assert not unknown(column_names()), complaint(column_names())


def test_yaml_keys_use_the_words_of_the_glossary():
    assert not unknown(yaml_names()), complaint(yaml_names())


def test_labels_use_the_words_of_the_glossary():
    assert not unknown(label_names()), complaint(label_names())


def test_a_word_is_in_one_list_only():
    rows = re.findall(r"(?m)^\| ([^|]+) \|", GLOSSARY.read_text())
    defined = [row for row in rows if row not in ("word", "---")]
    assert sorted(set(defined), key=str.lower) == defined, "one row per word, in order"
    assert not FROZEN & {row.lower() for row in defined}


def test_a_new_word_is_noticed():
    assert unknown({"run_id"}) == {}
    assert unknown({"gizmo_count"}) == {"gizmo_count": "gizmo"}
