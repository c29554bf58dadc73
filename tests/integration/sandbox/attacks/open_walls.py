"""The negative control: the same machinery without any wall, limit or rule.

Only for use in a yard (yard.py).
"""

import json
import os
import socket
import subprocess

from arena.pools.slots import Slots
from arena.sandbox.limits import Limits
from arena.sandbox.namespace.box import BOOTSTRAP, Box, Kind
from arena.sandbox.namespace.launch import (
    Started,
    channel_pair,
    find_node,
    find_python,
)
from arena.sandbox.namespace.provider import NamespaceProvider
from arena.sandbox.namespace.zygote import Fleet
from integration.sandbox.attacks.trusting import doctored
from integration.sandbox.attacks.yard import decoys

MIB = 1 << 20
NO_LIMITS = Limits(
    wall_seconds=3600.0,
    cpu_seconds=3600,
    memory_bytes=3 << 30,
    output_bytes=256 * MIB,
    result_bytes=1024 * MIB,
    workspace_file_bytes=1024 * MIB,
)


def launch_openly(box: Box) -> Started:
    (control, reaper), (orders, zygote) = (channel_pair(socket.SOCK_SEQPACKET) for _ in range(2))
    channels = (reaper.fileno(), zygote.fileno())
    configuration = os.memfd_create("configuration")
    document = doctored(json.loads(box.configuration()))
    os.write(configuration, json.dumps(document).encode())
    os.lseek(configuration, 0, os.SEEK_SET)
    code = BOOTSTRAP.format(channels=channels, configuration=configuration)
    # A pid namespace of its own, so that a signal to all processes does not reach the campaign.
    line = ["bwrap", "--unshare-pid", "--as-pid-1", "--die-with-parent", "--cap-add", "ALL"]
    process = subprocess.Popen(
        [*line, *decoys(), "--", box.python, "-s", "-S", "-B", "-c", code],
        pass_fds=[*channels, configuration],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        cwd="/desk",
        process_group=0,
    )
    reaper.close()
    zygote.close()
    os.close(configuration)
    return Started(process=process, control=control, orders=orders)


class OpenProvider(NamespaceProvider):
    """Every attack works here, as far as the kernel itself allows it."""

    def __init__(self, **more) -> None:
        super().__init__(NO_LIMITS, **more)
        self._slots = Slots(1000)

    def box(self, kind: Kind) -> Box:
        return Box(kind=kind, limits=self.limits, python=find_python(), node=find_node(), bare=True)

    def _fleet(self, kind: Kind) -> Fleet:
        fleet = super()._fleet(kind)
        fleet.launch = launch_openly
        return fleet
