"""Writes a test as YAML that reads back as the same test."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

import yaml

from arena.catalog.loader import MAX_FILE_BYTES
from arena.catalog.test import Test
from arena.documents.yaml_reader import plain_value
from arena.errors import InvalidInput
from arena.text import printable

PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]*(?:[ .,'()/-]+[A-Za-z][A-Za-z0-9_]*)*\.?")
"""Text that needs no quotes, unless YAML knows another value for it."""
WIDTH = 100
MAX_COMMENT = 2000
KEYS = {"timeout_seconds": "timeout"}
LEFT_OUT = frozenset({"category", "suite", "quarantined_until", "quarantine_reason", "active"})
FIRST = ("id", "name", "description", "prompt", "turns", "user", "tools", "workspace")


class _Dumper(yaml.SafeDumper):
    """Multi-line text as blocks; text that could be read as something else in quotes."""

    def ignore_aliases(self, data: Any) -> bool:
        """Equal parts are written out: the reader should not have to look them up."""
        return True


def _text(dumper: Any, text: str) -> yaml.ScalarNode:
    style = '"'
    lines = text.split("\n")
    if PLAIN.fullmatch(text) and plain_value(text) == text:
        style = ""
    elif len(lines) > 1 and all(one.isprintable() and one == one.rstrip() for one in lines):
        style = "|" if lines[0][:1].strip() else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def written_yaml(keys: Mapping[str, Any], comments: Iterable[str] = ()) -> str:
    """A file with one test of these keys; `comments` stand before it, a line or more each."""
    text = yaml.dump(
        {"tests": [dict(keys)]}, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=WIDTH
    )
    written = "".join(f"{line}\n" for comment in comments for line in _comment(comment)) + text
    if len(written.encode()) > MAX_FILE_BYTES:
        raise InvalidInput(f"the test would have more than {MAX_FILE_BYTES:,} bytes")
    return written


def keys_of(test: Test) -> dict[str, Any]:
    """The keys of a test in a file; those with their default values are left out."""
    defaults = {one.name: one.default for one in fields(Test)}
    body = test.as_json()
    names = [*FIRST, *(name for name in body if name not in FIRST)]
    keys: dict[str, Any] = {}
    for name in names:
        value = body.get(name)
        is_default = value == defaults.get(name) or (name == "tags" and not value)
        if name in LEFT_OUT or value is None or is_default:
            continue
        keys[KEYS.get(name, name)] = value
    if test.turns is not None:
        # The standard already has what each reply must satisfy.
        del keys["prompt"]
        keys["turns"] = [{"user": said} for said in test.turns]
    return keys


def _comment(text: str) -> Iterable[str]:
    # Every character that YAML takes for the end of a line, or does not allow.
    shown = text if len(text) <= MAX_COMMENT else f"{text[:MAX_COMMENT]}…"
    return (f"# {printable(line)}".rstrip() for line in shown.splitlines() or [""])
