"""Health and status, computed from figures and the lab's thresholds."""

from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum

from arena.lab.lab import Lab
from arena.lab.records import Device, Host, Service, Threshold


class Level(IntEnum):
    """The severity of a finding; higher is worse."""

    HEALTHY = 0
    WARNING = 1
    CRITICAL = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """The result of checking one host, device or service."""

    kind: str
    name: str
    level: Level
    reasons: tuple[str, ...]
    """Every figure beyond its threshold."""


def status_of(lab: Lab, machine: Device | Host) -> str:
    """`offline` when it has not been seen for too long, otherwise `online` or its own state."""
    if age_seconds(lab, machine.last_seen) > lab.machines.limits.offline_after_seconds:
        return "offline"
    if isinstance(machine, Host) or machine.state == "ready":
        return "online"
    return machine.state


def check_device(lab: Lab, device: Device) -> Health:
    """Presence, temperature and battery of a device."""
    limits = lab.machines.limits
    if status_of(lab, device) == "offline":
        # The figures of an offline device are old; judging them would pretend to know.
        return summarised("device", device.id, (Level.CRITICAL, "offline"))
    heat = limits.temperature_celsius[device.platform]
    readings = [reading("temperature", device.temperature_celsius, heat, "°C")]
    if device.battery_percent is not None:
        readings.append(reading("battery", device.battery_percent, limits.battery_percent, "%"))
    return summarised("device", device.id, *readings)


def check_host(lab: Lab, host: Host) -> Health:
    """Presence, processor, memory and disk of a host."""
    limits = lab.machines.limits
    if status_of(lab, host) == "offline":
        return summarised("host", host.id, (Level.CRITICAL, "offline"))
    return summarised(
        "host",
        host.id,
        reading("cpu", host.cpu_percent, limits.cpu_percent, "%"),
        reading("memory", host.memory_percent, limits.memory_percent, "%"),
        reading("disk", host.disk_percent, limits.disk_percent, "%"),
    )


def check_service(lab: Lab, service: Service) -> Health:
    """Heartbeat, latency and errors of a service; twice the limit is critical."""
    silence = age_seconds(lab, service.last_heartbeat)
    allowed = lab.machines.limits.heartbeat_after_seconds
    if silence > allowed:
        reason = f"no heartbeat for {silence} s, limit {allowed} s"
        return summarised("service", service.id, (Level.CRITICAL, reason))
    latency, errors = (
        Threshold(warning=limit, critical=2 * limit)
        for limit in (service.latency_limit_ms, service.error_limit_percent)
    )
    return summarised(
        "service",
        service.id,
        reading("latency", service.latency_ms, latency, "ms"),
        reading("errors", service.error_percent, errors, "%"),
    )


def check_all(lab: Lab) -> tuple[Health, ...]:
    """Every service, host and device."""
    machines = lab.machines
    return (
        *(check_service(lab, service) for service in machines.services),
        *(check_host(lab, host) for host in machines.hosts),
        *(check_device(lab, device) for device in machines.devices),
    )


Reading = tuple[Level, str]
"""One figure, judged, with the limit it was judged by."""


def reading(name: str, value: float, threshold: Threshold, unit: str) -> Reading:
    """A figure against its threshold; where the critical value is the lower one, less is worse."""
    sign = 1 if threshold.critical > threshold.warning else -1
    crossed = [limit for limit in threshold.limits if sign * value >= sign * limit]
    return Level(len(crossed)), f"{name} {value:g} {unit}, limit {(crossed or [0])[-1]:g} {unit}"


def summarised(kind: str, name: str, *readings: Reading) -> Health:
    """As bad as the worst reading, with the reason of every bad one."""
    bad = [reading for reading in readings if reading[0] > Level.HEALTHY]
    worst = max((level for level, _ in bad), default=Level.HEALTHY)
    return Health(kind=kind, name=name, level=worst, reasons=tuple(text for _, text in bad))


def age_seconds(lab: Lab, moment: datetime) -> int:
    """How long ago this was, seen from the lab's present."""
    return int((lab.machines.as_of - moment).total_seconds())
