"""Random parties, times and values: the contract does what the model and the embedded ledger do."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from contract_machine import HISTORIES, ON_A_CHAIN, STEPS, BothWorlds, drive_contract
from contract_world import ContractWorld
from evm_world import EvmWorld

NODE_HISTORIES = range(7)
REFUSED_PAYMENTS = {"credited", "collected"}
"""What happens only to those who refuse payments: nobody does on the node."""


def every_rule_succeeded(done: Counter[str], rules: Iterable[str] = ON_A_CHAIN) -> None:
    never = {name for name in rules if not done[name]}
    assert not never, f"never once done, so nothing is proved of it: {never}; done: {done}"


def test_no_numbered_history_breaks_an_invariant_of_the_contract():
    """The same histories in which planted mistakes are found."""
    every_rule_succeeded(drive_contract(ContractWorld(), histories=HISTORIES, steps=STEPS))


def test_the_contract_and_the_embedded_ledger_agree_at_every_step(tmp_path: Path):
    """I12: state, balances and the class of every error."""
    worlds = BothWorlds(f"sqlite+aiosqlite:///{tmp_path / 'arena.db'}", tmp_path / "content")
    every_rule_succeeded(drive_contract(worlds, histories=range(100, 118), steps=STEPS))


def test_the_ledger_on_a_real_node_does_what_the_model_does(tmp_path: Path):
    """Every step is a real transaction, and comes back as events."""
    world = EvmWorld(tmp_path, f"sqlite+aiosqlite:///{tmp_path / 'arena.db'}")
    done = drive_contract(world, histories=NODE_HISTORIES, steps=STEPS)
    every_rule_succeeded(done, ON_A_CHAIN - REFUSED_PAYMENTS)
