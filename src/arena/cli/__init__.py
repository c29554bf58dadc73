"""Door: the command `arena`. Commands parse, call operations and print; nothing more.

Without `--server` operations run in this process; with it, the client sends them to the server.
"""
