"""Shapes on the wire, shared by the API and the client."""

from arena.schemas.agents import (
    Agent,
    AgentCheck,
    AgentChecked,
    AgentLimits,
    AgentList,
)
from arena.schemas.catalog import (
    AuditFinding,
    CatalogProblem,
    CatalogSource,
    CatalogState,
    Test,
    TestAudit,
    TestList,
)
from arena.schemas.wire import (
    Asked,
    Wire,
)

__all__ = [
    "Agent",
    "AgentCheck",
    "AgentChecked",
    "AgentLimits",
    "AgentList",
    "Asked",
    "AuditFinding",
    "CatalogProblem",
    "CatalogSource",
    "CatalogState",
    "Test",
    "TestAudit",
    "TestList",
    "Wire",
]
