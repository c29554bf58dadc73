"""How a test is shown: files by their names and sizes, not by their content."""

import base64
from collections.abc import Mapping
from typing import Any, cast


def shown_test(values: Mapping[str, Any]) -> dict[str, object]:
    """The values of a test in JSON, as people read them."""
    shown: dict[str, object] = dict(values)
    if turns := shown.get("turns"):
        shown["turns"] = _numbered(cast(list[str], turns))
        # The first turn says the same.
        shown.pop("input_prompt", None)
    if tools := shown.get("tools"):
        shown["tools"] = "\n".join(map(_tool, cast(list[Mapping[str, Any]], tools)))
    for key in ("expected_output", "workspace", "solution"):
        if key in shown:
            shown[key] = _without_content(shown[key])
    solution = shown.get("solution")
    if isinstance(solution, dict) and [*cast(dict[str, object], solution)] == ["answer"]:
        shown["solution"] = cast(dict[str, object], solution)["answer"]
    return shown


def _numbered(texts: list[str]) -> str:
    return "\n".join(f"{number}. {text}" for number, text in enumerate(texts, start=1))


def _tool(tool: Mapping[str, Any]) -> str:
    """A tool on one line: its name, what it is for, and how it answers."""
    ways: list[str] = []
    for key in ("answers", "recorded"):
        if isinstance(tool.get(key), list):
            ways.append(f"{len(tool[key])} {key}")
    if "answer" in tool:
        ways.append("a fixed answer")
    if "fault" in tool:
        fault: Any = tool["fault"]
        kind = fault if isinstance(fault, str) else cast(Mapping[str, Any], fault).get("kind")
        ways.append(f"fails with {kind}")
    about = f": {tool['description']}" if tool.get("description") else ""
    return f"{tool.get('name')}{about}" + (f" ({', '.join(ways)})" if ways else "")


def _without_content(value: Any) -> Any:
    """The value with every mapping of files replaced by their names and sizes."""
    if isinstance(value, list):
        return [_without_content(one) for one in cast(list[Any], value)]
    if not isinstance(value, dict):
        return value
    body = cast(dict[str, Any], value)
    return {
        key: _files(one) if key in ("files", "hidden") else _without_content(one)
        for key, one in body.items()
        if one is not None
    }


def _files(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    files = cast(dict[str, Any], value)
    return [f"{path} ({_size(file):,} bytes)" for path, file in sorted(files.items())]


def _size(file: Any) -> int:
    if isinstance(file, str):
        return len(file.encode())
    body = cast(dict[str, str], file)
    if "base64" in body:
        return len(base64.b64decode(body["base64"]))
    return len(body.get("text", "").encode())
