"""Safe HTML: every text is escaped, and invisible characters are made visible.

`frame` is the page around it, with a policy that allows its own style and script and nothing else.
"""

import base64
import hashlib
import html
import re
import unicodedata
from collections.abc import Iterable
from importlib import resources

from arena import __version__
from arena.clock import now
from arena.dashboard.report.emoji import JOINED
from arena.text import to_unicode

UNSEEN = re.compile(
    "(["
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f"
    "])\\1*"
)
"""Control, direction and zero-width characters, in runs of the same one."""

VOID = {"meta", "input", "line", "circle"}


class Html(str):
    """Text that is already HTML."""

    __slots__ = ()


def element(tag: str, /, *children: str | None, **attributes: object) -> Html:
    """An element; children that are not `Html` are escaped, None is left out.

    Attributes have `_` for `-`, and a trailing `_` if the name is a Python keyword. True is
    written without a value; None and False are left out.
    """
    written = "".join(_attribute(key, value) for key, value in attributes.items())
    if tag in VOID:
        return Html(f"<{tag}{written} />")
    return Html(f"<{tag}{written}>{joined(*children)}</{tag}>")


def joined(*parts: str | None) -> Html:
    """Parts, concatenated; text among them is escaped."""
    return Html("".join(escaped(part) for part in parts if part is not None))


def escaped(text: str) -> Html:
    """The text as HTML; `Html` is returned unchanged."""
    return text if isinstance(text, Html) else Html(html.escape(to_unicode(text)))


def untrusted(text: str) -> Html:
    """Untrusted text: isolated from its line, with invisible characters made visible."""
    pieces: list[str] = []
    end = 0
    emoji = {place for found in JOINED.finditer(text) for place in range(*found.span())}
    for found in UNSEEN.finditer(text):
        if found.start() in emoji:
            continue
        pieces.append(escaped(text[end : found.start()]))
        pieces.append(_mark(found[0]))
        end = found.end()
    pieces.append(escaped(text[end:]))
    # <bdi>: right-to-left text must not reorder the text around it.
    return Html(f"<bdi>{''.join(pieces)}</bdi>")


def _mark(unseen: str) -> Html:
    code = f"U+{ord(unseen[0]):04X}"
    label = code if len(unseen) == 1 else f"{code}×{len(unseen)}"
    name = unicodedata.name(unseen[0], "control character").lower()
    return element("span", label, class_="mark", title=name)


def _attribute(key: str, value: object) -> str:
    name = key.rstrip("_").replace("_", "-")
    if value is None or value is False:
        return ""
    return f" {name}" if value is True else f' {name}="{escaped(str(value))}"'


def frame(*, title: str, heading: str, lead: Html, main: Html, data_name: str | None = None) -> str:
    """A whole page that loads no other resources; it names the file with its data, if any."""
    style, script = _part("report.css"), _part("report.js")
    # Hashes, not 'unsafe-inline': only this style and script take effect, so markup that slipped
    # through stays inert.
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
    made = f"Created by Arena {__version__} on {now():%d %B %Y, %H:%M} UTC."
    data = joined(" Full data: ", element("a", data_name, href=data_name)) if data_name else None
    body = joined(
        element("header", element("h1", untrusted(heading)), element("div", lead, class_="lead")),
        element("main", main),
        element("footer", made, data),
        element("script", Html(script)),
    )
    return "<!doctype html>\n" + element(
        "html", element("head", head), element("body", body), lang="en"
    )


def facts(rows: Iterable[tuple[str, str, str | None]]) -> Html:
    """Numbers side by side: name, value, note."""
    cells = [
        element(
            "div",
            element("dt", name),
            element("dd", value),
            element("dd", note, class_="note") if note else None,
        )
        for name, value, note in rows
    ]
    return element("dl", *cells, class_="facts")


def filter_bar(*fields: Html) -> Html:
    """The fields of a filter, and the number of matching rows."""
    shown = element("p", id="shown", role="status", class_="quiet")
    return element("div", *fields, shown, class_="filter", role="search")


def choice(name: str, label: str, everything: str, values: Iterable[str]) -> Html:
    """A filter by one of several values."""
    options = [element("option", value, value=value) for value in values]
    every = element("option", everything, value="")
    return element("label", label, element("select", every, *options, name=name))


def search_field(label: str) -> Html:
    """A filter by a word that must occur."""
    return element("label", label, element("input", name="find", type="search", autocomplete="off"))


def _part(name: str) -> str:
    return resources.files("arena.dashboard.report").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
