#!/bin/sh
# Runs make targets one after the other, goes on after a failure, and sums up what they counted.
# gates.sh [VARIABLE=VALUE...] TARGET...
# A target tells "name: N passed, N failed, N skipped"; one that tells nothing counts as one.
set -u
variables=
case " ${MAKEFLAGS-} " in
*-j*) ;;
*) variables="-j$(nproc)" ;;
esac
log=$(mktemp "${TMPDIR:-/tmp}/gates-XXXXXX") || exit 2
sums=$(mktemp "${TMPDIR:-/tmp}/gates-XXXXXX") || exit 2
trap 'rm -f "$log" "$sums"' EXIT

run() { # run TARGET
	printf '== %s\n' "$1"
	# Words on purpose: no variable here holds a space.
	# shellcheck disable=SC2086
	{ "${MAKE:-make}" -s --no-print-directory $variables "$1" 2>&1; echo "status $?"; } | tee "$log" |
		grep -v '^status [0-9]*$'
	status=$(sed -n 's/^status \([0-9]*\)$/\1/p' "$log" | tail -1)
	counts=$(sed -n 's/^[^ ]*:* *\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p' "$log" | tail -1)
	if [ "$status" -ne 0 ]; then
		# shellcheck disable=SC2086 # three words
		set -- "$1" ${counts:-0 0 0}
		[ "$3" -gt 0 ] || counts="$2 1 $4"
	fi
	echo "${counts:-1 0 0}" >>"$sums"
}

for word in "$@"; do
	case $word in
	*=*) variables="$variables $word" ;;
	*) run "$word" ;;
	esac
done
awk '{ p += $1; f += $2; s += $3 } END { printf "%d passed, %d failed, %d skipped\n", p, f, s; exit f > 0 }' "$sums"
