"""Compiles the contract and writes the artifact that ships with Arena: `make contract`."""

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import vyper

FOLDER = Path(__file__).parent.parent / "src" / "arena" / "chain"
SOURCE = FOLDER / "ArenaMarket.vy"
ARTIFACT = FOLDER / "ArenaMarket.json"


def compiled(source: str) -> dict[str, Any]:
    """The contract's artifact. The optimisation and the EVM version are pragmas of the source."""
    made = vyper.compile_code(
        source,
        contract_path=SOURCE.name,
        output_formats=["abi", "bytecode", "bytecode_runtime", "settings_dict"],
        # The same source then gives the same bytes, wherever it is compiled.
        no_bytecode_metadata=True,
    )
    return {
        "name": SOURCE.stem,
        "compiler": f"vyper {vyper.__version__}",
        "settings": made["settings_dict"],
        "sourceSha256": hashlib.sha256(source.encode()).hexdigest(),
        "abi": made["abi"],
        "bytecode": made["bytecode"],
        "runtimeBytecode": made["bytecode_runtime"],
    }


def artifact_text(source: str) -> str:
    """The artifact as the file holds it."""
    return json.dumps(compiled(source), indent=1) + "\n"


def main() -> None:
    """Write the artifact."""
    ARTIFACT.write_text(artifact_text(SOURCE.read_text()))
    sys.stdout.write(f"wrote {ARTIFACT.name}\n")


if __name__ == "__main__":
    main()
