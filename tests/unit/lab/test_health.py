from dataclasses import replace
from datetime import timedelta

import pytest

from arena.lab.health import (
    Level,
    check_all,
    check_device,
    check_host,
    check_service,
    status_of,
)
from arena.lab.lab import Lab, open_lab
from arena.lab.records import Device, Service

LAB = open_lab()


def device(name: str) -> Device:
    return next(device for device in LAB.machines.devices if device.id == name)


def service(name: str) -> Service:
    return next(service for service in LAB.machines.services if service.id == name)


@pytest.mark.parametrize(
    ("percent", "level"),
    [
        (84, Level.HEALTHY),
        (85, Level.WARNING),  # the threshold itself is beyond it
        (94, Level.WARNING),
        (95, Level.CRITICAL),
    ],
)
def test_a_full_disk_is_judged_by_the_thresholds_of_the_lab(percent: int, level: Level) -> None:
    host = replace(LAB.machines.hosts[0], disk_percent=percent)

    assert check_host(LAB, host).level is level


@pytest.mark.parametrize(
    ("percent", "level"),
    [(21, Level.HEALTHY), (20, Level.WARNING), (6, Level.WARNING), (5, Level.CRITICAL)],
)
def test_less_battery_is_worse(percent: int, level: Level) -> None:
    assert check_device(LAB, replace(device("pixel-8"), battery_percent=percent)).level is level


def test_what_is_hot_for_a_phone_is_not_hot_for_a_set_top_box() -> None:
    phone = replace(device("pixel-8"), temperature_celsius=60)
    box = replace(device("box-4k-01"), temperature_celsius=60)

    assert check_device(LAB, phone).level is Level.CRITICAL
    assert check_device(LAB, box).level is Level.HEALTHY


def test_a_device_goes_offline_when_it_is_not_seen_for_ten_minutes() -> None:
    just_there = LAB.machines.as_of - timedelta(seconds=600)

    assert status_of(LAB, replace(device("pixel-8"), last_seen=just_there)) == "online"
    gone = just_there - timedelta(seconds=1)
    assert status_of(LAB, replace(device("pixel-8"), last_seen=gone)) == "offline"


def test_a_service_without_a_heartbeat_is_critical_however_fast_it_was() -> None:
    health = check_service(LAB, service("report-builder"))

    assert health.level is Level.CRITICAL
    assert "no heartbeat" in health.reasons[0]


def test_every_figure_beyond_its_threshold_is_a_reason() -> None:
    health = check_service(LAB, replace(service("device-hub"), latency_ms=500, error_percent=1.5))

    assert health.reasons == ("latency 500 ms, limit 400 ms", "errors 1.5 %, limit 1 %")
    assert health.level is Level.CRITICAL


def test_the_lab_has_something_healthy_something_poorly_and_something_broken() -> None:
    levels = {health.level for health in check_all(LAB)}

    assert levels == set(Level)


def test_a_check_of_all_checks_every_part_once() -> None:
    machines = LAB.machines
    names = [health.name for health in check_all(LAB)]

    assert len(names) == len(machines.services) + len(machines.hosts) + len(machines.devices)


def test_the_same_lab_a_day_later_is_offline_altogether() -> None:
    machines = replace(LAB.machines, as_of=LAB.machines.as_of + timedelta(days=1))
    later: Lab = replace(LAB, machines=machines)

    assert {health.level for health in check_all(later)} == {Level.CRITICAL}
