"""The market in the database: the only code of this room that uses the tables.

Every change is one transaction under the lock of the team's book (`book.py`): the task, the ledger
entries, the events, the agent's reputation and the receipt are written together or not at all. The
cost of a call does not grow with the history: balances and reputations are running sums.
"""
