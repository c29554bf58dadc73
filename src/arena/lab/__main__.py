"""`python -m arena.lab AGENT_ID`."""

import sys

from arena.lab.program import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
