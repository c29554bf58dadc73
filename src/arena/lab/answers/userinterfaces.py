"""Answers about interfaces: which there are, how they hang together, and walks through them."""

from arena.lab.answers.choosing import (
    choose_device,
    choose_userinterface,
    names_of,
    not_found,
    refuse_unknown,
    scope_name,
    scope_of,
)
from arena.lab.concepts import Concept
from arena.lab.desk import Answer, Desk
from arena.lab.records import Device, Userinterface
from arena.lab.request import Request
from arena.lab.roles import SPECIALISTS
from arena.lab.walking import Arrival, Journey, Move, Walker


def list_userinterfaces(desk: Desk, request: Request) -> Answer:
    """Every interface of the scope, with the size of its tree."""
    refuse_unknown(desk, request, "userinterface")
    scope = scope_of(desk, request)
    lines = [
        f"- {ui.id}: {ui.title} {ui.version}, platform {ui.platform}, {len(ui.nodes)} nodes and"
        f" {len(ui.edges)} edges, entry node {ui.entry}. {ui.description}"
        for ui in scope.userinterfaces
    ]
    heading = f"userinterface list for {scope_name(scope)} ({len(lines)}):"
    return Answer(text="\n".join([heading, *lines]), read=scope.userinterfaces)


def describe_tree(desk: Desk, request: Request) -> Answer:
    """The nodes and edges of one interface."""
    refuse_unknown(desk, request, "userinterface")
    ui = choose_userinterface(desk, request)
    nodes = [
        f"- node {node.id}: {node.title}{' (entry)' if node.id == ui.entry else ''}"
        for node in ui.nodes
    ]
    edges = [f"- edge {edge.source} -> {edge.target}: {edge.how}" for edge in ui.edges]
    others = [other.id for other in desk.lab.userinterfaces if other.id != ui.id]
    text = "\n".join(
        [
            f"Navigation tree of userinterface {ui.id} ({ui.title} {ui.version}):"
            f" {len(nodes)} nodes, {len(edges)} edges.",
            *nodes,
            *edges,
            *([f"Other trees I can describe: {', '.join(others)}."] if others else []),
        ]
    )
    return Answer(text=text, read=(ui,))


def navigate(desk: Desk, request: Request) -> Answer:
    """A walk to a node on a real device of the lab, or the plan of one for those who only read."""
    refuse_unknown(desk, request, "node")
    ui = choose_userinterface(desk, request)
    goal, start = goal_and_start(desk, request, ui)
    device = choose_device(desk, request, ui)
    walker = Walker(ui=ui, device=device, limit_ms=request.limit_ms, position=start)
    if not start and Concept.CONTINUE in request.concepts:
        walker.position = resumed(desk, device, ui)
    journey = walker.navigate(goal)
    if not desk.role.may_act:
        return Answer(text=f"{handed_over(ui)}\n{foreseen(journey, device)}", read=(ui, device))
    desk.positions[device.id] = (ui.id, walker.position)
    return Answer(text=told(journey, ui, device, walker.position), read=(ui, device))


def position(desk: Desk, request: Request) -> Answer:
    """Where the devices were left."""
    if not desk.positions:
        text = "No device was moved in this session: every walk starts at the entry node."
        return Answer(text=text)
    lines = [
        f"- device {device}: userinterface {ui}, node {node}"
        for device, (ui, node) in sorted(desk.positions.items())
    ]
    return Answer(text="\n".join(["Devices that were moved in this session:", *lines]))


def goal_and_start(desk: Desk, request: Request, ui: Userinterface) -> tuple[str, str]:
    """The node to go to, and the one to start from where the request says so."""
    mentioned = sorted((m for m in request.mentions if m.kind == "node"), key=lambda m: -m.words)
    starts = [m.name for m in mentioned if request.starts_from(m) and ui.node(m.name)]
    goals = [m.name for m in mentioned if m.name not in starts]
    known = tuple(node.id for node in ui.nodes)
    if request.unknown:
        raise not_found("node", request.unknown[0], known, f"userinterface {ui.id}")
    for goal in goals:
        if ui.node(goal):
            return goal, starts[0] if starts else ""
    if goals or request.rest:
        wanted = goals[0] if goals else " ".join(request.rest[:6])
        raise not_found("node", wanted, known, f"userinterface {ui.id}")
    if len(request.names("userinterface")) or Concept.NODE not in request.concepts:
        return ui.entry, ""  # "open the web shop" asks for no more than its first screen
    raise not_found("node", "(none named)", names_of(desk.lab, "node"))


def resumed(desk: Desk, device: Device, ui: Userinterface) -> str:
    """The node the device was left at in this interface, or the entry."""
    shown, node = desk.positions.get(device.id, (ui.id, ui.entry))
    return node if shown == ui.id else ui.entry


def handed_over(ui: Userinterface) -> str:
    """Why an agent that only reads does not act, and who does."""
    return (
        f"I read and analyse, I do not act on devices: I hand this over to"
        f" {SPECIALISTS[ui.platform].signature}. Nothing was moved. By the lab's figures this is"
        f" what would happen:"
    )


def told(journey: Journey, ui: Userinterface, device: Device, position: str) -> str:
    """A journey in words."""
    where = f"userinterface {ui.id} on device {device.id}"
    lines = [f"{n}. {move_told(move)}" for n, move in enumerate(journey.moves, 1)]
    if journey.reached and not journey.moves:
        return f"Navigate to node {journey.goal}: {where} is already there; it is the entry node."
    if journey.reached:
        seconds = journey.spent_ms / 1000
        heading = f"Navigated to node {journey.goal} of {where} in {seconds:.1f} s:"
        return "\n".join([heading, *lines])
    heading = f"Could not navigate to node {journey.goal} of {where}: {why(journey)}"
    return "\n".join([heading, *lines, f"The device stays at node {position}."])


def foreseen(journey: Journey, device: Device) -> str:
    """What a journey would be like, for an agent that does not make it."""
    lines = [f"{n}. {move_told(move)}" for n, move in enumerate(journey.moves, 1)]
    end = f"it would reach node {journey.goal}." if journey.reached else why(journey)
    return "\n".join([f"Dry run for node {journey.goal} on device {device.id}: {end}", *lines])


def why(journey: Journey) -> str:
    """The reason why a journey did not reach its goal."""
    move = journey.obstacle
    if move is None:
        return f"error: no edge leads from node {journey.start} to it."
    if move.arrival is Arrival.TIMEOUT:
        return (
            f"timeout. Node {move.edge.target} does not load within {move.allowed_ms} ms, nor on"
            f" one retry; then the walk gives up."
        )
    return f"error: an element is missing and no other way leads there. {move_told(move)}."


def move_told(move: Move) -> str:
    """One move in words."""
    edge = move.edge
    step = f"{edge.source} -> {edge.target}: {edge.how}"
    if move.arrival is Arrival.MISSING:
        return f"{step}: failed, element {edge.element} is missing on node {edge.source}"
    last = move.loads_ms[-1]
    if move.arrival is Arrival.TIMEOUT:
        return f"{step}: timeout after {move.allowed_ms} ms, retry: again ({last} ms needed)"
    if len(move.loads_ms) > 1:
        return f"{step}: timeout after {move.allowed_ms} ms, retry: loaded in {last} ms"
    return f"{step}: loaded in {last} ms"
