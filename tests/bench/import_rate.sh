#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Measures the speed of imports, from the file to the printed verdict, and their memory.
# import_rate.sh TRAINPROF DIRECTORY_OF_BENCH [MEGABYTES]
# A public trace is repeated to MEGABYTES (1000) of JSON, plain, compressed, and split into eight
# ranks.
set -u
trainprof=$1
bench=$2
megabytes=${3:-1000}
traces=${TRACES:-../shared/traces}
work=$(mktemp -d "${TMPDIR:-/tmp}/import-XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT

"$bench/partition_speed" 6
if [ -x "$bench/nsys_speed" ]; then
	"$bench/nsys_speed" "$work/export.sqlite" 1
	rm -f "$work/export.sqlite"
	"$bench/nsys_speed" "$work/export.sqlite" 2 samples
	rm -f "$work/export.sqlite"
fi
if [ ! -e "$traces/kineto-r50-w0-s5.json.gz" ]; then
	echo "(no public traces in '$traces')"
	exit 0
fi

# Plain, compressed and as eight ranks it needs three times as much disk.
free=$(df -Pm "$work" | awk 'NR == 2 { print $4 }')
if [ "$((megabytes * 3))" -gt "$free" ]; then
	megabytes=$((free / 4 / 8 * 8))
	echo "(only $free MB of disk are free: $megabytes MB of JSON)"
	[ "$megabytes" -ge 80 ] || exit 0
fi

# One line: name, MB of JSON per second of wall and of CPU time, largest resident set; three runs.
import() { # import WHAT FILE...
	what=$1
	shift
	"$bench/paired" 3 "import=rm -rf $work/run; exec $trainprof import -q -o $work/run $*" |
		awk -v what="$what" -v mb="$megabytes" '
			$1 != "import" { next }
			$2 == "wall" { wall = $4 }
			$2 == "CPU" { cpu = $4 }
			$2 == "RSS" { rss = $4 }
			END { printf "%-28s wall %.2f s  %.0f MB/s   CPU %.2f s  %.0f MB/s   RSS %.0f MiB\n",
				what, wall, mb / wall, cpu, mb / cpu, rss }'
}

gzip -dc "$traces/kineto-r50-w0-s5.json.gz" >"$work/one.json" || exit 2
"$bench/import_speed" --make "$work/one.json" "$work/big.json" "$megabytes" || exit 2
gzip -1 -k "$work/big.json"
import "one file" "$work/big.json"
trainprof="taskset -c 0 $trainprof"
import "one file on one CPU" "$work/big.json"
trainprof=$1
import "one file, .gz" "$work/big.json.gz"
for rank in 0 1 2 3 4 5 6 7; do
	"$bench/import_speed" --make "$work/one.json" "$work/rank$rank.json" $((megabytes / 8)) ||
		exit 2
done
import "eight ranks" "$work/rank?.json"
