# SPDX-License-Identifier: Apache-2.0
"""One rank of a job with a known late rank; it times itself.

late_rank.py LATE HOW STEPS: HOW is sleep, decode, read, uneven, slower, throttle, stage, link or
none. At its end each rank writes when each step began, when it entered the exchange, and when the
step ended, in ms of the monotonic clock, into its file in the folder STEPS. Ranks exchange by MPI,
which spins; for link, and where there are more ranks than CPUs, by gloo of PyTorch, which sleeps,
at MASTER_PORT. Such ranks have less work, so that the late one is late and does not only compete
for CPUs.

throttle: the late rank moves into the control group that THROTTLE names.
"""
import os
import sys
import time
import zlib

EXTRA_MS = 18
DATA = zlib.compress(os.urandom(1 << 15) * 8)


def count_ranks():
    return int(os.environ.get("OMPI_COMM_WORLD_SIZE", os.environ.get("WORLD_SIZE", 1)))


def work_ms(ranks):
    """What each rank computes in a step."""
    return 12 if ranks <= os.cpu_count() else 8 * os.cpu_count() / ranks


def cpu_share(ranks):
    """What a throttled rank may use of a CPU, so that its work takes about EXTRA_MS longer."""
    return work_ms(ranks) / (work_ms(ranks) + EXTRA_MS)


def slowed(ms):
    """The time of both functions of a rank on a slower CPU: twice as long or more."""
    return max(2 * ms, ms + EXTRA_MS / 2)


WORK_MS = work_ms(count_ranks())


def compute(until_ms):
    until = time.thread_time() + until_ms / 1e3
    x = 0.0
    while time.thread_time() < until:
        for i in range(200):
            x += i * 1.0001
    return x


def prepare_batch(until_ms):
    until = time.thread_time() + until_ms / 1e3
    words = []
    while time.thread_time() < until:
        words = sorted(str(i) for i in range(100))
    return words


def project_vocabulary(until_ms):
    until = time.thread_time() + until_ms / 1e3
    total = 0
    while time.thread_time() < until:
        for i in range(100):
            total += i * i
    return total


def decode_images():
    until = time.thread_time() + EXTRA_MS / 1e3
    while time.thread_time() < until:
        zlib.decompress(DATA)


def read_file(path):
    until = time.perf_counter() + EXTRA_MS / 1e3
    while time.perf_counter() < until:
        with open(path, "rb", buffering=0) as file:
            while file.read(1 << 16):
                pass


def wait_for_service():
    time.sleep(EXTRA_MS / 1e3)


class Gloo:
    """The few calls of a communicator that are needed here, by PyTorch."""

    def __init__(self):
        import torch
        import torch.distributed
        torch.set_num_threads(1)
        if "OMPI_COMM_WORLD_RANK" in os.environ:
            os.environ.update(RANK=os.environ["OMPI_COMM_WORLD_RANK"],
                              WORLD_SIZE=os.environ["OMPI_COMM_WORLD_SIZE"],
                              MASTER_ADDR="127.0.0.1")
        torch.distributed.init_process_group("gloo")
        self.group, self.one = torch.distributed, torch.ones(1)

    def Get_rank(self):
        return self.group.get_rank()

    def Barrier(self):
        self.group.barrier()

    def allreduce(self, _):
        self.group.all_reduce(self.one)


def world(how):
    if how == "link" or count_ranks() > os.cpu_count():
        return Gloo()
    from mpi4py import MPI
    return MPI.COMM_WORLD


def throttle():
    with open(os.path.join(os.environ["THROTTLE"], "cgroup.procs"), "w", encoding="ascii") as file:
        file.write(str(os.getpid()))


def load_batch(how, path):
    if how == "sleep":
        wait_for_service()
    elif how == "decode":
        decode_images()
    elif how == "read":
        read_file(path)


def main():
    late, how, steps = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    comm = world(how)
    rank = comm.Get_rank()
    is_late = rank == late
    path = "/tmp/late-rank-%d" % os.getpid()
    with open(path, "wb") as file:
        file.write(os.urandom(1 << 22))
    if is_late and how == "throttle":
        throttle()
    times = []
    comm.Barrier()
    for _ in range(steps):
        begin = time.perf_counter()
        if is_late:
            load_batch(how, path)
        if how == "slower":
            prepare_batch(slowed(WORK_MS) if is_late else WORK_MS)
            compute(slowed(WORK_MS) if is_late else WORK_MS)
        elif how == "stage" and is_late:
            project_vocabulary(WORK_MS + EXTRA_MS)
        else:
            compute(WORK_MS + (EXTRA_MS if is_late and how == "uneven" else 0))
        times.append((begin, time.perf_counter()))
        comm.allreduce(1.0)
    times.append((time.perf_counter(), 0))
    os.unlink(path)
    with open(os.path.join(os.environ["STEPS"], str(rank)), "w", encoding="ascii") as file:
        for (begin, done), following in zip(times, times[1:]):
            file.write("%.3f %.3f %.3f\n" % (begin * 1e3, done * 1e3, following[0] * 1e3))


if __name__ == "__main__":
    main()
