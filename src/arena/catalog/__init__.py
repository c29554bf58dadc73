"""The tests, read from YAML files.

A *test* is a prompt with a standard. A *source* is a file of tests; a mistake in it is a *problem*
with a line and a column. The *catalog* is an immutable snapshot of all tests, and the *live
catalog* replaces it when files are edited. The *audit* checks the tests themselves: agents that do
nothing must not pass them. `builtin/` holds the tests that ship with Arena.

This room imports `evaluation`, `documents` and the modules below them; it uses no agents, no
database and no web.
"""
