"""The market in the database: this room's one door to the tables.

Whatever changes something is one transaction under the lock of the team's book (`book.py`): the
task, the journal, the events, the agent's record and the receipt are written together or not at
all. The cost of a call does not grow with the history: balances and reputations are running sums.
"""
