"""Whose key on this machine sends a move."""

from arena.chain.errors import MissingKey
from arena.chain.keys import Keys
from arena.market.call import ANYONE, Action, Call


class Senders:
    """Chooses among the keys of this machine; `relayer` pays for what others sign."""

    def __init__(self, keys: Keys, relayer: str | None) -> None:
        self._keys = keys
        self._relayer = relayer

    def key_of(self, name: str) -> str:
        """The name of a party's key; the party may be named by its address."""
        found = name if self._keys.has(name) else self._keys.name_of(name)
        if found is None:
            known = ", ".join(self._keys.names()) or "nobody"
            raise MissingKey(
                f"the key of {name!r} is not on this machine, so this move cannot be made here: "
                f"make it where the key is, or add it (`arena chain key import {name}`); "
                f"there are keys of: {known}"
            )
        return found

    def of_move(self, call: Call) -> str:
        """The party's own key; for timeouts, which anybody may end, the relayer's will do."""
        is_anybodys = call.action in (Action.EXPIRE, Action.SETTLE)
        if call.by == ANYONE or (is_anybodys and not self._keys.has(call.by)):
            return self.relayer()
        return self.key_of(call.by)

    def of_signed(self, agent: str) -> str:
        """Who sends what an agent signed: the relayer, or else the agent, if its key is here."""
        if self._relayer is None and self._keys.has(agent):
            return agent
        return self.relayer()

    def relayer(self) -> str:
        """Who sends what nobody in particular does."""
        if self._relayer is not None:
            return self.key_of(self._relayer)
        names = self._keys.names()
        if len(names) != 1:
            raise MissingKey(
                "nobody is named to pay for the gas of agents and timeouts: set "
                f"ARENA_CHAIN_RELAYER to one of: {', '.join(names) or '(no key is here)'}"
            )
        return names[0]
