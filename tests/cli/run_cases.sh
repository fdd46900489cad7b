#!/bin/sh
# Runs commands and compares what they say with golden files.
# run_cases.sh BUILD_DIRECTORY [-x] [PATTERN...]: those whose names fit, with -x all others; -PATTERN
# takes out of those behind it; GOLDEN=1 rewrites the golden files instead
#
# A case is CASE.sh, run by sh in an empty directory of its own with trainprof and the test programs
# in PATH. It is compared with CASE.stdout, CASE.stderr (no file: nothing may be said) and CASE.exit
# (no file: 0). Names that change are replaced first: the directory by DIR, the commit by COMMIT. A
# case that cannot run here exits with 77 and says why. Cases find their input in $CASES.
set -u
case $1 in
/*) build=$1 ;;
*) build=$PWD/$1 ;;
esac
shift
wanted=yes
if [ "${1-}" = -x ]; then
	wanted=no
	shift
fi
CASES=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/trainprof-cli-XXXXXX") || exit 2
trap 'chmod -R u+rwx "$work" 2>/dev/null; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
commit=$("$build/trainprof" version 2>/dev/null | sed -n 's/.*(\(.*\)).*/\1/p' | head -1)
n_passed=0
n_failed=0
n_skipped=0

tidy() { # tidy FILE: replace what changes from run to run
	sed -e "s|$work/dir|DIR|g" ${commit:+-e "s|($commit)|(COMMIT)|g"} "$1" >"$1.tidy" && mv "$1.tidy" "$1"
}

fits() { # fits NAME PATTERN...
	name=$1
	shift
	[ $# -gt 0 ] || return 0
	found=no
	for pattern in "$@"; do
		# shellcheck disable=SC2254 # a pattern on purpose
		case $name in
		${pattern#-})
			[ "$pattern" = "${pattern#-}" ] && found=yes
			break
			;;
		esac
	done
	[ "$found" = "$wanted" ]
}

run_case() { # run_case NAME
	mkdir "$work/dir"
	# The inner shell expands its own words. What a shell runs in the background ignores signals.
	# shellcheck disable=SC2016
	env -i --default-signal=INT,QUIT PATH="$build:$build/programs:$PATH" HOME="$work/dir" LC_ALL=C.UTF-8 TZ=UTC TERM=dumb \
		TMPDIR="$work" CASES="$CASES" BUILD="$build" ASAN_OPTIONS="${ASAN_OPTIONS-}" \
		timeout -k 5 "${CASE_SECONDS:-900}" sh -c 'cd "$1" && . "$2"' sh "$work/dir" "$CASES/$1.sh" \
		</dev/null >"$work/stdout" 2>"$work/stderr"
	echo $? >"$work/exit"
	chmod -R u+rwx "$work/dir"
	rm -rf "$work/dir"
	tidy "$work/stdout"
	tidy "$work/stderr"
}

keep() { # keep NAME: what was said becomes golden
	for part in stdout stderr exit; do
		golden=$CASES/$1.$part
		if [ -s "$work/$part" ] && [ "$part/$(cat "$work/$part")" != "exit/0" ]; then
			cp "$work/$part" "$golden"
		else
			rm -f "$golden"
		fi
	done
}

same() { # same NAME: compare with the golden files; false and a diff when they differ
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

for file in "$CASES"/*.sh; do
	name=$(basename "$file" .sh)
	[ "$name" != run_cases ] || continue
	fits "$name" "$@" || continue
	run_case "$name"
	if [ "$(cat "$work/exit")" = 77 ]; then
		n_skipped=$((n_skipped + 1))
		echo "skipped: $name: $(tail -1 "$work/stderr")"
	elif [ -n "${GOLDEN-}" ]; then
		keep "$name"
		n_passed=$((n_passed + 1))
	elif same "$name"; then
		n_passed=$((n_passed + 1))
	else
		n_failed=$((n_failed + 1))
		echo "failed: $name"
	fi
done
echo "cli: $n_passed passed, $n_failed failed, $n_skipped skipped"
[ "$n_failed" -eq 0 ]
