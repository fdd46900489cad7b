# SPDX-License-Identifier: Apache-2.0
"""A program that blocks in every kind of frame and writes down its own stacks: still.py FILE

One line per frame, "tid file name line offset", innermost first, as sys._current_frames() returns
them when all threads wait; then it waits to be killed.
"""
import asyncio
import os
import sys
import threading
import time
import traceback

gate = threading.Event()


class Layer:
    def __init__(self, depth):
        if depth == 0:
            gate.wait()
        else:
            Layer(depth - 1)

    @property
    def parameters(self):
        return [self.__class__(n) for n in (1,)]

    def __call__(self, *batch):
        return self.parameters


def generate(n):
    yield 1
    yield from inner(
        n,
    )


def inner(n):
    for i in range(n):
        yield i
        gate.wait()


async def fetch():
    await nested()


async def nested():
    await asyncio.sleep(0)
    gate.wait()


def recurse(n):
    if n == 0:
        gate.wait()
    else:
        recurse(
            n - 1
        )


def in_generator():
    total = 0
    for value in generate(3):
        total += value


def in_comprehension():
    return {key: [gate.wait() for _ in range(2)]
            for key in "ab"}


def in_lambda():
    return sorted([3, 1], key=lambda x: (
        gate.wait()))


def in_coroutine():
    loop = asyncio.new_event_loop()
    loop.run_until_complete(fetch())


def in_instance():
    Layer(2)(1)


def in_with():
    with open(os.devnull), \
            open(os.devnull):
        try:
            raise ValueError
        except ValueError:
            gate.wait()
        finally:
            pass


def in_nice_names():
    names = {}
    exec(compile("def größe_名前_𝔵():\n\n\n    gate.wait()\n", "dir\nec/tör\x01y 名.py", "exec"),
         {"gate": gate}, names)
    list(names.values())[0]()


def in_module_code():
    exec(compile("\n\nx = [\n  gate.wait()\n]\n", "made.py", "exec"), {"gate": gate})


def in_long_function():
    body = "\n".join("    x = %d" % i for i in range(700))
    names = {}
    exec(compile("def long_one():\n%s\n    gate.wait()\n" % body, "long.py", "exec"), {"gate": gate}, names)
    names["long_one"]()


def in_deep_recursion():
    recurse(250)


def name_of(code):
    return getattr(code, "co_qualname", code.co_name)


def escape(text):
    return "".join(
        {"\n": "\\n", "\t": "\\t"}.get(c, c) if c in "\n\t" else
        "\\x%02x" % ord(c) if ord(c) < 32 or 127 <= ord(c) < 160 else c for c in text)


def still_frames(tids):
    """Stacks of all threads, when all wait at the gate, which is one place."""
    while True:
        frames = sys._current_frames()
        places = {(frames[ident].f_code, frames[ident].f_lasti) for ident in tids if ident in frames}
        if len(places) == 1 and all(ident in frames for ident in tids):
            code, last = places.pop()
            if code.co_name == "wait" and code.co_filename == threading.__file__:
                return frames
        time.sleep(0.1)


def scribe(path, tids):
    time.sleep(1)
    frames = still_frames(tids)
    with open(path + ".part", "w", encoding="utf-8") as out:
        for ident, tid in tids.items():
            for frame, line in traceback.walk_stack(frames[ident]):
                code = frame.f_code
                out.write("%d\t%s\t%s\t%d\t%d\n" % (
                    tid, escape(code.co_filename), escape(name_of(code)), line, frame.f_lasti))
    os.rename(path + ".part", path)
    time.sleep(1000)


def main():
    kinds = [value for key, value in sorted(globals().items()) if key.startswith("in_")]
    tids = {threading.main_thread().ident: threading.get_native_id()}
    for kind in kinds:
        thread = threading.Thread(target=kind, daemon=True)
        thread.start()
        tids[thread.ident] = thread.native_id
    threading.Thread(target=scribe, args=(sys.argv[1], tids), daemon=True).start()
    print("ready", flush=True)
    gate.wait()


main()
