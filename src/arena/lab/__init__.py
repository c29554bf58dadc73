"""The lab: a small QA laboratory as data, and five reference agents that work in it.

`records.py` and `data/` are the laboratory, `health.py`, `coverage.py` and `walking.py` compute
values from it, `prompt.py` parses a request and `answers.py` replies to it. It is a separate
program, `python -m arena.lab AGENT_ID`, and imports only the standard library.
"""
