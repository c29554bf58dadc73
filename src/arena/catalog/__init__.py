"""What is asked: the tests, read from YAML files.

A *test* is a prompt with a standard. A *source* is a file of tests; whatever is wrong with it is a
*problem* with a line and a column. The *catalog* is an immutable snapshot of all tests, and the
*live catalog* swaps one snapshot for the next while files are edited. The *audit* asks whether the
tests are any good: agents that do nothing must not pass them. `builtin/` holds the tests that ship
with Arena.

This room imports `evaluation`, `documents` and what lies below; it knows no agents, no database and
no web.
"""
