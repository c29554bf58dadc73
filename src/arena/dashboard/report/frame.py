"""What every report stands in: its head with the policy, its style and its one script."""

import base64
import hashlib
from importlib import resources

from arena import __version__
from arena.clock import now
from arena.dashboard.report.markup import Html, element, joined, untrusted


def frame(*, title: str, heading: str, lead: Html, main: Html, data_name: str) -> str:
    """A whole page, with nothing outside of it: no file, no address, no font."""
    style, script = _part("report.css"), _part("report.js")
    policy = (
        "default-src 'none'",
        f"style-src 'sha256-{_hash(style)}'",
        f"script-src 'sha256-{_hash(script)}'",
        "base-uri 'none'",
        "form-action 'none'",
    )
    head = joined(
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content="; ".join(policy)),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", f"{title} · Arena"),
        element("style", Html(style)),
    )
    made = f"Made by Arena {__version__} on {now():%d %B %Y, %H:%M} UTC. All of the data: "
    body = joined(
        element("header", element("h1", untrusted(heading)), element("div", lead, class_="lead")),
        element("main", main),
        element("footer", made, element("a", data_name, href=data_name)),
        element("script", Html(script)),
    )
    return "<!doctype html>\n" + element(
        "html", element("head", head), element("body", body), lang="en"
    )


def facts(told: list[tuple[str, str, str | None]]) -> Html:
    """Numbers side by side: name, value, note."""
    cells = [
        element(
            "div",
            element("dt", name),
            element("dd", value),
            element("dd", note, class_="note") if note else None,
        )
        for name, value, note in told
    ]
    return element("dl", *cells, class_="facts")


def _part(name: str) -> str:
    return resources.files("arena.dashboard.report").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
