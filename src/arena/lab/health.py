"""Is it well? Figures against the lab's thresholds; no status is stored anywhere."""

from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum

from arena.lab.lab import Lab
from arena.lab.records import Device, Host, Service, Threshold


class Level(IntEnum):
    """How well something is; the higher, the worse."""

    HEALTHY = 0
    WARNING = 1
    CRITICAL = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """What a check found out about one part of the lab."""

    kind: str
    name: str
    level: Level
    reasons: tuple[str, ...]
    """Every figure that is beyond its threshold, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One figure, judged."""

    level: Level
    reason: str


def device_status(lab: Lab, device: Device) -> str:
    """`offline` when it was not seen for too long, otherwise what its users say of it."""
    if age_seconds(lab, device.last_seen) > lab.machines.limits.offline_after_seconds:
        return "offline"
    return {"ready": "online"}.get(device.state, device.state)


def host_status(lab: Lab, host: Host) -> str:
    """`online`, or `offline` when it was not seen for too long."""
    gone = age_seconds(lab, host.last_seen) > lab.machines.limits.offline_after_seconds
    return "offline" if gone else "online"


def check_device(lab: Lab, device: Device) -> Health:
    """Presence, battery and temperature of a device."""
    limits = lab.machines.limits
    if device_status(lab, device) == "offline":
        # The figures of a device that is gone are old; judging them would pretend to know.
        return summed_up("device", device.id, [Reading(level=Level.CRITICAL, reason="offline")])
    heat = limits.temperature_celsius[device.platform]
    readings = [above("temperature", device.temperature_celsius, heat, "°C")]
    if device.battery_percent is not None:
        readings.append(below("battery", device.battery_percent, limits.battery_percent, "%"))
    return summed_up("device", device.id, readings)


def check_host(lab: Lab, host: Host) -> Health:
    """Presence, processor, memory and disk of a host."""
    limits = lab.machines.limits
    if host_status(lab, host) == "offline":
        return summed_up("host", host.id, [Reading(level=Level.CRITICAL, reason="offline")])
    return summed_up(
        "host",
        host.id,
        [
            above("cpu", host.cpu_percent, limits.cpu_percent, "%"),
            above("memory", host.memory_percent, limits.memory_percent, "%"),
            above("disk", host.disk_percent, limits.disk_percent, "%"),
        ],
    )


def check_service(lab: Lab, service: Service) -> Health:
    """Heartbeat, latency and errors of a service; twice the limit is critical."""
    silence = age_seconds(lab, service.last_heartbeat)
    allowed = lab.machines.limits.heartbeat_after_seconds
    if silence > allowed:
        reason = f"no heartbeat for {silence} s, limit {allowed} s"
        return summed_up("service", service.id, [Reading(level=Level.CRITICAL, reason=reason)])
    latency, errors = service.latency_limit_ms, service.error_limit_percent
    return summed_up(
        "service",
        service.id,
        [
            above("latency", service.latency_ms, twofold(latency), "ms"),
            above("errors", service.error_percent, twofold(errors), "%"),
        ],
    )


def check_all(lab: Lab) -> tuple[Health, ...]:
    """Every service, host and device."""
    machines = lab.machines
    return (
        *(check_service(lab, service) for service in machines.services),
        *(check_host(lab, host) for host in machines.hosts),
        *(check_device(lab, device) for device in machines.devices),
    )


def above(name: str, value: float, threshold: Threshold, unit: str) -> Reading:
    """A figure that must stay below its threshold."""
    level = Level((value >= threshold.warning) + (value >= threshold.critical))
    return Reading(level=level, reason=beyond(name, value, crossed(level, threshold), unit))


def below(name: str, value: float, threshold: Threshold, unit: str) -> Reading:
    """A figure that must stay above its threshold."""
    level = Level((value <= threshold.warning) + (value <= threshold.critical))
    return Reading(level=level, reason=beyond(name, value, crossed(level, threshold), unit))


def crossed(level: Level, threshold: Threshold) -> float:
    """The limit that a figure of this level is beyond."""
    return threshold.critical if level is Level.CRITICAL else threshold.warning


def beyond(name: str, value: float, limit: float, unit: str) -> str:
    """A figure and its limit in words."""
    return f"{name} {value:g} {unit}, limit {limit:g} {unit}"


def twofold(limit: float) -> Threshold:
    """The threshold of a figure that has one limit only."""
    return Threshold(warning=limit, critical=2 * limit)


def summed_up(kind: str, name: str, readings: list[Reading]) -> Health:
    """As bad as the worst reading, with the reason of every bad one."""
    bad = [reading for reading in readings if reading.level > Level.HEALTHY]
    worst = max((reading.level for reading in bad), default=Level.HEALTHY)
    return Health(kind=kind, name=name, level=worst, reasons=tuple(r.reason for r in bad))


def age_seconds(lab: Lab, moment: datetime) -> int:
    """How long ago this was, seen from the lab's present."""
    return int((lab.machines.as_of - moment).total_seconds())
