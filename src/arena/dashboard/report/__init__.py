"""Reports: a run or the leaderboard as one self-contained page, for a pull request or a colleague.

The page is written by Python, not by the dashboard's build: it opens from disk without a server,
works without scripts, and stays small (docs/decisions/0009). `markup.py` escapes untrusted text;
`pages.py` builds the pages.
"""
