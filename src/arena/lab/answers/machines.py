"""Answers about what runs in the lab: devices, hosts, services and their health."""

from collections import Counter

from arena.lab.answers.choosing import counted, devices_named, refuse_unknown, scope_of
from arena.lab.concepts import Concept
from arena.lab.desk import Answer, Desk
from arena.lab.health import (
    Health,
    Level,
    age_seconds,
    check_all,
    check_device,
    check_host,
    check_service,
    device_status,
    host_status,
)
from arena.lab.records import Device, Host
from arena.lab.request import Request

STATUS_WORDS = ("online", "offline", "busy", "maintenance")


def report_devices(desk: Desk, request: Request) -> Answer:
    """The status of the named devices, or of all; filtered by a status that the request names."""
    refuse_unknown(desk, request, "device")
    devices = devices_named(desk, request) or scope_of(desk, request).machines.devices
    statuses = {device.id: device_status(desk.lab, device) for device in devices}
    wanted = [word for word in STATUS_WORDS if word in request.prompt.casefold()]
    lines = [
        device_line(desk, device, statuses[device.id])
        for device in sorted(devices, key=lambda d: statuses[d.id] not in wanted)
    ]
    counts = Counter(statuses.values())
    figures = ", ".join(f"{counts[word]} {word}" for word in STATUS_WORDS if counts[word])
    heading = f"device status ({len(devices)}): {figures}."
    return Answer(text="\n".join([heading, *lines]), read=tuple(devices))


def device_line(desk: Desk, device: Device, status: str) -> str:
    """One device with its figures."""
    battery = "" if device.battery_percent is None else f", battery {device.battery_percent} %"
    health = check_device(desk.lab, device)
    trouble = "" if health.level is Level.HEALTHY else f"; {health.level.name.lower()}: "
    shown = "; ".join(health.reasons) if status != "offline" else "not seen for too long"
    return (
        f"- device {device.id} ({device.title}, {device.os}) on host {device.host}: status"
        f" {status}, temperature {device.temperature_celsius} °C{battery}, last seen"
        f" {ago(age_seconds(desk.lab, device.last_seen))} ago{trouble}{shown if trouble else ''}"
    )


def report_hosts(desk: Desk, request: Request) -> Answer:
    """The hosts of the lab, what they are and what hangs on them."""
    refuse_unknown(desk, request, "host")
    named = [host for host in map(desk.lab.host, request.names("host")) if host]
    hosts = tuple(named) or desk.lab.machines.hosts
    online = sum(host_status(desk.lab, host) == "online" for host in hosts)
    heading = f"host list ({len(hosts)}): {online} online, {len(hosts) - online} offline."
    lines = [host_line(desk, host) for host in hosts]
    return Answer(text="\n".join([heading, *lines]), read=hosts)


def host_line(desk: Desk, host: Host) -> str:
    """One host with its figures and what hangs on it."""
    # A host serves every platform, so that all of its devices are named, not only the desk's own.
    devices = ", ".join(device.id for device in desk.everything.devices_on(host)) or "none"
    services = ", ".join(service.id for service in desk.lab.services_on(host)) or "none"
    return (
        f"- host {host.id} ({host.title}, {host.os}) at {host.address}, {host.location}: status"
        f" {host_status(desk.lab, host)}, cpu {host.cpu_percent} %, memory {host.memory_percent} %,"
        f" disk {host.disk_percent} %; devices: {devices}; services: {services}"
    )


def check_health(desk: Desk, request: Request) -> Answer:
    """A health check of what is named, or of the kinds that are named, or of everything."""
    refuse_unknown(desk, request, "service")
    checked = named_checks(desk, request) or kind_checks(desk, request)
    ranked = sorted(checked, key=lambda health: -health.level)
    counts = Counter(health.level for health in checked)
    figures = ", ".join(f"{counts[level]} {level.name.lower()}" for level in Level)
    lines = [health_line(health) for health in ranked]
    heading = f"health check of {counted(len(checked), 'part')} of the lab: {figures}."
    machines = desk.lab.machines
    read = (*machines.services, *machines.hosts, *machines.devices)
    return Answer(text="\n".join([heading, *lines]), read=read)


def named_checks(desk: Desk, request: Request) -> tuple[Health, ...]:
    """The checks of the parts that the request names."""
    lab = desk.lab
    services = (lab.service(name) for name in request.names("service"))
    hosts = (lab.host(name) for name in request.names("host"))
    return (
        *(check_service(lab, service) for service in services if service),
        *(check_host(lab, host) for host in hosts if host),
        *(check_device(lab, device) for device in devices_named(desk, request)),
    )


def kind_checks(desk: Desk, request: Request) -> tuple[Health, ...]:
    """The checks of the kinds that the request names; of all kinds where it names none."""
    kinds = {Concept.SERVICE: "service", Concept.HOST: "host", Concept.DEVICE: "device"}
    wanted = {kind for concept, kind in kinds.items() if concept in request.concepts}
    everything = check_all(desk.lab)
    return tuple(health for health in everything if health.kind in wanted) or everything


def health_line(health: Health) -> str:
    """One verdict with its reasons."""
    reasons = f" ({'; '.join(health.reasons)})" if health.reasons else ""
    return f"- {health.kind} {health.name}: {health.level.name.lower()}{reasons}"


def ago(seconds: int) -> str:
    """An age in the unit that reads best."""
    if seconds < 120:
        return f"{seconds} s"
    if seconds < 7200:
        return f"{seconds // 60} min"
    return f"{seconds // 3600} h"
