"""What may stand in the connector of an agent's file: pure checks that say what is allowed.

No message repeats what stands there: it may be a secret in the wrong place.
"""

import re
import shlex
from collections.abc import Mapping
from urllib.parse import urlsplit

VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
REFERENCE = re.compile(r"\$\{([^}]*)\}")
"""`${NAME}`: the value of an environment variable, put in when the agent is connected."""

_CALLABLE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", re.ASCII)
_SECRET_HEADER = re.compile(r"authorization|cookie|token|secret|password|api[-_]?key", re.I)
# Arena sets these itself; a second one would garble the request.
_OWN_HEADERS = {"content-length", "host", "transfer-encoding", "connection", "accept-encoding"}


def check_command(command: str) -> str:
    """A command that can be split into words."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ValueError(f"cannot be split into words: {error}") from None
    if not words or not words[0]:
        raise ValueError("names no program; write for example: python3 my_agent.py")
    if "\0" in command:
        raise ValueError("must not contain a zero byte")
    return command


def check_callable(reference: str) -> str:
    """`module:function`."""
    if not _CALLABLE.fullmatch(reference):
        raise ValueError("must be module:function, for example my_agent:answer")
    return reference


def check_variable(name: str) -> str:
    """The name of an environment variable (its name, not its value)."""
    if not VARIABLE.fullmatch(name):
        raise ValueError("must be the name of an environment variable: letters, digits and _")
    return name


def check_url(url: str) -> str:
    """An http or https address with a host and without a password in it."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise ValueError("is not a valid address") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise ValueError("must be an address that begins with http:// or https://")
    if parts.username is not None or parts.password is not None:
        raise ValueError("must not contain a user or password; use a header with ${NAME}")
    return url


def check_headers(headers: Mapping[str, str]) -> Mapping[str, str]:
    """Headers that can be sent and keep their secrets out of the file."""
    for name, value in headers.items():
        _check_header(name, value)
    return headers


def _check_header(name: str, value: str) -> None:
    if not _HEADER_NAME.fullmatch(name):
        raise ValueError("has a key that is not the name of a header")
    if name.lower() in _OWN_HEADERS:
        raise ValueError(f"has {name!r}, which is set by Arena itself; leave it out")
    if not value.isprintable():
        raise ValueError(f"must have one line of printable characters as {name!r}")
    for variable in REFERENCE.findall(value):
        if not VARIABLE.fullmatch(variable):
            raise ValueError(f"has a ${{...}} in {name!r} that is not the name of a variable")
    if _SECRET_HEADER.search(name) and not REFERENCE.search(value):
        raise ValueError(
            f"has a {name!r} that looks like a secret: put it in an environment variable"
            f" and write ${{NAME}} here"
        )


def check_pointer(pointer: str) -> str:
    """A way through a JSON value."""
    if not pointer.strip("/."):
        raise ValueError("must be a path such as /choices/0/text or choices.0.text")
    return pointer
