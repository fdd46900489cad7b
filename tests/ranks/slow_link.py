# SPDX-License-Identifier: Apache-2.0
"""Network namespaces for ranks, one of which has a slow link.

Each namespace has one TUN device with the address 10.77.0.(rank + 1). A process outside carries
packets between them, and those from and to the late rank later. It needs root and /dev/net/tun, and
no kernel module for delays (netem), which many kernels lack.
"""
import fcntl
import os
import selectors
import signal
import struct
import subprocess
import time

TUNSETIFF = 0x400454CA
IFF_TUN, IFF_NO_PI = 1, 0x1000
PREFIX = "tprank"
DEVICE = "link0"


def name_of(rank):
    return "%s%d" % (PREFIX, rank)


def address_of(rank):
    return "10.77.0.%d" % (rank + 1)


def can_run():
    return os.geteuid() == 0 and os.path.exists("/dev/net/tun") and not subprocess.call(
        ["sh", "-c", "command -v ip >/dev/null"])


def add_namespace(rank):
    """Returns the outer end of its device."""
    name = name_of(rank)
    device = "%s%d" % (DEVICE, rank)
    inside = ["ip", "-n", name]
    subprocess.call(["ip", "netns", "del", name], stderr=subprocess.DEVNULL)
    subprocess.check_call(["ip", "netns", "add", name])
    tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH", device.encode(), IFF_TUN | IFF_NO_PI))
    subprocess.check_call(["ip", "link", "set", device, "netns", name])
    subprocess.check_call(inside + ["addr", "add", address_of(rank) + "/24", "dev", device])
    subprocess.check_call(inside + ["link", "set", device, "up"])
    subprocess.check_call(inside + ["link", "set", "lo", "up"])
    return tun


def carry(tuns, late, delay_s):
    """Carries packets for ever; those on their way are in order of their arrival."""
    selector = selectors.DefaultSelector()
    for rank, tun in enumerate(tuns):
        selector.register(tun, selectors.EVENT_READ, rank)
    delayed = []
    while True:
        left = max(0, delayed[0][0] - time.monotonic()) if delayed else None
        for key, _ in selector.select(left):
            packet = os.read(key.fd, 65536)
            to = packet[19] - 1 if len(packet) > 20 and packet[0] >> 4 == 4 else -1
            if not 0 <= to < len(tuns):
                continue
            if late in (key.data, to):
                delayed.append((time.monotonic() + delay_s, to, packet))
            else:
                os.write(tuns[to], packet)
        while delayed and delayed[0][0] <= time.monotonic():
            _, to, packet = delayed.pop(0)
            os.write(tuns[to], packet)


class SlowLink:
    """with SlowLink(4, 1, 0.005): rank 1 of 4 has a link that takes 5 ms longer."""

    def __init__(self, ranks, late, delay_s):
        self.ranks, self.late, self.delay_s = ranks, late, delay_s
        self.carrier = 0

    def __enter__(self):
        tuns = [add_namespace(rank) for rank in range(self.ranks)]
        self.carrier = os.fork()
        if not self.carrier:
            try:
                carry(tuns, self.late, self.delay_s)
            finally:
                os._exit(1)
        for tun in tuns:
            os.close(tun)
        return self

    def __exit__(self, *_):
        os.kill(self.carrier, signal.SIGKILL)
        os.waitpid(self.carrier, 0)
        for rank in range(self.ranks):
            subprocess.call(["ip", "netns", "del", name_of(rank)])
