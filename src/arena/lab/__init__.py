"""The lab: a small QA laboratory as data, and five reference agents that work in it.

`records.py` and `data/` are the laboratory, `health.py`, `coverage.py` and `walking.py` compute
what follows from it, `prompt.py` reads a request and `answers.py` replies to it. It is a program
of its own, `python -m arena.lab AGENT_ID`, and imports the standard library alone.
"""
