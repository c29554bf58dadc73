"""HTML that cannot be talked to: every text is escaped, and what cannot be seen is shown."""

import html
import re
import unicodedata

UNSEEN = re.compile(
    "(["
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f"
    "])\\1*"
)
"""Controls, marks of direction and characters without width, in runs of the same one."""

VOID = {"meta", "input", "line", "circle"}


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def element(tag: str, /, *children: str | None, **attributes: object) -> Html:
    """An element; children that are no `Html` are escaped, None is left out.

    Attributes are written with `_` for `-`, and a final `_` where Python has the word for itself.
    True stands alone, None and False are left out.
    """
    told = "".join(_attribute(key, value) for key, value in attributes.items())
    if tag in VOID:
        return Html(f"<{tag}{told} />")
    inside = "".join(escaped(child) for child in children if child is not None)
    return Html(f"<{tag}{told}>{inside}</{tag}>")


def joined(*parts: str | None) -> Html:
    """Parts one after the other."""
    return Html("".join(escaped(part) for part in parts if part is not None))


def escaped(text: str) -> Html:
    """What is HTML stays; everything else becomes text."""
    return text if isinstance(text, Html) else Html(html.escape(_valid(text)))


def untrusted(text: str) -> Html:
    """What somebody else wrote: it cannot turn its line around, and hides nothing."""
    pieces: list[str] = []
    end = 0
    for found in UNSEEN.finditer(text):
        pieces.append(escaped(text[end : found.start()]))
        pieces.append(_mark(found[0]))
        end = found.end()
    pieces.append(escaped(text[end:]))
    return Html(f"<bdi>{''.join(pieces)}</bdi>")


def _mark(unseen: str) -> Html:
    code = f"U+{ord(unseen[0]):04X}"
    told = code if len(unseen) == 1 else f"{code}×{len(unseen)}"
    name = unicodedata.name(unseen[0], "control character").lower()
    return element("span", told, class_="mark", title=name)


def _attribute(key: str, value: object) -> str:
    name = key.rstrip("_").replace("_", "-")
    if value is None or value is False:
        return ""
    return f" {name}" if value is True else f' {name}="{html.escape(_valid(str(value)))}"'


def _valid(text: str) -> str:
    """Half a character cannot be written to a file."""
    return text.encode("utf-8", "replace").decode("utf-8")
