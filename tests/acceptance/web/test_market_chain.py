"""The market with tasks on a chain: where they are, what moved there, and exact amounts."""

import json
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import httpx2
import pytest
from playwright.sync_api import Page, Route, expect

from acceptance.conftest import Shell
from acceptance.web.chain_tasks import (
    ALICE,
    CONTRACT,
    JUDY,
    MAINNET,
    STRANGER,
    WORKER,
    HandmadeChain,
    hash_of,
)
from acceptance.web.conftest import DESK, Visit, in_both_looks
from acceptance.web.furniture import HOSTILE
from acceptance.web.test_layout import INSIDE
from arena.clock import now

STANDARD = {"type": "contains", "contains": ["def"]}
REWARD = 1_234_567_890_123_456_789
EXACT = "1.234567890123456789 ETH"
ABSENT = "bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e"
PAID, WAITING, HOSTILE_TASK, ON_MAINNET, EMBEDDED = range(1, 6)
"""The tasks by their numbers here."""


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    return Shell(home=tmp_path_factory.mktemp("chain"))


@pytest.fixture(scope="module")
def chain(shell: Shell) -> HandmadeChain:
    return HandmadeChain(home=shell.home)


@pytest.fixture(scope="module")
def server(shell: Shell, chain: HandmadeChain) -> Iterator[httpx2.Client]:
    """A server with the embedded ledger; its tables also have tasks on two chains."""
    with shell.serving() as client:
        in_thread(lambda: furnish(client, chain))
        yield client


