"""A small coding agent, whose working folder is the workspace: it reads and edits files there.

A real one would ask a model what to change. This one knows a single fault: a discount that is
subtracted as if it were money.
"""

import json
import re
import subprocess
import sys
from pathlib import Path


def main() -> None:
    """Read the task, repair the files, run the visible tests, and say what was done."""
    task = json.load(sys.stdin)
    changed = [path for path in sorted(Path().rglob("*.py")) if repair(path)]
    checked = subprocess.run(
        [sys.executable, "-m", "unittest", "discover", "-s", "tests"], capture_output=True
    )
    state = "pass" if checked.returncode == 0 else "fail"
    names = ", ".join(map(str, changed)) or "nothing"
    print(f"{task['prompt'].splitlines()[0]} Changed {names}; the visible tests {state}.")


def repair(path: Path) -> bool:
    """Turn `price - discount` into a percentage."""
    text = path.read_text()
    fixed = re.sub(r"return (\w+) - (discount\w*)\b", r"return \1 * (100 - \2) / 100", text)
    if fixed == text:
        return False
    path.write_text(fixed)
    return True


if __name__ == "__main__":
    main()
