# SPDX-License-Identifier: Apache-2.0
"""Forty families of functions that call each other at full speed, for a reader that must never mix them.

a_k -> b_k -> generator g_k -> c_k -> d_k -> e_k, for k = 0 to 39. With "fresh" functions are created
and freed all the time. torture.py SECONDS WORK [fresh]
"""
import sys
import time

FAMILY = """
def a_{k}(n):
    return b_{k}(n)
def b_{k}(n):
    total = 0
    for value in g_{k}(n):
        total += value
    return total
def g_{k}(n):
    yield c_{k}(n)
    yield c_{k}(n) + 1
def c_{k}(n):
    return d_{k}(n) + d_{k}(n)
def d_{k}(n):
    return max(map(e_{k}, (n, n)))
def e_{k}(n):
    total = 0
    for i in range(n):
        total += i
    return total
"""


def make(k):
    names = {}
    exec(compile(FAMILY.format(k=k), "family_%d.py" % k, "exec"), names)
    return names["a_%d" % k]


def main():
    end = time.monotonic() + float(sys.argv[1])
    work = int(sys.argv[2])
    is_fresh = sys.argv[3:] == ["fresh"]
    families = [make(k) for k in range(40)]
    turn = 0
    print("ready", flush=True)
    while time.monotonic() < end:
        for _ in range(20):
            for family in families:
                family(work)
        if is_fresh:
            families[turn % 40] = make(turn % 40)
            turn += 1


main()
