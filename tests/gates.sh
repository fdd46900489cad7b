#!/bin/sh
# Runs make targets one after the other, goes on after a failure, and sums up what they counted.
# gates.sh [--aside BUILD 'TARGET...'] [VARIABLE=VALUE...] TARGET...
# Those aside run meanwhile, behind everybody else, and are printed at the end; BUILD is a target that
# makes all that they need, because two makes at once must not build.
# A target tells "name: N passed, N failed, N skipped"; one that tells nothing counts as one.
set -u
variables=
case " ${MAKEFLAGS-} " in
*-j*) ;;
*) variables="-j$(nproc)" ;;
esac
work=$(mktemp -d "${TMPDIR:-/tmp}/gates-XXXXXX") || exit 2
log=$work/log
sums=$work/sums
trap 'rm -rf "$work"' EXIT

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

if [ "$1" = --aside ]; then
	# shellcheck disable=SC2086
	"${MAKE:-make}" -s --no-print-directory $variables "$2" || exit 1
	# shellcheck disable=SC2086 # a list of words
	nice -n 19 "$0" $3 >"$work/aside" 2>&1 &
	shift 3
fi
for word in "$@"; do
	case $word in
	*=*) variables="$variables $word" ;;
	*) run "$word" ;;
	esac
done
if [ -e "$work/aside" ]; then
	wait
	sed '$d' "$work/aside"
	sed -n '$s/\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p' "$work/aside" >>"$sums"
fi
awk '{ p += $1; f += $2; s += $3 } END { printf "%d passed, %d failed, %d skipped\n", p, f, s; exit f > 0 }' "$sums"
