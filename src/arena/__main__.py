"""`python -m arena`, and the command `arena`."""

import sys


def main() -> None:
    """Run the command line; the version is told before anything heavy is loaded."""
    if sys.argv[1:] == ["--version"]:
        import arena

        print(f"arena {arena.__version__}")
        return
    from arena.cli.main import run

    run()


if __name__ == "__main__":
    main()
