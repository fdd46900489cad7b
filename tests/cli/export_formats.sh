# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Each format is read back by an independent reader: the parts add up to those of the report.
. "$CASES/run.inc"
. "$CASES/import_trace.inc"
command -v python3 >/dev/null || { echo 'no python3 here' >&2; exit 77; }

# read_back RUN: every format
read_back() {
	mkdir "of-$1"
	trainprof report --json "$1" >"$1.json"
	for format in $(trainprof export --list | grep -v '^parquet ' | cut -d' ' -f1); do
		trainprof export --to="$format" -o "of-$1/$format" "$1" || said $?
	done
	python3 "$CASES/../exports/read_back.py" "$1.json" "of-$1"
}
echo '== a trace of a device'
trace_of 20 4 >rank0.json
trainprof import -q -o imported rank0.json >/dev/null
read_back imported
echo '== a program with marks'
run -o marked -- trainer --data pictures --marks phases --steps 100 >/dev/null 2>&1
read_back marked
echo '== without steps, and too short'
run -o short -- true
read_back short
echo '== cut before its first thread'
cp -r marked cut
: >cut/records.tpr
read_back cut 2>&1 | grep -v '^trainprof: cut was not closed'
echo '== the same twice'
for format in $(trainprof export --list | grep -v '^parquet ' | cut -d' ' -f1); do
	trainprof export --to="$format" marked | cmp - "of-marked/$format"
done
