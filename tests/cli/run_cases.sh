#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs commands and compares their output with golden files.
# run_cases.sh BUILD_DIRECTORY [--proofs] [--times] [--jobs=N] [PATTERN...]: cases that match, or
# all. Those listed in proofs.txt measure running programs: only --proofs runs them, and no others
# then. --times prints the seconds of each case; --jobs runs N in parallel (1). GOLDEN=1 rewrites
# the golden files instead.
#
# A case is CASE.sh, run by sh in a new empty directory with trainprof and the test programs in
# PATH. It is compared with CASE.stdout, CASE.stderr (no file: no output allowed) and CASE.exit (no
# file: 0). Changing names are replaced first: the directory by DIR, the commit by COMMIT. A case
# that cannot run here exits with 77 and prints why. Cases find their input in $CASES.
set -u
case $1 in
/*) build=$1 ;;
*) build=$PWD/$1 ;;
esac
shift
proofs=no
times=no
jobs=1
while :; do
	case ${1-} in
	--proofs) proofs=yes ;;
	--times) times=yes ;;
	--jobs=*) jobs=${1#--jobs=} ;;
	*) break ;;
	esac
	shift
done
CASES=$(cd "$(dirname "$0")" && pwd)
top=$(mktemp -d "${TMPDIR:-/tmp}/trainprof-cli-XXXXXX") || exit 2
trap 'chmod -R u+rwx "$top" 2>/dev/null; rm -rf "$top"' EXIT
trap 'exit 130' INT TERM
commit=$("$build/trainprof" version 2>/dev/null | sed -n 's/.*(\(.*\)).*/\1/p' | head -1)

tidy() { # tidy FILE: replaces the parts that change from run to run
	sed -e "s|$work/dir|DIR|g" ${commit:+-e "s|($commit)|(COMMIT)|g"} "$1" >"$1.tidy" && mv "$1.tidy" "$1"
}

fits() { # fits NAME PATTERN...
	name=$1
	shift
	[ $# -gt 0 ] || return 0
	for pattern in "$@"; do
		# shellcheck disable=SC2254 # a pattern on purpose
		case $name in
		$pattern) return 0 ;;
		esac
	done
	return 1
}

is_wanted() { # is_wanted NAME PATTERN...
	[ "$1" != run_cases ] || return 1
	is_proof=no
	grep -qx "$1" "$CASES/proofs.txt" && is_proof=yes
	# A case that is requested by its full name always runs.
	[ "$is_proof" = "$proofs" ] || [ "$*" = "$1 $1" ] || return 1
	fits "$@"
}

run_case() { # run_case NAME
	mkdir "$work/dir"
	# The inner shell expands its own words. A shell's background jobs ignore signals.
	# shellcheck disable=SC2016
	env -i --default-signal=INT,QUIT PATH="$build:$build/programs:$PATH" HOME="$work/dir" LC_ALL=C.UTF-8 TZ=UTC TERM=dumb \
		XDG_CONFIG_HOME="$top/config" TMPDIR="$work" CASES="$CASES" BUILD="$build" ASAN_OPTIONS="${ASAN_OPTIONS-}" \
		timeout -k 5 "${CASE_SECONDS:-900}" sh -c 'cd "$1" && . "$2"' sh "$work/dir" "$CASES/$1.sh" \
		</dev/null >"$work/stdout" 2>"$work/stderr"
	echo $? >"$work/exit"
	chmod -R u+rwx "$work/dir"
	rm -rf "$work/dir"
	tidy "$work/stdout"
	tidy "$work/stderr"
}

keep() { # keep NAME: its output becomes golden
	for part in stdout stderr exit; do
		golden=$CASES/$1.$part
		if [ -s "$work/$part" ] && [ "$part/$(cat "$work/$part")" != "exit/0" ]; then
			cp "$work/$part" "$golden"
		else
			rm -f "$golden"
		fi
	done
}

same() { # same NAME: compares with the golden files; false and a diff if they differ
	good=0
	for part in stdout stderr exit; do
		golden=$CASES/$1.$part
		if [ ! -e "$golden" ]; then
			golden=$work/default
			case $part in
			exit) echo 0 >"$golden" ;;
			*) : >"$golden" ;;
			esac
		fi
		diff -u --label "$1.$part" "$golden" --label "$1.$part as said" "$work/$part" || good=1
	done
	return $good
}

# judge NAME: runs it; writes a line with its result into $work/outcomes
judge() {
	began=$(date +%s%N)
	run_case "$1"
	[ "$times" = no ] || echo "$((($(date +%s%N) - began) / 1000000)) ms  $1"
	if [ "$(cat "$work/exit")" = 77 ]; then
		echo "skipped: $1: $(tail -1 "$work/stderr")"
		echo skipped >>"$work/outcomes"
	elif [ -n "${GOLDEN-}" ]; then
		keep "$1"
		echo passed >>"$work/outcomes"
	elif same "$1"; then
		echo passed >>"$work/outcomes"
	else
		echo "failed: $1"
		echo failed >>"$work/outcomes"
	fi
}

# work_off N PATTERN...: runs cases that no other job has begun, until there are none
work_off() {
	work=$top/$1
	shift
	mkdir "$work"
	: >"$work/outcomes"
	for file in "$CASES"/*.sh; do
		case_name=$(basename "$file" .sh)
		is_wanted "$case_name" "$@" && mkdir "$top/begun.$case_name" 2>/dev/null && judge "$case_name"
	done
}

count() { # count OUTCOME
	cat "$top"/*/outcomes | grep -c "^$1\$"
}

# On a busy machine a report may take longer than the 10 s that a run waits for it.
mkdir -p "$top/config/trainprof"
echo '{"run": {"grace": "600s"}, "attach": {"grace": "600s"}}' >"$top/config/trainprof/config.json"
job=1
while [ "$job" -le "$jobs" ]; do
	work_off "$job" "$@" >"$top/said.$job" 2>&1 &
	job=$((job + 1))
done
wait
cat "$top"/said.*
n_failed=$(count failed)
echo "cli: $(count passed) passed, $n_failed failed, $(count skipped) skipped"
[ "$n_failed" -eq 0 ]
