"""Scores in the database: this room's one door to the tables.

Every change of the evidence (`evidence.py`) and the scores that follow from it are written in the
same transaction, from running sums: the cost of a change does not grow with the history.
"""
