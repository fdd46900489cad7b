# SPDX-License-Identifier: Apache-2.0
"""Write a trace of torch.profiler in which ten short steps follow a second of other work."""
import json
import sys

events = [{"ph": "X", "cat": "cpu_op", "name": "aten::load", "pid": 1, "tid": 1, "ts": 0, "dur": 1000000}]
for step in range(10):
    start = 1200000 + 6000 * step
    events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 1, "tid": 1,
                   "ts": start, "dur": 5990})
    for k in range(20):
        at, link = start + 280 * k, 1000 * step + k + 1
        events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": at,
                       "dur": 5, "args": {"correlation": link}})
        events.append({"ph": "X", "cat": "kernel", "name": "ampere_sgemm_128x64_nn", "pid": 0, "tid": 7,
                       "ts": at + 10, "dur": 200, "args": {"correlation": link, "device": 0, "stream": 7}})
json.dump({"schemaVersion": 1, "traceEvents": events}, open(sys.argv[1], "w", encoding="utf-8"))
