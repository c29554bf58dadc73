"""`python -m arena`, and the command `arena`."""

import gc
import sys

import arena


def main() -> None:
    """Run the command line; the version is told before anything heavy is loaded."""
    if sys.argv[1:] == ["--version"]:
        print(f"arena {arena.__version__}")
        return
    # What is imported stays to the end. Looking through it for garbage again and again, and once
    # more at the end, is a sixth of the processor time of a short command.
    gc.set_threshold(50_000, 20, 20)
    from arena.cli.main import run

    try:
        run()
    finally:
        gc.freeze()


if __name__ == "__main__":
    main()
