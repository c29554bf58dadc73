"""Reports: a run or the leaderboard as one self-contained page, for a pull request or a colleague.

The page is written by Python and not by the dashboard's build: it opens from disk without a server,
can be read without any script, and stays small (docs/decisions/0009). `markup.py` makes every text
that others wrote harmless; `pages.py` says what stands on a page.
"""
