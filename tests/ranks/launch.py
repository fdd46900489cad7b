# SPDX-License-Identifier: Apache-2.0
"""Starts the ranks of a job as torchrun does, each in a network namespace of slow_link.py.

launch.py RANKS COMMAND... The ranks meet at MASTER_PORT.
"""
import os
import subprocess
import sys

import slow_link


def start(rank, ranks, command):
    variables = dict(os.environ, RANK=str(rank), WORLD_SIZE=str(ranks), LOCAL_RANK=str(rank),
                     LOCAL_WORLD_SIZE=str(ranks), MASTER_ADDR=slow_link.address_of(0),
                     TORCHELASTIC_RUN_ID="slow-link",
                     GLOO_SOCKET_IFNAME="%s%d" % (slow_link.DEVICE, rank))
    return subprocess.Popen(["ip", "netns", "exec", slow_link.name_of(rank)] + command,
                            env=variables)


def main():
    ranks = int(sys.argv[1])
    started = [start(rank, ranks, sys.argv[2:]) for rank in range(ranks)]
    sys.exit(max(one.wait() for one in started))


main()
