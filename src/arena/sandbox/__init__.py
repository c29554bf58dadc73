"""Where untrusted code runs: providers, limits, test cases and their score.

A **provider** (`providers.py`) makes **sandboxes**; a sandbox has files and runs commands
(`ports.py`). `run_tests` (`cases.py`) calls a submission's function, or runs it as a program, with
the inputs of test cases, and compares the values outside the sandbox. A submission that fails gets
a result that says so; a machine that cannot isolate is an error.
"""
