# SPDX-License-Identifier: Apache-2.0
"""Prints the folder of libcupti among Python's packages, in which plain programs do not search.
Prints nothing if there is none."""
import glob
import os
import sys


def main():
    for folder in sys.path:
        found = sorted(glob.glob(os.path.join(folder, "nvidia", "*", "lib", "libcupti.so.[0-9]*")))
        if found:
            print(os.path.dirname(found[-1]))
            return


main()
