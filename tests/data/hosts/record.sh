#!/bin/sh
# Records the data that trainprof reads about a machine in /proc and /sys: record.sh DIRECTORY
set -e
out=$1
if [ -z "$out" ]; then
	echo "usage: record.sh DIRECTORY" >&2
	exit 2
fi
mkdir -p "$out"
out=$(cd "$out" && pwd)

# The reader itself is in the recorded group, so /proc/self is the shell's own.
keep() {
	[ -r "$1" ] || return 0
	mkdir -p "$out/$(dirname "$1")"
	to=$out/$(echo "$1" | sed "s,^/proc/$$/,/proc/self/,")
	mkdir -p "$(dirname "$to")"
	cat "$1" > "$to" 2>/dev/null || rm -f "$to"
}

for file in cgroup mountinfo status; do keep /proc/$$/$file; done
mkdir -p "$out/proc/self/ns"
for name in pid cgroup; do
	readlink /proc/$$/ns/$name > "$out/proc/self/ns/$name"
done
for file in stat meminfo vmstat diskstats pressure/cpu pressure/memory pressure/io net/dev; do
	keep /proc/$file
done
mkdir -p "$out/proc"
# One CPU is enough: all records of the file have the same form.
sed '/^$/q' /proc/cpuinfo > "$out/proc/cpuinfo"
for name in ostype osrelease hostname perf_event_paranoid \
	perf_event_max_sample_rate yama/ptrace_scope; do
	keep /proc/sys/kernel/$name
done
keep /sys/devices/system/cpu/online
keep /sys/devices/system/node/online
for device in /sys/block/* /sys/class/net/*; do
	mkdir -p "$out$device"
	[ ! -e "$device/device" ] || : > "$out$device/device"
	: > "$out$device/.keep"
done
for pmu in /sys/bus/event_source/devices/*; do
	mkdir -p "$out$pmu"
	for file in "$pmu"/type "$pmu"/cpus "$pmu"/events/* "$pmu"/format/* "$pmu"/caps/*; do
		[ ! -f "$file" ] || keep "$file"
	done
done
find /sys/fs/cgroup/ \( -name 'cpu.stat' -o -name 'cpu.max' -o -name 'cpu.cfs_*_us' \
	-o -name 'memory.max' -o -name 'memory.limit_in_bytes' -o -name '*.pressure' \) |
	while read -r file; do keep "$file"; done
rmdir "$out/proc/$$" 2>/dev/null || :
