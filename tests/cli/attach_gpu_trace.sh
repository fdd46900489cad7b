# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# An agent is injected into a running program that uses CUDA's doubles: its work is reported, it
# continues.
. "$CASES/run.inc"
. "$CASES/attach_gpu.inc"

# is_told WORD SECONDS: GPU work is reported, by an agent that traces in this way
is_told() {
	# shellcheck disable=SC2154 # start() sets it
	joined --gpu-trace="$1" -d "$2s" --force -o "$1" "$pid" | plain >said
	trainprof report --full "$1" | grep -o 'work *[0-9,]* compute kernels' | sed 's|[0-9][0-9,]*|N|; s|  *| |g' >>said
	grep -q '^work N' said
}

start "$BUILD/programs/gpu_launcher" hang 2 640000 2000 60000
echo "-- without the option nothing is put into it"
grep ' ..xp ' "/proc/$pid/maps" >before
joined -o plain "$pid"
grep ' ..xp ' "/proc/$pid/maps" | diff before - && echo "mapped as before"

echo "-- with it"
longer 1 is_told continuous
cat said
grep -c 'memfd:trainprof-agent' "/proc/$pid/maps" | sed 's/[1-9][0-9]*/the library is mapped/'

echo "-- again, in windows, of which the first comes when what is usual is known"
longer 7 is_told windows
cat said
end
