# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Traces that are damaged, incomplete or not what they seem: each is refused with status 4 and what
# to type, or read with what was skipped counted.
command -v python3 >/dev/null || {
	echo 'python3 is not installed' >&2
	exit 77
}
python3 -c 'import sqlite3' 2>/dev/null || {
	echo "Python's sqlite3 module is not installed" >&2
	exit 77
}
trainprof version -v | grep -q SQLite || {
	echo 'built without SQLite' >&2
	exit 77
}
python3 "$CASES/../imports/bad_files.py" files
cd files || exit
for file in *; do
	case $file in
	*-journal | *-wal) continue ;;
	esac
	echo "== $file"
	trainprof import -o ../prof --force "$file" >../printed 2>&1
	status=$?
	if [ $status -eq 0 ]; then
		sed -n 3p ../printed
		trainprof report --full --width=120 ../prof | sed -n '/^Files/,/^$/ { /rank/,/^$/ s/^ *//p; }' | sed '/^$/d'
	else
		cat ../printed
		[ $status -eq 4 ] || echo "status $status"
		[ "$(grep -c '^  next: ' ../printed)" -eq 1 ] || echo 'without a line to type'
	fi
done
