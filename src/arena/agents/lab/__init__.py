"""The lab: a small QA laboratory as data, and the reference agents that work in it.

`records.py` is its vocabulary, `data/` its content, `lab.py` the questions one can ask it. It imports
the standard library and `arena.errors` only, so that an agent starts fast.
"""
