# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# If the kernel refuses access to the program's memory (as Yama does), or perf events, the rest is
# measured, and the remedy is printed first.
. "$CASES/run.inc"
command -v python3 >/dev/null || { echo "python3 is missing" >&2; exit 77; }
refuse vmread EPERM true || exit 77
sh -c 'while :; do :; done' &
pid=$!
for call in vmread perf; do
	refuse $call EPERM "$BUILD/trainprof" attach -d 500ms --summary=none -o $call $pid 2>&1 |
		sed "s/run as root\|run with CAP_SYS_PTRACE\|start the container with CAP_SYS_PTRACE\|start it where perf_event_open is allowed.*\|[A-Z][a-z]*: .*cap.*PERFMON.*/PROPOSAL/; s/this container forbids\|something here forbids/it forbids/"
	trainprof report $call --json | python3 -c 'import json, sys
for source in json.load(sys.stdin)["collection"]["sources"]:
    if source["id"] in ("perf", "proc", "marks"):
        print(source["id"], source["state"])'
done
kill $pid
