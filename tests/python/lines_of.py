# SPDX-License-Identifier: Apache-2.0
"""Line tables as each interpreter writes and reads them, for tests/unit/stack/python/test_py_line_table.c.

One line per code object: "minor first_line table_in_hex start:line,start:line,...", line 0 = none.
Run with every version; all lines are kept in tests/data/python/lines.txt (lines_of.sh).
"""
import dis
import sys
import types

SOURCE = '''
def plain(a):
    b = a
    return b


def loop(n):
    total = 0
    for i in range(n):
        if i % 2:
            continue
        total += (
            i
            * 2
        )
    else:
        total = 1
    return total


def nested(x):
    try:
        with open(x) as f, \\
                open(x) as g:
            return [
                y for y in f
                if y
            ]
    except (ValueError,
            TypeError) as error:
        raise KeyError(
            error) from None
    finally:
        x = lambda: (
            1 +

            x)


class Thing:
    a = 1

    async def wait(self, *args,
                   key=None):
        async with self:
            await self
        async for x in self:
            yield x

    def match(self): return [1,
        2]; x = 1


def far():
''' + "\n" * 300 + '''
    return 1


def long_one():
''' + "\n".join("    x = %d; y = x" % i for i in range(400)) + '''
    while x:
''' + "\n" * 130 + '''
        x = -1
'''


def codes_in(code):
    yield code
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from codes_in(const)


def rows_of(code):
    if hasattr(code, "co_lines"):
        rows = [(start, line or 0) for start, end, line in code.co_lines() if end > start]
    else:
        rows = [(0, code.co_firstlineno)] + list(dis.findlinestarts(code))
    merged = []
    for start, line in rows:
        if merged and merged[-1][0] == start:
            merged[-1] = (start, line)
        elif not merged or merged[-1][1] != line:
            merged.append((start, line))
    return merged


def main():
    for code in codes_in(compile(SOURCE, "lines.py", "exec")):
        table = code.co_linetable if sys.version_info >= (3, 10) else code.co_lnotab
        print(sys.version_info[1], code.co_firstlineno, table.hex() or "-",
              ",".join("%d:%d" % row for row in rows_of(code)))


main()
