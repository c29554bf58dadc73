"""The market in the database: this room's one door to the tables.

Whatever changes something is one transaction under the lock of the team's book (`book.py`): the
task, the journal, the events, the agent's record and the receipt are written together or not at
all. What a call costs does not grow with the history: balances and reputations are running sums.
"""

from arena.market.records.acting import (
    CashRequest,
    Offer,
    Request,
    act,
    digest_of,
    move_cash,
    post,
    preview,
    preview_post,
)
from arena.market.records.agents import all_agents, ranked_applicants, read_agent, register
from arena.market.records.audit import audit
from arena.market.records.book import market_id
from arena.market.records.events import last_event_id, list_events
from arena.market.records.journal import balances_of
from arena.market.records.reading import (
    all_balances,
    due_tasks,
    entries_of,
    history_of,
    list_tasks,
)
from arena.market.records.tasks import read_task

__all__ = [
    "CashRequest",
    "Offer",
    "Request",
    "act",
    "all_agents",
    "all_balances",
    "audit",
    "balances_of",
    "digest_of",
    "due_tasks",
    "entries_of",
    "history_of",
    "last_event_id",
    "list_events",
    "list_tasks",
    "market_id",
    "move_cash",
    "post",
    "preview",
    "preview_post",
    "ranked_applicants",
    "read_agent",
    "read_task",
    "register",
]
