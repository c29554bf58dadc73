"""A page that needs no server: a run or the leaderboard, for a pull request or a colleague.

Written by Python and not by the dashboard's scripts: it opens from disk, where a browser gives
scripts of a page hardly any rights, it can be read without any script at all, and every byte of
what others wrote goes through one function that makes it harmless (`markup.py`).
"""

from arena.dashboard.report.board_page import board_page
from arena.dashboard.report.folder import write_report
from arena.dashboard.report.run_page import RunReport, run_page

__all__ = ["RunReport", "board_page", "run_page", "write_report"]
