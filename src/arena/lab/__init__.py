"""The lab: a small QA laboratory as data, and the reference agents that work in it.

`records.py` is its vocabulary, `data/` its content, `lab.py` the questions one can ask it. All of
it imports the standard library alone, so that an agent starts fast.
"""
