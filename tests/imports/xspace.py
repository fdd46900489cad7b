# SPDX-License-Identifier: Apache-2.0
"""Writes the messages of an XSpace (xplane.proto) as bytes."""


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value % 2**64)


def message(field, body):
    body = body.encode() if isinstance(body, str) else body
    return varint(field << 3 | 2) + varint(len(body)) + body


def stat(name, value):
    """A statistic: a text, or a number."""
    return message(4, number(1, name) + (message(5, value) if isinstance(value, str) else number(3, value)))


def event(kind, offset_ps, duration_ps, stats=b""):
    return message(4, number(1, kind) + number(2, offset_ps) + number(3, duration_ps) + stats)


def line(id_, name, timestamp_ns, events):
    return message(3, number(1, id_) + message(2, name) + number(3, timestamp_ns) + events)


def kind(key, name, stats=b""):
    """An entry of the table of events; its statistics have field 5."""
    return message(4, number(1, key) + message(2, number(1, key) + message(2, name) + stats))


def stat_name(key, name):
    return message(5, number(1, key) + message(2, number(1, key) + message(2, name)))


def plane(id_, name, *parts):
    return message(1, number(1, id_) + message(2, name) + b"".join(parts))
