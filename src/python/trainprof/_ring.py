# SPDX-License-Identifier: Apache-2.0
"""Writes records into a mark ring; include/trainprof/wire/mark_ring.h describes it.

Python has no atomic operations on shared memory. Therefore each process has its own ring next to
that of C programs. In it only the interpreter's lock decides the order, and each record has a
checksum, because the order in which the words of a record become visible to the reader is unknown.
"""

import itertools
import mmap
import operator
import os
import struct
import sys
import threading
import time
from binascii import crc32
from contextlib import suppress
from typing import Any, Iterator, List, Optional, Tuple

STEP = 1
STEP_END = 2
PHASE_BEGIN = 3
PHASE_END = 4

_MAGIC = 0x31534B52414D5054  # "TPMARKS1", read as a little-endian number
_CHECKSUMS = 1
_HEADER_BYTES = 128
_RECORD_BYTES = 64
_RECORDS = 2048  # a power of two: 128 KiB per process
_HEAD = 8  # index of the header's word `head`

_HEADER = struct.Struct("=QIIII")
# sequence, time_ns, pid, tid, kind, depth, checksum, name
_RECORD = struct.Struct("=QQIIHHI32s")
_NO_NAME = bytes(32)

# Mappings are never released: Python would close the mapping's file descriptor, whose number the
# program may have closed and reused for a file of its own.
_kept: List[Any] = []


def _keep_for_ever(thing: object) -> None:
    _kept.append(thing)
    with suppress(Exception):
        import ctypes

        ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))


def _make_file(shared: str) -> Tuple[int, str, str]:
    """Create a file next to the ring `shared`; return its descriptor, first name and final name."""
    folder, base = os.path.split(shared)
    for attempt in range(1000):
        name = "{}.{}-{}".format(base, os.getpid(), attempt)
        hidden = os.path.join(folder, "." + name)
        # A process of another PID namespace can have the same number.
        if os.path.lexists(os.path.join(folder, name)):
            continue
        with suppress(FileExistsError):
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            return os.open(hidden, flags, 0o600), hidden, os.path.join(folder, name)
    raise FileExistsError(shared)


def _map_ring(shared: str) -> memoryview:
    """Create this process's ring: complete, with blocks reserved, before it gets its final name."""
    fd, hidden, name = _make_file(shared)
    try:
        size = _HEADER_BYTES + _RECORDS * _RECORD_BYTES
        os.posix_fallocate(fd, 0, size)
        header = _HEADER.pack(_MAGIC, _HEADER_BYTES, _RECORD_BYTES, _RECORDS, _CHECKSUMS)
        os.pwrite(fd, header, 0)
        mapping = mmap.mmap(fd, size, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)
        _keep_for_ever(mapping)
        os.stat(shared)  # fails after trainprof has ended and removed it
        os.rename(hidden, name)
    except BaseException:
        with suppress(OSError):
            os.unlink(hidden)
        raise
    finally:
        os.close(fd)
    return memoryview(mapping)


def _claims(words: memoryview) -> Iterator[Tuple[int, None]]:
    """Return an iterator whose next() claims a record and publishes the new head.

    For Python this is one call, so neither another thread nor a signal handler runs between the claim
    and the store of the head: the head never runs backwards.
    """
    heads = map(
        operator.setitem, itertools.repeat(words), itertools.repeat(_HEAD), itertools.count(1)
    )
    return zip(itertools.count(), heads)


class _NoLock:
    """Used in place of a lock if the interpreter's own lock is held."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: Any) -> None:
        pass


def _lock() -> Any:
    """Return the lock that serialises threads if the interpreter has no lock of its own."""
    is_gil_enabled = getattr(sys, "_is_gil_enabled", None)
    return _NoLock() if is_gil_enabled is None or is_gil_enabled() else threading.RLock()


class _Mapped:
    """The mapped ring of one process; replaced as a whole, so that no mark sees parts of two."""

    __slots__ = ("pid", "claims", "view", "words")

    def __init__(self, pid: int, view: Optional[memoryview]) -> None:
        self.pid = pid
        self.view = view  # None = this process cannot have a ring
        if view is not None:
            self.words = view.cast("Q")
            self.claims = _claims(self.words)
            _keep_for_ever(self)


class Ring:
    """The ring of this process, created by its first mark."""

    def __init__(self, path: str) -> None:
        self._shared = os.path.abspath(path)
        self._forget()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        """Forget the parent's ring and its lock, which another thread may have held."""
        self._mapped = _Mapped(0, None)
        self._is_opening = False
        self._open_lock = threading.RLock()
        self._write_lock = _lock()

    def _open(self, pid: int) -> _Mapped:
        """Map the ring once. A signal handler that interrupts this writes no mark."""
        with self._open_lock:
            if self._mapped.pid == pid or self._is_opening:
                return self._mapped
            self._is_opening = True
            try:
                self._mapped = _Mapped(pid, _map_ring(self._shared))
            except Exception:
                self._mapped = _Mapped(pid, None)
            finally:
                self._is_opening = False
            return self._mapped

    def write(self, kind: int, depth: int, name: bytes = _NO_NAME) -> None:
        """Write one mark; drop it if it cannot be written."""
        time_ns = time.monotonic_ns()
        pid = os.getpid()
        mapped = self._mapped
        if pid != mapped.pid:
            mapped = self._open(pid)
        view = mapped.view
        if view is None or pid != mapped.pid:
            return
        tid = threading.get_native_id()
        with self._write_lock:
            claim = next(mapped.claims)[0]
            at = _HEADER_BYTES + (claim & (_RECORDS - 1)) * _RECORD_BYTES
            whole = (claim + 1) << 1
            if mapped.words[at >> 3] >= whole:
                return  # a whole ring was claimed meanwhile
            pack = _RECORD.pack
            depth &= 0xFFFF
            checksum = crc32(pack(whole, time_ns, pid, tid, kind, depth, 0, name))
            record = pack(whole, time_ns, pid, tid, kind, depth, checksum, name)
            view[at : at + _RECORD_BYTES] = record
