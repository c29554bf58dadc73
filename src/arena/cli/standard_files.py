"""Standards that the user names: a JSON file, a CID, or standard input."""

from pathlib import Path
from typing import Any

from arena.cli.files import read_json_file
from arena.content.cid import parse_cid
from arena.errors import InvalidInput

MAX_STANDARD_BYTES = 1024**2


def evaluation_of(name: str) -> dict[str, Any]:
    """How a posted task names its standard: the document, or the CID where it is no file."""
    if name != "-" and not Path(name).exists():
        try:
            return {"evaluation_cid": str(parse_cid(name))}
        except InvalidInput:
            pass  # then it is a file that is not there, and reading it says so
    document = read_json_file(name, max_bytes=MAX_STANDARD_BYTES)
    if not isinstance(document, dict):
        raise InvalidInput(f"{name} is no standard: it must be a JSON object with a 'type'")
    return {"evaluation": document}
