"""Which interface, device or test case a request is about, or an honest word that there is none."""

import re

from arena.lab.concepts import Concept, concepts_in
from arena.lab.desk import CannotAnswer, Desk
from arena.lab.health import device_status
from arena.lab.lab import Lab
from arena.lab.names import nearest_names
from arena.lab.records import Device, Platform, Testcase, Userinterface
from arena.lab.request import Request
from arena.lab.words import stems_of

KIND_OF_CONCEPT = {
    Concept.TESTCASE: "testcase",
    Concept.INTERFACE: "userinterface",
    Concept.NODE: "node",
    Concept.DEVICE: "device",
    Concept.HOST: "host",
    Concept.SERVICE: "service",
    Concept.REQUIREMENT: "requirement",
    Concept.RESULT: "execution",
}
SHOWN = 20
"""Known names that are listed for an unknown one."""


def not_found(kind: str, name: str, known: tuple[str, ...], where: str = "the lab") -> CannotAnswer:
    """The answer for a name that nothing has: what is missing, what is near, what there is."""
    near = nearest_names(name, known)
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    shown = ", ".join(known[:SHOWN]) + (" …" if len(known) > SHOWN else "")
    return CannotAnswer(
        f"{kind} '{name}' was not found: it does not exist in {where}.{hint}"
        f" Known {kind} names ({len(known)}): {shown}."
    )


def names_of(lab: Lab, kind: str) -> tuple[str, ...]:
    """The ids of all things of one kind."""
    things = {
        "userinterface": lab.userinterfaces,
        "testcase": lab.testcases,
        "requirement": lab.requirements,
        "execution": lab.executions,
        "device": lab.machines.devices,
        "host": lab.machines.hosts,
        "service": lab.machines.services,
    }
    if kind == "node":
        nodes = (node.id for ui in lab.userinterfaces for node in ui.nodes)
        return tuple(dict.fromkeys(nodes))
    return tuple(thing.id for thing in things[kind])


def refuse_unknown(desk: Desk, request: Request, kind: str) -> None:
    """Says that a marked name does not exist; `kind` is what it is taken for without a hint."""
    for name in request.unknown:
        meant = kind_hinted(request.prompt, name) or kind
        if meant != "node":  # nodes are looked for inside of their interface
            raise not_found(meant, name, names_of(desk.lab, meant))


def kind_hinted(prompt: str, name: str) -> str | None:
    """What the words around a name say it is: `the device 'x'`, `x interface`."""
    before, _, after = prompt.partition(name)
    last = re.sub(r"\b(called|named|id|with|the|name)\b|[^\w\s-]", " ", before).split()[-2:]
    behind = stems_of(" ".join(re.sub(r"[^\w\s]", " ", after).split()[:1]))
    before_it = stems_of(" ".join(last))
    for stems in (behind, before_it, *((word,) for word in reversed(before_it))):
        for concept in sorted(concepts_in(stems)):
            if concept in KIND_OF_CONCEPT:
                return KIND_OF_CONCEPT[concept]
    return None


def choose_userinterface(desk: Desk, request: Request) -> Userinterface:
    """The interface that is named, or that the named device or node belongs to, or the first."""
    named = request.names("userinterface")
    for name in named:
        if ui := desk.lab.userinterface(name):
            return ui
    candidates = scope_of(desk, request).userinterfaces or desk.lab.userinterfaces
    for device in devices_named(desk, request):
        candidates = tuple(ui for ui in candidates if ui.id in device.interfaces) or candidates
    for node in request.names("node"):
        having = tuple(ui for ui in candidates if ui.node(node))
        if having:
            return having[0]
    return candidates[0]


def devices_named(desk: Desk, request: Request) -> tuple[Device, ...]:
    """The devices of this desk that the request names."""
    found = (desk.lab.device(name) for name in request.names("device"))
    return tuple(device for device in found if device)


def choose_device(desk: Desk, request: Request, ui: Userinterface) -> Device:
    """The named device, or the first that is online; refused where it cannot do the work."""
    for device in devices_named(desk, request):
        check_usable(desk, device, ui)
        return device
    for device in desk.lab.devices_for(ui):
        if device_status(desk.lab, device) == "online":
            return device
    raise CannotAnswer(f"Error: no device that can show userinterface {ui.id} is online.")


def check_usable(desk: Desk, device: Device, ui: Userinterface) -> None:
    """Refuses a device that is not there, is taken, or cannot show the interface."""
    status = device_status(desk.lab, device)
    others = [d.id for d in desk.lab.devices_for(ui) if device_status(desk.lab, d) == "online"]
    instead = f" Online for {ui.id}: {', '.join(others) or 'none'}."
    if ui.id not in device.interfaces:
        raise CannotAnswer(f"Error: device {device.id} cannot show userinterface {ui.id}.{instead}")
    if status != "online":
        seen = f"{device.last_seen:%Y-%m-%d %H:%M}"
        raise CannotAnswer(
            f"Error: device {device.id} is {status} (last seen {seen} UTC), so nothing was"
            f" done.{instead}"
        )


def choose_testcase(desk: Desk, request: Request) -> tuple[Testcase, bool]:
    """The test case that is meant, and whether the request really says so.

    A request that names none gets the first one of its scope; one that describes a test case that
    does not exist gets told so.
    """
    refuse_unknown(desk, request, "testcase")
    for name in request.names("testcase"):
        if case := desk.lab.testcase(name):
            return case, True
    for name in request.names("requirement"):
        requirement = desk.lab.requirement(name)
        covering = desk.lab.testcases_covering(requirement) if requirement else ()
        if covering:
            return covering[0], True
        raise CannotAnswer(f"requirement {name} is covered by no testcase: none was found.")
    described = desk.names.titled("testcase", request.stems, request.focus)
    case = desk.lab.testcase(described) if described else None
    if case:
        return case, True
    return first_of_scope(desk, request), False


def first_of_scope(desk: Desk, request: Request) -> Testcase:
    """The test case for a request that leaves the choice open; what it does say must fit."""
    wanted = set(request.names("userinterface"))
    cases = scope_of(desk, request).testcases
    cases = [case for case in cases if not wanted or case.userinterface in wanted]
    nodes = request.names("node")
    visiting = [case for case in cases if any(step.node in nodes for step in case.steps)]
    if request.rest or (nodes and not visiting) or not cases:
        described = " ".join(request.rest[:6]) or ", ".join((*nodes, *wanted))
        raise not_found("testcase", described, names_of(desk.lab, "testcase"))
    cases = visiting or cases
    return next((case for case in cases if case.priority == "high"), cases[0])


def scope_of(desk: Desk, request: Request) -> Lab:
    """The part of the desk's lab that the request speaks of: its platforms, or all."""
    named = [desk.lab.userinterface(name) for name in request.names("userinterface")]
    platforms = request.platforms & desk.role.platforms
    if not platforms:
        platforms = frozenset(ui.platform for ui in named if ui)
    return desk.lab.only(platforms) if platforms else desk.lab


def scope_name(lab: Lab) -> str:
    """The platforms of a lab in words, as in `web` or `web, mobile, stb`."""
    present = {ui.platform for ui in lab.userinterfaces}
    return ", ".join(platform for platform in Platform if platform in present)


def interface_named(desk: Desk, testcase: str) -> str | None:
    """The id of the interface that a test case walks."""
    case = desk.lab.testcase(testcase)
    return case.userinterface if case else None


def counted(number: int, thing: str) -> str:
    """A number of things: `1 step`, `3 steps`."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"
