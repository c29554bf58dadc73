"""The negative control: the same harness and protocol, and not one wall around it."""

import os
import socket
import subprocess

from arena.sandbox.namespace.box import BOOTSTRAP, Box, Kind
from arena.sandbox.namespace.fleet import Fleet
from arena.sandbox.namespace.greetings import channel_pair
from arena.sandbox.namespace.launch import Started, find_node, find_python
from arena.sandbox.namespace.provider import NamespaceProvider


def launch_openly(box: Box) -> Started:
    (control, keeper), (orders, zygote) = (channel_pair(socket.SOCK_SEQPACKET) for _ in range(2))
    channels = (keeper.fileno(), zygote.fileno())
    configuration = os.memfd_create("configuration")
    os.write(configuration, box.configuration())
    os.lseek(configuration, 0, os.SEEK_SET)
    code = BOOTSTRAP.format(channels=channels, configuration=configuration)
    process = subprocess.Popen(
        [box.python, "-s", "-S", "-B", "-c", code],
        pass_fds=[*channels, configuration],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        cwd="/",
        process_group=0,
    )
    keeper.close()
    zygote.close()
    os.close(configuration)
    return Started(process=process, control=control, orders=orders)


class OpenProvider(NamespaceProvider):
    """Only for harmless attacks, to show that their tests can fail."""

    def box(self, kind: Kind) -> Box:
        return Box(kind=kind, limits=self.limits, python=find_python(), node=find_node(), bare=True)

    def _fleet(self, kind: Kind) -> Fleet:
        fleet = super()._fleet(kind)
        fleet.launch = launch_openly
        return fleet
