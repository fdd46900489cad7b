# SPDX-License-Identifier: Apache-2.0
"""A loop at the top of a script, like counts() of hard.py: its variables are the module's. The last of
300 rounds continues."""
import os
import sys
import time

LIMIT = 300
print(os.getpid(), flush=True)
for step in range(LIMIT):
    end = time.process_time() + 0.005
    while time.process_time() < end or step == 299:
        k = hash(sys.argv[0]) % 1000
