#!/bin/sh
# How fast a gigabyte of each public trace is imported: plain and packed, counted and recorded, on all
# CPUs and on one. import_speed.sh DIRECTORY_OF_BENCH [MEGABYTES]
set -u
bin=$1
megabytes=${2:-1000}
traces=${TRAINPROF_SHARED:-../shared}/traces
work=$(mktemp -d "${TMPDIR:-/tmp}/import-speed-XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT

[ -d "$traces" ] || { echo "no public traces in $traces"; exit 1; }
for trace in kineto-r50-w0-s5 hta-trace-diff-control tl-h100-qwen tl-mi300-resnet-act-ckpt; do
	"$bin/import_speed" --make "$traces/$trace.json.gz" "$work/trace.json" "$megabytes" || exit 1
	real=$(($(wc -c <"$work/trace.json") / 1000000))
	gzip -c "$work/trace.json" >"$work/trace.json.gz"
	echo "$trace"
	for file in trace.json trace.json.gz; do
		for cpus in all 0; do
			echo "  $file, CPU $cpus"
			on=
			[ "$cpus" = all ] || on="taskset -c $cpus"
			# shellcheck disable=SC2086 # words of a command
			$on "$bin/import_speed" "$real" "$work/$file"
			# shellcheck disable=SC2086
			$on "$bin/import_speed" --into "$work/recording" "$real" "$work/$file"
			rm -rf "$work/recording"
		done
	done
done
