#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Measures imports of other makers' traces beside Kineto's JSON and nsys's database, in turn: bytes and
# events per CPU second, the largest resident set, and the whole import of a small file, which
# includes the choice of its reader.
# maker_rate.sh DIRECTORY_OF_BENCH [EVENTS [ROUNDS [BASE]]]
# BASE is the import_speed of another build: Kineto's JSON is then read by both, and its reader is the
# one that the others are compared with. The goals are those of docs/design/import.md; a row that
# misses one says "below".
set -u
bench=$1
events=${2:-600000}
rounds=${3:-5}
base=${4:-}
traces=${TRACES:-../shared/traces}
here=$(dirname "$0")
formats='xplane-gpu xplane-cpu xprof-json ascend timeline rocprof'
command -v python3 >/dev/null || {
	echo '(python3 is not installed)'
	exit 0
}
if ! python3 -c 'import sqlite3' 2>/dev/null; then
	echo "(databases are left out: Python's sqlite3 module is not installed)"
elif [ ! -x "$bench/nsys_speed" ]; then
	echo '(databases are left out: built without SQLite)'
else
	formats="$formats rocpd rpd ascend-db"
fi
[ -e "$traces/kineto-r50-w0-s5.json.gz" ] || {
	echo "(no public traces in '$traces')"
	exit 0
}
work=$(mktemp -d "${TMPDIR:-/tmp}/makers-XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
# shellcheck disable=SC2086 # names without spaces
python3 "$here/maker_files.py" "$work/large" "$events" $formats || exit 2
# shellcheck disable=SC2086
python3 "$here/maker_files.py" "$work/small" 2000 $formats || exit 2
mkdir "$work/large/kineto"
gzip -dc "$traces/kineto-r50-w0-s5.json.gz" >"$work/one.json" || exit 2
"$bench/import_speed" --make "$work/one.json" "$work/large/kineto/rank.json" $((events / 2500)) || exit 2
if [ -x "$bench/nsys_speed" ]; then
	"$bench/nsys_speed" "$work/export.sqlite" 1 >/dev/null
	mkdir "$work/large/nsys"
	mv "$work/export.sqlite" "$work/large/nsys"
fi

# Rows of a database's tables; 0 for other files.
rows_of() {
	case $1 in
	*.db | *.rpd) python3 -c '
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
names = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = \"table\"")]
print(sum(db.execute("SELECT count(*) FROM " + name).fetchone()[0] for name in names))' "$1" ;;
	*) echo 0 ;;
	esac
}
# One row of "name events kept MB CPU_s peak_MB".
measure() { # measure SIZE FORMAT [NAME PROGRAM]
	for file in "$work/$1/$2"/*; do
		kb=$(($(wc -c <"$file") / 1000))
		"${4:-$bench/import_speed}" "$kb" "$file" | awk -v format="${3:-$2}" -v kb="$kb" '
			{ for (i = 1; i <= NF; i++) if ($i == "CPU") cpu = $(i + 1); else if ($i == "peak") peak = $(i + 1) }
			{ print format, $2, $4, kb / 1000, cpu, peak }'
	done
}
round=0
while [ "$round" -lt "$rounds" ]; do
	[ -z "$base" ] || measure large kineto base "$base" >>"$work/rows"
	for format in kineto nsys $formats; do
		[ -d "$work/large/$format" ] && measure large "$format" >>"$work/rows"
	done
	round=$((round + 1))
done
for format in $formats; do
	for file in "$work/large/$format"/*; do
		echo "$format $(rows_of "$file")"
	done
done >"$work/table-rows"
for format in $formats; do
	measure small "$format"
done >"$work/small-rows"

# Medians by format. Goals: JSON 0.9 of Kineto's bytes; XSpaces 1.5 of its events and, with the 130
# bytes per event that GPUs have, 300 MB; databases as many rows as nsys; 48 bytes per kept event and
# 64 MiB of memory; 5 ms for a small file.
awk -v rounds="$rounds" '
function median(format,   n, i, j, t, a) {
	n = count[format]
	for (i = 1; i <= n; i++) a[i] = cpu[format, i]
	for (i = 2; i <= n; i++) for (j = i; j > 1 && a[j] < a[j - 1]; j--) { t = a[j]; a[j] = a[j - 1]; a[j - 1] = t }
	return n % 2 ? a[(n + 1) / 2] : (a[n / 2] + a[n / 2 + 1]) / 2
}
FILENAME ~ /table-rows$/ { rows[$1] = $2; next }
FILENAME ~ /small-rows$/ { small[$1] = $5; next }
!count[$1]++ { order[++n_formats] = $1 }
{ cpu[$1, count[$1]] = $5; events[$1] = $2; kept[$1] = $3; mb[$1] = $4; if ($6 > peak[$1]) peak[$1] = $6 }
END {
	reference = count["base"] ? "base" : "kineto"
	kineto = median(reference)
	kineto_mb = mb[reference] / kineto; kineto_events = events[reference] / kineto
	# Each row of the nsys database is an event.
	nsys = count["nsys"] ? events["nsys"] / median("nsys") : 0
	printf "CPU seconds, medians of %d runs in turn\n", rounds
	printf "%-11s %8s %6s %8s  %-21s %-20s %s\n", "format", "M events", "MB/s", "M ev/s", "of the reference", "memory MB (limit)", "small file ms"
	for (k = 1; k <= n_formats; k++) {
		f = order[k]; s = median(f)
		rate_mb = mb[f] / s; rate = events[f] / s
		is_json = f ~ /^(kineto|xprof-json|ascend|timeline|rocprof)$/; is_db = f ~ /^(rocpd|rpd|ascend-db)$/
		share = is_json ? rate_mb / kineto_mb : is_db ? (nsys ? rows[f] / s / nsys : 1) : rate / kineto_events
		goal = f == "kineto" ? 0.98 : is_json ? 0.9 : is_db ? 1 : f ~ /^xplane/ ? 1.5 : 0
		of = is_json ? "bytes" : is_db ? "nsys rows" : "events"
		limit = kept[f] * 48 / 1e6 + 67.1
		miss = share < goal || (f == "xplane-gpu" && rate_mb < 300) || peak[f] > limit || small[f] > 0.005
		printf "%-11s %8.2f %6.0f %8.2f  %4.2f of %-13s %5.0f (%.0f) %6s      %s%s\n", f, events[f] / 1e6, rate_mb, rate / 1e6, share, of,
			peak[f], limit, "", f in small ? sprintf("%.1f", small[f] * 1e3) : "", miss ? "  below" : ""
	}
}' "$work/table-rows" "$work/small-rows" "$work/rows"