def in_thread(work: Callable[[], Any]) -> Any:
    """Runs it in a thread: the browser keeps an event loop running in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(work).result()


def furnish(client: httpx2.Client, chain: HandmadeChain) -> None:
    standard = _stored(client, json.dumps(STANDARD))
    result = _stored(client, "def merge(a, b): return a | b")
    reason = _stored(client, "It merges.")
    chain.descriptions |= {"text": "Write merge(a, b).\nAs in the example.", "hostile": HOSTILE}
    chain.post(1, reward=REWARD, description_cid="text", standard=standard)
    chain.call(("Applied",), 1, agent=WORKER, version="2.0.0")
    chain.call(("Applied",), 1, agent=STRANGER, version="")
    chain.call(("Assigned",), 1, agent=WORKER, by=ALICE)
    chain.call(("ResultSubmitted",), 1, agent=WORKER, resultHash=result, language="")
    verdict = {"judge": JUDY, "score": "90", "reasonURI": reason, "winner": WORKER}
    chain.call(("Judged", "Paid"), 1, resultHash=result, **verdict)
    chain.post(2, reward=1, description_cid=ABSENT, standard=standard)
    chain.post(3, reward=REWARD, description_cid="hostile", standard=standard)
    elsewhere = HandmadeChain(home=chain.home, network=MAINNET, descriptions={"blank": "\n  \n"})
    elsewhere.post(1, reward=5 * 10**17, description_cid="blank", standard=standard)
    _post_embedded(client)


def _stored(client: httpx2.Client, text: str) -> str:
    return client.post("/api/content", content=text.encode()).json()["cid"]


def _post_embedded(client: httpx2.Client) -> None:
    money = {"account": "alice", "amount": "9"}
    assert client.post("/api/ledger/deposit", json=money).status_code == 200
    offer = {
        "poster": "alice",
        "description": "Paint a bird",
        "evaluation": STANDARD,
        "reward": "0.25",
        "deadline": (now() + timedelta(days=2)).isoformat(),
        "judge": "judy",
    }
    posted = client.post("/api/tasks", json=offer)
    assert posted.status_code == 200, posted.text


def _row(page: Page, table: str, name: str) -> Any:
    return page.get_by_role("table", name=table).get_by_role("row").filter(has_text=name)


@in_both_looks
def test_a_task_on_a_chain_says_where_it_is(visit: Visit):
    page = visit.go(f"/market/tasks/{PAID}")
    expect(page.get_by_role("heading", level=1)).to_have_text("Write merge(a, b).")
    expect(_row(page, "Terms", "Ledger")).to_contain_text("Contract on a chain")
    expect(_row(page, "Terms", "Network")).to_contain_text("Chain 31337 (development chain")
    expect(_row(page, "Terms", "Contract").first).to_contain_text("Contract on a chain")
    expect(page.get_by_role("table", name="Terms")).to_contain_text(CONTRACT)
    expect(_row(page, "Terms", "Number in the contract")).to_contain_text("1")
    expect(page.get_by_text("chain 31337", exact=True)).to_be_visible()
    expect(page.get_by_text("development chain: its ETH is worth nothing")).to_be_visible()
    expect(page.locator("main")).not_to_contain_text("TEST")
    visit.check_every_look()


@in_both_looks
def test_every_event_on_a_chain_has_its_transaction(visit: Visit):
    visit.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    asked: list[str] = []
    visit.page.on("request", lambda request: asked.append(request.url))
    page = visit.go(f"/market/tasks/{PAID}")
    events = page.get_by_role("region", name="History").get_by_role("listitem")
    expect(events).to_have_count(7)
    first = hash_of("eip155:31337", "transaction", 1)
    shown = events.first.locator("code").filter(has_text=first)
    expect(shown).to_have_attribute("title", first)
    # Its middle is cut, not its text.
    assert shown.locator("span").first.evaluate("it => it.scrollWidth > it.clientWidth")
    events.first.get_by_role("button", name="Copy: transaction of TaskPosted").click()
    expect(events.first.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == first
    # A verdict pays in the same transaction.
    verdict = hash_of("eip155:31337", "transaction", 6)
    expect(events.filter(has_text=verdict)).to_have_count(2)
    # Nothing comes from another host, or leads to one.
    assert asked
    assert not [url for url in asked if not url.startswith(visit.url)]
    expect(page.locator("main a[href^=http]")).to_have_count(0)


@in_both_looks
def test_amounts_have_all_their_decimals(visit: Visit):
    page = visit.go(f"/market/tasks/{PAID}")
    facts = page.locator("main dl")
    expect(facts.get_by_text(EXACT)).to_have_count(2)
    history = page.get_by_role("region", name="History")
    expect(history).to_contain_text(f"reward {EXACT}")
    expect(history).to_contain_text(f"{EXACT} to worker")
    postings = page.get_by_role("table", name="Postings")
    for amount in ("+1.234567890123456789", "−1.234567890123456789"):
        cells = postings.get_by_text(amount, exact=True)
        expect(cells).to_have_count(2)
        assert cells.first.evaluate(INSIDE)
    visit.go(f"/market/tasks/{WAITING}")
    expect(facts).to_contain_text("0.000000000000000001 ETH")


@in_both_looks
def test_the_list_marks_ledgers_and_currencies(visit: Visit):
    page = visit.go("/market")
    for task, mark, reward in (
        ("Write merge(a, b).", "chain 31337", EXACT),
        ("not here yet", "chain 31337", "0.000000000000000001 ETH"),
        (f"Task {ON_MAINNET}", "chain 1", "0.5 ETH"),
        ("Paint a bird", "embedded", "0.25 TEST"),
    ):
        row = _row(page, "Tasks", task)
        expect(row.get_by_text(mark, exact=True)).to_be_visible()
        cell = row.get_by_role("cell").filter(has_text=reward)
        assert cell.evaluate(INSIDE)
    visit.check_every_look()


@pytest.mark.parametrize("width", [320, 360])
def test_a_narrow_phone_shows_long_amounts(visit: Visit, width: int):
    page = visit.go("/market")
    page.set_viewport_size({"width": width, "height": 800})
    reward = _row(page, "Tasks", "Write merge(a, b).").get_by_role("cell").filter(has_text=EXACT)
    assert reward.evaluate(INSIDE)
    visit.check_no_overflow()
    for task in (PAID, HOSTILE_TASK):
        visit.go(f"/market/tasks/{task}")
        visit.check_no_overflow()


def test_the_list_has_no_marks_without_a_chain(visit: Visit):
    page = visit.page
    only = {"tasks": [], "count": 1, "next_cursor": None}

    def keep_embedded(route: Route) -> None:
        tasks = route.fetch().json()["tasks"]
        found = [one for one in tasks if one["ledger"] == "embedded"]
        route.fulfill(json={**only, "tasks": found})

    page.route("**/api/tasks?*", keep_embedded)
    visit.go("/market")
    row = _row(page, "Tasks", "Paint a bird")
    expect(row).to_contain_text("0.25 TEST")
    expect(row.get_by_text("embedded", exact=True)).to_have_count(0)
    # The page may ask again while it is closed.
    page.unroute_all(behavior="ignoreErrors")


@in_both_looks
def test_a_task_in_the_embedded_ledger_has_no_empty_rows(visit: Visit):
    page = visit.go(f"/market/tasks/{EMBEDDED}")
    expect(_row(page, "Terms", "Ledger")).to_contain_text("Embedded ledger")
    for name in ("Network", "Contract", "Number in the contract"):
        expect(_row(page, "Terms", name)).to_have_count(0)
    expect(page.get_by_text("test money, worth nothing")).to_be_visible()
    expect(page.get_by_role("region", name="History")).not_to_contain_text("Transaction")
    expect(page.get_by_role("region", name="History")).to_contain_text("reward 0.25 TEST")
    visit.check_every_look()


def test_money_of_another_chain_is_not_called_worthless(visit: Visit):
    page = visit.go(f"/market/tasks/{ON_MAINNET}")
    expect(_row(page, "Terms", "Network")).to_have_text(re.compile("Chain 1$"))
    expect(page.locator("main")).not_to_contain_text("worth nothing")
    # A blank description has no words for a title.
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Task {ON_MAINNET}")


@in_both_looks
def test_a_description_that_is_not_here_yet_says_so(visit: Visit):
    page = visit.go(f"/market/tasks/{WAITING}")
    words = f"The description is not here yet: {ABSENT}"
    expect(page.get_by_role("heading", level=1)).to_have_text(words)
    expect(page.get_by_role("region", name="Task", exact=True)).to_contain_text(words)
    expect(page.locator("main")).not_to_contain_text("ipfs://")
    visit.check_every_look()


def test_a_strangers_description_is_escaped(visit: Visit):
    page = visit.go(f"/market/tasks/{HOSTILE_TASK}")
    expect(page.get_by_role("region", name="Description")).to_contain_text(
        "<script>window.hacked = 1</script><img src=x"
    )
    assert page.evaluate("window.hacked") is None
    expect(page.locator("main img, main script, main a[href^=javascript]")).to_have_count(0)
    expect(page.get_by_text("U+202E", exact=True).first).to_be_visible()


@in_both_looks
def test_a_reorganisation_is_shown_in_words(
    visit: Visit, server: httpx2.Client, chain: HandmadeChain
):
    number = len(server.get("/api/tasks", params={"limit": 100}).json()["tasks"]) + 1
    standard = _stored(server, json.dumps(STANDARD))
    made = {"reward": REWARD, "description_cid": "text", "standard": standard}
    in_thread(lambda: chain.post(10 + number, **made))
    dropped = in_thread(
        lambda: chain.call(("Applied",), 10 + number, agent=STRANGER, version="1.0.0")
    )
    page = visit.go(f"/market/tasks/{number}")
    events = page.get_by_role("region", name="History").get_by_role("listitem")
    expect(events.nth(1)).to_contain_text(STRANGER)
    expect(page.get_by_role("table", name="Applicants")).to_contain_text(STRANGER)
    gone = server.get(f"/api/tasks/{number}").json()["events"][1]["id"]
    in_thread(lambda: chain.drop(dropped))
    # The page hears of it: no reload.
    expect(events.nth(1)).to_contain_text("Chain reorganised")
    words = f"The chain dropped blocks; these events did not happen: Applied (number {gone})"
    expect(events.nth(1)).to_contain_text(words)
    expect(events).to_have_count(2)
    expect(page.get_by_role("table", name="Applicants")).to_have_count(0)
    visit.check_every_look()


@in_both_looks
def test_a_pending_move_says_so_with_its_transaction(
    visit: Visit, server: httpx2.Client, chain: HandmadeChain
):
    number = len(server.get("/api/tasks", params={"limit": 100}).json()["tasks"]) + 1
    standard = _stored(server, json.dumps(STANDARD))
    made = {"reward": REWARD, "description_cid": "text", "standard": standard}
    in_thread(lambda: chain.post(10 + number, **made))
    transaction = hash_of("pending", number)
    receipt = {"ref": 1, "task_id": number, "state": None, "at": now().isoformat()}
    receipt |= {"status": "pending", "ledger": "evm", "transaction_hash": transaction}
    keys: list[str] = []

    def answer(route: Route) -> None:
        keys.append(route.request.post_data_json["idempotency_key"])
        route.fulfill(json=receipt)

    # There is no node: its answer is faked.
    visit.page.route("**/cancel?*", answer)
    page = visit.go(f"/market/tasks/{number}")
    page.get_by_role("button", name="Cancel task").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text(EXACT)
    dialog.get_by_role("button", name="Cancel the task").click()
    expect(dialog).to_have_count(0)
    note = page.get_by_role("status").filter(has_text="The move is pending")
    expect(note).to_contain_text(transaction)
    expect(page.get_by_role("button", name="Cancel task")).to_have_count(0)
    visit.check_every_look()
    note.get_by_role("button", name="Check the move").click()
    expect(note.get_by_role("button", name="Check the move")).to_be_enabled()
    assert len(keys) == 2
    assert len(set(keys)) == 1
    refund = {"poster": ALICE, "amount": str(REWARD)}
    in_thread(lambda: chain.call(("Cancelled",), 10 + number, **refund))
    expect(page.get_by_text("cancelled", exact=True)).to_be_visible()
    expect(note).to_have_count(0)


@in_both_looks
def test_the_market_says_where_new_tasks_are_posted(visit: Visit, server: httpx2.Client):
    page = visit.go("/market")
    words = "New tasks are posted to the embedded ledger and paid in TEST"
    expect(page.get_by_text(words)).to_contain_text("test money, worth nothing")
    market = server.get("/api/market").json()
    market |= {"ledger": "evm", "currency": "ETH", "decimals": 18, "contract": CONTRACT}
    held = [
        {"account": "credit:worker", "amount": "1.234567890123456789"},
        {"account": f"user:{STRANGER}", "amount": "9999.000000000000000001"},
    ]
    balances = {"balances": held, "count": 2, "currency": "ETH"}
    page.route(
        "**/api/market?*", lambda route: route.fulfill(json={**market, "network": "eip155:1337"})
    )
    page.route("**/api/ledger/balance?*", lambda route: route.fulfill(json=balances))
    visit.reload()
    place = page.get_by_text("New tasks are posted to the contract")
    expect(place).to_contain_text(CONTRACT)
    expect(place).to_contain_text("on chain 1337 and paid in ETH (development chain: its ETH")
    table = page.get_by_role("table", name="Balances")
    expect(table).not_to_contain_text("TEST")
    row = table.get_by_role("row").filter(has_text="credit:worker")
    expect(row).to_contain_text("left in the contract by a refused payment")
    expect(row).to_contain_text("arena ledger withdraw")
    assert row.get_by_role("cell").filter(has_text="1.234567890123456789").evaluate(INSIDE)
    visit.check_every_look()
    page.route(
        "**/api/market?*", lambda route: route.fulfill(json={**market, "network": "eip155:1"})
    )
    visit.reload()
    expect(place).to_contain_text("on chain 1 and paid in ETH.")
    expect(page.locator("main")).not_to_contain_text("worth nothing")


def test_a_node_that_is_away_is_a_notice(
    visit_as: Callable[..., Visit], tmp_path_factory: pytest.TempPathFactory
):
    variables = {
        "ARENA_LEDGER": "evm",
        "ARENA_CHAIN_URL": "http://127.0.0.1:9",
        "ARENA_CHAIN_CONTRACT": CONTRACT,
    }
    shell = Shell(home=tmp_path_factory.mktemp("away"), variables=variables)
    chain = HandmadeChain(home=shell.home)
    in_thread(
        lambda: chain.post(1, reward=REWARD, description_cid=ABSENT, standard=ABSENT),
    )
    with shell.serving() as client:
        visit = visit_as(DESK, str(client.base_url).rstrip("/"))
        for address in ("/market", "/market/tasks/1"):
            page = visit.go(address)
            notice = page.get_by_role("status").filter(has_text="The chain cannot be read now")
            expect(notice).to_contain_text("shown as they were when it was last read")
            visit.check_every_look()
        page = visit.go("/market")
        expect(page.get_by_text("a chain that cannot be reached now")).to_be_visible()
        expect(page.locator("main")).not_to_contain_text("worth nothing")
        expect(_row(page, "Tasks", "chain 31337")).to_contain_text(EXACT)
