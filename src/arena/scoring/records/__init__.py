"""Scores in the database: the only code of this room that uses the tables.

Every change of the evidence (`evidence.py`) and the resulting scores are written in the same
transaction, from running sums: the cost of a change does not grow with the history.
"""
