"""Door 2: the command `arena`. Commands parse, call the client and show; nothing more."""
