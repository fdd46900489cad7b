#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compares attribution with truth: the trainer over its knobs, under trainprof, in points per part.
# grid.sh TRAINPROF DIRECTORY_OF_PROGRAMS DIRECTORY_OF_BENCH [only-rows-that-match]
# GRID_MS is the length of a run (3000), GRID_MAX the error in points that fails (100 = none),
# GRID_KEEP a directory in which the recording and the truth of each row are kept for later
# analysis.
set -u
trainprof=$1
programs=$2
bench=$3
only=${4:-}
work=$(mktemp -d "${TMPDIR:-/tmp}/grid-XXXXXX") || exit 2
throttle=
trap 'rm -rf "$work"; [ -z "$throttle" ] || rmdir "$throttle"' EXIT
milliseconds=${GRID_MS:-3000}
max=${GRID_MAX:-100}
n_rows=0
n_bad=0

measure() { # measure LABEL COMMAND...
	label=$1
	shift
	[ -z "$slow_disk" ] || label="20 MB/s: $label"
	case $label in *"$only"*) ;; *) return ;; esac
	n_rows=$((n_rows + 1))
	rm -rf "$work/run" "$work/truth.json"
	if [ -n "$slow_disk" ]; then
		# shellcheck disable=SC2016 # the inner shell expands
		set -- sh -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' "$throttle" "$@"
	fi
	if ! "$trainprof" run -q --summary none -o "$work/run" -- "$@" >"$work/out" 2>"$work/err"; then
		printf '%-34s  run failed: %s\n' "$label" "$(tail -1 "$work/err")"
		n_bad=$((n_bad + 1))
		return
	fi
	"$bench/points" --label "$label" --max "$max" "$work/run" "$work/truth.json" ||
		n_bad=$((n_bad + 1))
	[ -z "${GRID_KEEP-}" ] || keep "$GRID_KEEP/row$n_rows"
}

keep() { # keep DIRECTORY
	mkdir -p "$1" && cp -R "$work/run" "$work/truth.json" "$1" && echo "$label" >"$1/label"
}

# Every row runs without marks and has to be right with the phases of its stacks only.
row() { # row KNOBS...
	measure "$*" "$programs/trainer" --data "$work/data" --truth "$work/truth.json" \
		--steps 100000 --milliseconds "$milliseconds" "$@"
}

mlp() { # mlp THREADS STEPS-PER-SECOND OPTIONS...: about as long as a row
	threads=$1
	steps=$(($2 * milliseconds / 1000))
	shift 2
	measure "mlp $* ($threads threads)" env OMP_NUM_THREADS="$threads" "$programs/mlp" \
		-o "$work/truth.json" -n "$steps" "$@"
}

# Rows between slow_disk=yes and slow_disk= read 20 MB/s at most: control groups 1, root.
slow_disk=
make_throttle() {
	device=$(findmnt -n -o MAJ:MIN --target "$work" | tr -d ' ')
	directory=/sys/fs/cgroup/blkio/trainprof-grid-$$
	[ -n "$device" ] && mkdir "$directory" 2>/dev/null || return 1
	throttle=$directory
	echo "$device 20000000" >"$throttle/blkio.throttle.read_bps_device"
}

"$bench/points" --header
row --log-every 10
row --marks steps
row --marks phases
row --side 128
row --side 128 --workers 1
row --side 128 --workers 2 --worker-kind process
row --decode 4 --workers 2
row --sample-sleep-us 500
row --sample-sleep-us 1000 --workers 1
row --sample-sleep-us 2000 --workers 2 --worker-kind process
row --uncached 1 --padding-kb 1024 --pictures 64
row --uncached 1 --padding-kb 1024 --pictures 64 --workers 1
row --direct 1 --padding-kb 128 --pictures 64
row --map 1 --uncached 1 --padding-kb 1024 --pictures 64
if make_throttle; then
	slow_disk=yes
	row --uncached 1 --padding-kb 64 --pictures 65
	row --uncached 1 --padding-kb 64 --pictures 65 --workers 2
	row --map 1 --uncached 1 --padding-kb 64 --pictures 65 --workers 1 --worker-kind process
	slow_disk=
else
	echo "(rows on a throttled disk left out: no blkio control group here)"
fi
row --width 3
row --kernel scalar --width 2
row --embedding-mb 256 --lookups 20000
row --threads 2
row --threads 2 --barrier spin
row --threads 2 --workers 2
row --threads 2 --lock 1 --sample-sleep-us 500 --workers 2
row --threads 2 --sample-sleep-us 2000 --workers 2 --worker-kind process
row --threads 2 --barrier spin --workers 1
row --threads 6
row --threads 2 --lock 1
row --churn-mb 16
row --copy-mb 32
row --metrics 100
row --log-every 1 --log-lines 10000
row --checkpoint-every 1 --checkpoint-mb 8
row --sleep-us 5000
row --ranks 2 --payload-kb 4096
row --ranks 2 --transport tcp --payload-kb 4096
row --ranks 2 --late-us 10000
row --vary 3
row --eval-every 20
row --warmup-ms 1000
row --side 96 --churn-mb 8 --metrics 30 --sleep-us 2000
mlp 1 265
mlp 1 135 -c 5
mlp 2 107 -b -c 5
mlp 1 120 -m 16 -p 2000
mlp 1 250 -v 2000

echo "grid: $n_rows rows, $n_bad failed or above $max points"
[ "$n_bad" -eq 0 ]
