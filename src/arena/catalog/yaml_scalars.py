"""What a plain YAML word means: text, a number, true, false or nothing."""

import re
from collections.abc import Callable
from typing import Any, cast

import yaml
from yaml.constructor import SafeConstructor

TAG = "tag:yaml.org,2002:"

_CONSTRUCTOR = cast(Any, SafeConstructor())
_CONVERTERS: dict[str, Callable[[yaml.ScalarNode], object]] = {
    TAG + "int": _CONSTRUCTOR.construct_yaml_int,
    TAG + "float": _CONSTRUCTOR.construct_yaml_float,
    TAG + "bool": _CONSTRUCTOR.construct_yaml_bool,
    TAG + "null": _CONSTRUCTOR.construct_yaml_null,
}
# PyYAML's own tables, so that a word means here what `yaml.safe_load` says it means. What is not
# among the converters stays text; a date, for one, has no place in a test.
_RESOLVERS: dict[str, list[tuple[str, re.Pattern[str]]]] = {
    first: [(tag, pattern) for tag, pattern in candidates if tag in _CONVERTERS]
    for first, candidates in cast(Any, yaml.SafeLoader).yaml_implicit_resolvers.items()
}


def plain_value(text: str) -> object:
    """The value of an unquoted word, by the rules of YAML 1.1; ValueError where it has none."""
    for tag, pattern in _RESOLVERS.get(text[:1], ()):
        if pattern.match(text):
            try:
                return _CONVERTERS[tag](yaml.ScalarNode(tag, text))
            except (ValueError, OverflowError) as wrong:
                shown = text if len(text) <= 40 else f"{text[:40]}…"
                raise ValueError(f"{shown} is no number that can be used: quote it") from wrong
    return text
