"""The page `/docs`: the OpenAPI document for people, without scripts or foreign servers.

The page is public, like the document itself: it describes Arena and holds no data.
"""

import json
import secrets
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from typing import Any

from fastapi import FastAPI
from fastapi.responses import HTMLResponse

from arena.dashboard.report.markup import Html, element, joined

PATH = "/docs"
REFERENCE = "#/components/schemas/"
LIMITS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
}

Schema = Mapping[str, Any]


def add_docs_page(app: FastAPI) -> None:
    """Serve the page at `/docs`."""

    @cache
    def body() -> Html:
        return _body(app.openapi(), app.openapi_url or "")

    # Not async: making the page takes a moment, and other requests must not wait for it.
    @app.get(PATH, include_in_schema=False)
    def docs() -> HTMLResponse:  # pyright: ignore[reportUnusedFunction]
        nonce = secrets.token_urlsafe(16)
        policy = f"default-src 'none'; style-src 'nonce-{nonce}'; base-uri 'none'; "
        headers = {
            "Content-Security-Policy": policy + "form-action 'none'; frame-ancestors 'none'",
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cache-Control": "no-cache",
        }
        return HTMLResponse(_page(body(), nonce), headers=headers)


def _page(body: Html, nonce: str) -> str:
    style = resources.files("arena.api").joinpath("docs_page.css").read_text(encoding="utf-8")
    head = joined(
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", "API · Arena"),
        element("style", Html(style), nonce=nonce),
    )
    whole = element("html", element("head", head), element("body", body), lang="en")
    return f"<!doctype html>\n{whole}"


def _body(document: Schema, address: str) -> Html:
    operations = [
        (method.upper(), path, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    groups = [
        (tag, [one for one in operations if tag["name"] in one[2]["tags"]])
        for tag in document["tags"]
    ]
    intro = joined(
        element("h1", f"{document['info']['title']} API {document['info']['version']}"),
        element("p", "For programs: ", element("a", address, href=address), "."),
    )
    schemas = document["components"]["schemas"]
    return joined(
        element("nav", *(_contents(tag, found) for tag, found in groups), aria_label="Operations"),
        element(
            "main",
            intro,
            *(_group(tag, found) for tag, found in groups),
            element("h2", "Schemas", id="schemas"),
            *(_schema(name, schemas[name]) for name in sorted(schemas)),
        ),
    )


def _contents(tag: Schema, operations: Iterable[tuple[str, str, Schema]]) -> Html:
    items = [
        element("li", element("a", one["operationId"], href=f"#{one['operationId']}"))
        for _, _, one in operations
    ]
    return joined(
        element("h2", element("a", tag["name"], href=f"#tag-{tag['name']}")), element("ul", *items)
    )


def _group(tag: Schema, operations: Iterable[tuple[str, str, Schema]]) -> Html:
    return element(
        "section",
        element("h2", tag["name"], id=f"tag-{tag['name']}"),
        element("p", tag["description"]),
        *(_operation(*one) for one in operations),
    )


def _operation(method: str, path: str, operation: Schema) -> Html:
    summary = element(
        "summary",
        element("span", method, class_=f"method {method.lower()}"),
        element("code", path),
        element("span", operation["description"].partition("\n")[0], class_="about"),
    )
    body = operation.get("requestBody")
    parts = [
        # The id is inside the details: a browser opens them for a link to what they contain.
        element("p", operation["description"], id=operation["operationId"]),
        _parameters(operation.get("parameters", ())),
        joined(element("h3", "Body"), _contents_of(body["content"])) if body else None,
        element("h3", "Responses"),
        *(_response(status, answer) for status, answer in operation["responses"].items()),
    ]
    return element("details", summary, *parts)


def _parameters(parameters: Iterable[Schema]) -> Html | None:
    rows = [
        _row(
            joined(element("code", one["name"]), element("span", f" {one['in']}", class_="quiet")),
            one["schema"],
            one["required"],
            one.get("description", ""),
        )
        for one in parameters
    ]
    return joined(element("h3", "Parameters"), element("table", *rows)) if rows else None


def _row(name: Html, schema: Schema, is_required: bool, text: str) -> Html:
    notes = [pattern.format(schema[key]) for key, pattern in LIMITS.items() if key in schema]
    if schema.get("default") is not None:
        notes.append(f"default {json.dumps(schema['default'])}")
    limits = f"({', '.join(notes)})" if notes else ""
    return element(
        "tr",
        element("th", name, element("b", " required") if is_required else None, scope="row"),
        element("td", _type(schema)),
        element("td", " ".join(filter(None, (text, limits)))),
    )


def _response(status: str, answer: Schema) -> Html:
    title = element("h4", element("code", status), f" {answer['description']}")
    return joined(title, _contents_of(answer.get("content", {})))


def _contents_of(content: Mapping[str, Schema]) -> Html:
    return joined(
        *(
            joined(
                element("p", element("code", kind), " ", _type(one.get("schema", {}))),
                element("pre", _pretty(one["example"])) if "example" in one else None,
            )
            for kind, one in content.items()
        )
    )


def _pretty(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _schema(name: str, schema: Schema) -> Html:
    required = schema.get("required", ())
    rows = [
        _row(element("code", field), one, field in required, one.get("description", ""))
        for field, one in schema.get("properties", {}).items()
    ]
    return element(
        "section",
        element("h3", element("code", name)),
        element("p", schema["description"]) if "description" in schema else None,
        element("table", *rows) if rows else element("p", _type(schema)),
        id=f"schema-{name}",
        class_="schema",
    )


def _type(schema: Schema) -> Html:
    """The type of a value in words; a schema with a name is a link to it."""
    if "$ref" in schema:
        name = schema["$ref"].removeprefix(REFERENCE)
        return element("a", name, href=f"#schema-{name}")
    for key, word in (("anyOf", " or "), ("oneOf", " or "), ("allOf", " and ")):
        if key in schema:
            first, *others = map(_type, schema[key])
            return joined(first, *(part for one in others for part in (word, one)))
    if "enum" in schema:
        return joined(" or ".join(map(json.dumps, schema["enum"])))
    if "const" in schema:
        return joined(json.dumps(schema["const"]))
    if schema.get("type") == "array":
        return joined("list of ", _type(schema.get("items", {})))
    # `true` or an empty schema stands for any value.
    if schema.get("additionalProperties") not in (None, True, False, {}):
        return joined("object of ", _type(schema["additionalProperties"]))
    words = [schema.get("type", "any value"), schema.get("format")]
    return joined(", ".join(word for word in words if word))
