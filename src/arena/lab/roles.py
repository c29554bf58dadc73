"""Who works in the lab: five agents, what each may see and what each may do."""

from dataclasses import dataclass

from arena.lab.intents import Intent
from arena.lab.records import Platform

EVERYTHING = frozenset(Intent)
WATCHING = frozenset({Intent.DEVICE_STATUS, Intent.HEALTH_CHECK, Intent.LIST_HOSTS, Intent.HELP})


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """One agent of the lab."""

    id: str
    nickname: str
    platforms: frozenset[Platform]
    intents: frozenset[Intent] = EVERYTHING
    may_act: bool = True
    """False where the agent reads and analyses but never touches a device."""

    @property
    def signature(self) -> str:
        """The agent as others speak of it."""
        return f"{self.id} ({self.nickname})"


SPECIALISTS = {
    Platform.WEB: Role(
        id="qa-web-manager", nickname="Sherlock", platforms=frozenset({Platform.WEB})
    ),
    Platform.MOBILE: Role(
        id="qa-mobile-manager", nickname="Scout", platforms=frozenset({Platform.MOBILE})
    ),
    Platform.STB: Role(
        id="qa-stb-manager", nickname="Watcher", platforms=frozenset({Platform.STB})
    ),
}

ROLES = {
    role.id: role
    for role in (
        *SPECIALISTS.values(),
        Role(
            id="monitoring-manager",
            nickname="Guardian",
            platforms=frozenset(Platform),
            intents=WATCHING,
            may_act=False,
        ),
        Role(id="ai-assistant", nickname="Atlas", platforms=frozenset(Platform), may_act=False),
    )
}
