# SPDX-License-Identifier: Apache-2.0
"""Reads and writes digests according to docs/digests.md, independent of the C code.

digests.py show FILE             the content of a digest or job file, as JSON
digests.py make FOLDER N STEPS   N ranks of a job in which rank N / 3 is late, one folder each
"""
import json
import os
import struct
import sys

MAGIC = b"TPDIG\r\n\x1a"
RANK_FIELDS = {1: "launcher", 2: "job", 3: "rank", 4: "ranks", 5: "attempt", 6: "host", 7: "pid",
               8: "contradiction", 9: "end", 10: "end_code", 11: "is_cut", 12: "started_ns",
               13: "ended_ns", 14: "started_wall_ns", 15: "waited_at_end_ns", 16: "label",
               17: "unreadable", 18: "n_places",
               19: "overhead_ns", 20: "n_cpus", 33: "written_by"}
FOLDED = {3, 7, 9, 10}
PLACE_FIELDS = {1: "file", 2: "function", 3: "line", 4: "label", 5: "step_ns", 6: "queue_ns"}


def make_table():
    table = []
    for i in range(256):
        for _ in range(8):
            i = i >> 1 ^ (0x82F63B78 if i & 1 else 0)
        table.append(i)
    return table


TABLE = make_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def fold(value):
    return value << 1 if value >= 0 else -value * 2 - 1


def unfold(value):
    return value >> 1 if not value & 1 else -(value + 1 >> 1)


def frame(kind, payload):
    assert len(payload) <= 2036
    head = kind + struct.pack("<I", len(payload))
    return head + struct.pack("<I", crc32c(head + payload)) + payload


def header():
    head = MAGIC + struct.pack("<HH", 1, 0)
    return head + struct.pack("<I", crc32c(head))


def field(number, value):
    if isinstance(value, str):
        value = value.encode()
    if isinstance(value, bytes):
        return varint(number << 3 | 2) + varint(len(value)) + value
    return varint(number << 3) + varint(value)


def rank_field(number, value):
    return field(number, fold(value) if number in FOLDED else value)


def rank_fields(*fields):
    return b"".join(rank_field(number, value) for number, value in fields)


def steps_payload(steps):
    """steps: (start_us, end_us, peer_us, is_judged), all in one window."""
    end, length = steps[0][0], 0
    out = varint(fold(end))
    for start_us, end_us, peer_us, is_judged in steps:
        out += varint(fold(start_us - end)) + varint(fold(end_us - start_us - length))
        out += varint(peer_us << 1 | is_judged)
        end, length = end_us, end_us - start_us
    return out


def read_varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def read_fields(data):
    at = 0
    while at < len(data):
        key, at = read_varint(data, at)
        if key & 7 == 0:
            value, at = read_varint(data, at)
        elif key & 7 == 1:
            value, at = struct.unpack_from("<d", data, at)[0], at + 8
        else:
            size, at = read_varint(data, at)
            value, at = data[at:at + size], at + size
        yield key >> 3, value


def place(data):
    return {PLACE_FIELDS[n]: v.decode() if isinstance(v, bytes) else v
            for n, v in read_fields(data)}


def read_rank(data, source):
    rank = {"source": source, "rank": 0, "labels": {}, "places": [], "steps": []}
    for number, value in read_fields(data):
        if number == 30:
            label = place(value)
            rank["labels"][label["label"]] = label["step_ns"]
        elif number == 31:
            rank["places"].append(place(value))
        elif number == 32:
            rank["last_place"] = place(value)
        elif number in RANK_FIELDS:
            rank[RANK_FIELDS[number]] = (value.decode() if isinstance(value, bytes)
                                         else unfold(value) if number in FOLDED else value)
    return rank


def read_steps(data):
    value, at = read_varint(data, 0)
    end, length, steps = unfold(value), 0, []
    while at < len(data):
        gap, at = read_varint(data, at)
        longer, at = read_varint(data, at)
        peer, at = read_varint(data, at)
        start = end + unfold(gap)
        length += unfold(longer)
        end = start + length
        steps.append([start, end, peer >> 1, peer & 1])
    return steps


def read_file(path):
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == MAGIC and data[8:10] == b"\1\0"
    assert struct.unpack_from("<I", data, 12)[0] == crc32c(data[:12])
    at, source, ranks, counts = 16, None, [], None
    while at < len(data):
        kind, size, crc = struct.unpack_from("<4sII", data, at)
        payload = data[at + 12:at + 12 + size]
        assert size <= 2036 and crc == crc32c(data[at:at + 8] + payload)
        at += 12 + size
        if kind == b"SRCE":
            source = payload[read_varint(payload, 0)[1]:].decode()
        elif kind == b"RANK":
            ranks.append(read_rank(payload, source))
        elif kind == b"ADVI":
            ranks[-1]["advice"] = [
                {("rule", "headline", "because", "low", "value", "high")[n - 1]:
                 v.decode() if isinstance(v, bytes) else v for n, v in read_fields(message)}
                for _, message in read_fields(payload)]
        elif kind == b"STEP":
            ranks[-1]["steps"] += read_steps(payload)
        elif kind == b"ENDS":
            counts = dict(zip(("sources", "ranks", "unreadable"), struct.unpack("<3Q", payload)))
    return {"ranks": ranks, "counts": counts}


def make(folder, n_ranks, n_steps):
    """Steps of 20 to 24 ms; rank n / 3 works 8 ms longer than the others, which wait for it."""
    lengths = [20000 + (k * 7919 % 4001) for k in range(n_steps)]

    def windows(is_late, variant):
        at, steps = 1000000, []
        for k, length in enumerate(lengths):
            peer = 100 if is_late else 8000 + (k * 31 + variant * 17) % 997
            steps.append((at, at + length, peer, 1))
            at += length
        frames = b""
        for first in range(0, n_steps, 150):
            frames += frame(b"STEP", steps_payload(steps[first:first + 150]))
        return frames, at * 1000

    labels = b"".join(field(30, field(4, name) + field(5, ns)) for name, ns in
                      [("compute.math", 12000000), ("communication.wait", 8000000)])
    places = b"".join(field(31, field(1, "/home/user/train/model_%d.py" % i) + field(2, "layer%d" % i)
                            + field(3, 10 * i + 1) + field(4, "compute.math") + field(5, 900000))
                      for i in range(8))
    late = field(31, field(1, "/home/user/train/data.py") + field(2, "decode") + field(3, 17)
                 + field(4, "dataloader.prep") + field(5, 8000000))
    variants = [windows(False, v) for v in range(16)]
    end = frame(b"ENDS", struct.pack("<3Q", 0, 1, 0))
    for rank in range(n_ranks):
        is_late = rank == n_ranks // 3
        steps, ended = windows(True, 0) if is_late else variants[rank % 16]
        start = 5000000000 + rank // 8 * 1000003
        payload = (rank_fields((1, "Slurm"), (2, "4711"), (3, rank), (4, n_ranks),
                               (6, "node%05d" % (rank // 8)), (7, 1000 + rank % 30000), (9, 1),
                               (12, start), (13, start + ended),
                               (14, 1700000000000000000 + rank), (16, "train"))
                   + labels + (late if is_late else b"") + places)
        path = os.path.join(folder, "rank-%d" % rank)
        os.makedirs(path)
        with open(os.path.join(path, "digest.tpd"), "wb") as file:
            file.write(header() + frame(b"RANK", payload) + steps + end)


if __name__ == "__main__":
    if sys.argv[1] == "show":
        json.dump(read_file(sys.argv[2]), sys.stdout, indent=1)
    else:
        make(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
