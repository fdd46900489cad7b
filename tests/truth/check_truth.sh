#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The printed pages of recorded runs agree with the facts in their own JSON: imported traces and the
# published cases and healthy runs of tests/cases. check_truth.sh TRAINPROF TRACES
set -u
trainprof=$1
traces=$2
here=$(dirname "$0")
command -v python3 >/dev/null || {
	echo 'truth: 0 passed, 0 failed, 1 skipped'
	exit 0
}
work=$(mktemp -d "${TMPDIR:-/tmp}/truth-XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
status=0
fail() {
	echo "failed: $1"
	status=1
}
python3 "$here/made_trace.py" "$work/made.json"
"$trainprof" version -v | grep -q SQLite && databases=yes || databases=no
for trace in "$work/made.json" "$traces"/*.gz "$traces"/*.sqlite; do
	[ -e "$trace" ] || continue
	case $databases$trace in
	no*.sqlite)
		echo "skipped: $trace: trainprof was built without SQLite"
		continue
		;;
	esac
	name=$(basename "$trace")
	"$trainprof" import -q -o "$work/${name%%.*}" "$trace" >/dev/null || fail "$name: not imported"
done
"$trainprof" report "$work/made" | grep -q 'judged 60.0 ms of 1.26 s' ||
	fail 'made: what of the trace was judged is not on the page'
# Captures that show less than steady training.
python3 "$here/made_captures.py" "$work/captures.traces"
for job in "$work"/captures.traces/*; do
	name=$(basename "$job")
	"$trainprof" import -q -o "$work/$name" "$job"/*.json >/dev/null || fail "$name: not imported"
done
rm -rf "$work/captures.traces"
python3 "$here/capture_pages.py" "$trainprof" "$work" >"$work/said" || { status=1; cat "$work/said"; }
rm "$work/said"
# One job in the format of each maker: sums are those of the job, to the nanosecond.
python3 "$here/made_makers.py" "$trainprof" "$work/makers" >"$work/said" || status=1
grep -v ' 0 failed, ' "$work/said"
rm "$work/said"
mv "$work"/makers/*-communicates "$work"
rm -rf "$work/makers"
# Jobs in pipeline stages: the cause is named, and its gain encloses what the cure gains.
pipeline() {
	job=$1
	words=$2
	shift 2
	gain=$(python3 "$here/made_pipeline.py" "$work/$job.traces" "$@")
	"$trainprof" import -q -o "$work/$job" "$work/$job.traces"/*.json >/dev/null || fail "$job: not imported"
	rm -rf "$work/$job.traces"
	python3 "$here/pipeline_gain.py" "$trainprof" "$work/$job" "$words" "$gain" || status=1
}
pipeline pipeline-even ''
pipeline pipeline-rank 'Rank 5 computes 1.8 times as long as its 1 peer' slow_rank=5:1.8
pipeline pipeline-first 'Rank 0 computes 2.4 times as long as its 3 peers' slow_rank=0:2.36 replicas=4 batches=16
pipeline pipeline-replicas 'Rank 3 computes 1.5 times as long as its 7 peers' stages=1 replicas=8 slow_rank=3:1.5
pipeline pipeline-last 'Stage 3 of 0 to 3 computes 1.6 times' slow_stage=3:1.6
pipeline pipeline-alone 'Stage 0 of 0 to 3 computes 1.4 times' slow_stage=0:1.4 replicas=1
pipeline pipeline-uneven 'for a different rank each time' uneven=0.5 replicas=4
# shellcheck disable=SC2046 # names without spaces
set -- $(find "$work" -mindepth 1 -maxdepth 1 -type d | sort)
python3 "$here/truth.py" "$trainprof" "$here/../../rules" "$@" "$here"/../cases/*.json || status=1
exit "$status"
