#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Exports are accepted by their target programs, and the totals that these read equal ours.
# proof_exports.sh BUILD_DIRECTORY TRACES: PYTHON names an interpreter with perfetto, tensorboard,
# prometheus-client and opentelemetry-proto from PyPI; promtool and go are those of Debian. Missing
# programs are skipped.
set -u
build=$1
traces=$2
python=${PYTHON:-python3}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/trainprof-exports-XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
trainprof=$build/trainprof
passed=0
failed=0
skipped=0

claim() { # claim NAME COMMAND...
	name=$1
	shift
	if "$@" >"$work/log" 2>&1; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED $name"
		cat "$work/log"
	fi
}

skip() {
	skipped=$((skipped + 1))
	echo "SKIPPED $1"
}

# pprof's totals of a part, in us with two decimals: in ns it prints at most 2^31 - 1
pprof_sum() { # pprof_sum FILE PART
	for type in on_cpu off_cpu device; do
		go tool pprof -raw -sample_index=$type "$1" >/dev/null || return 1
		go tool pprof -top -nodefraction=0 -unit=us -sample_index=$type -tagfocus="part=^$2\$" "$1" 2>/dev/null |
			sed -n 's/.*accounting for \([0-9.]*\)us, .*/\1/p' | head -1
	done | awk '{ sum += $1 } END { printf "%.2f\n", sum }'
}

check_pprof() { # check_pprof FOLDER REPORT
	for part in compute communication memory dataloader host idle; do
		wanted=$("$python" -c 'import json, sys
print(sum(p["time_ns"] for p in json.load(open(sys.argv[1]))["partition"]["parts"] if p["id"] == sys.argv[2]))' "$2" $part)
		got=$(pprof_sum "$1/pprof" $part)
		echo "$part: $got us of $wanted ns"
		[ "$wanted" = 0 ] || echo "$got $wanted" | awk '{ exit !(sqrt(($1 * 1000 - $2) ^ 2) < 20) }' || return 1
	done
}

check_run() { # check_run NAME RUN
	out=$work/$1
	mkdir "$out"
	"$trainprof" report --json "$2" >"$out/report.json"
	for format in $("$trainprof" export --list | grep -v '^parquet ' | cut -d' ' -f1); do
		claim "$1: $format is written" "$trainprof" export --to="$format" -o "$out/$format" "$2"
	done
	claim "$1: read back" "$python" "$here/read_back.py" "$out/report.json" "$out"
	claim "$1: own libraries" "$python" "$here/own_tools.py" "$out/report.json" "$out"
	grep SKIPPED "$work/log"
	if command -v promtool >/dev/null; then
		claim "$1: promtool" sh -c 'promtool check metrics <"$1"' sh "$out/openmetrics"
	else
		skip 'promtool (Debian: prometheus)'
	fi
	if command -v go >/dev/null; then
		claim "$1: pprof" check_pprof "$out" "$out/report.json"
	else
		skip 'pprof (Debian: golang-go)'
	fi
}

PATH=$build/programs:$PATH
cd "$work" || exit 2 # the trainer leaves its pictures in its working directory
"$trainprof" run -q --summary=none -o "$work/run" -- trainer --data pictures --marks phases --steps 200 >/dev/null 2>&1
check_run steps "$work/run"
for file in kineto-r50-w0-s5.json.gz nsys-h100-2gpu-fsdp.sqlite param-dlrm-8ranks.tar.gz; do
	if [ -f "$traces/$file" ]; then
		"$trainprof" import -q -o "$work/of-$file" "$traces/$file" >/dev/null
		check_run "$file" "$work/of-$file"
	else
		skip "$file is not in $traces"
	fi
done
echo "exports: $passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
