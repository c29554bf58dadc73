"""`python -m arena`, and the command `arena`."""

import gc
import sys

import arena


def main() -> None:
    """Run the command line; `--version` is handled before anything heavy is loaded."""
    if sys.argv[1:] == ["--version"]:
        print(f"arena {arena.__version__}")
        return
    # Imported objects live to the end. Scanning them for garbage repeatedly, and once more at
    # exit, is a sixth of the CPU time of a short command.
    gc.set_threshold(50_000, 20, 20)
    from arena.cli.main import run

    try:
        run()
    finally:
        gc.freeze()


if __name__ == "__main__":
    main()
