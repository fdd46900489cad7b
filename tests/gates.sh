#!/bin/sh
# Runs make targets one after the other, goes on after a failure, and sums up what they counted.
# gates.sh [--build TARGET] [--aside 'TARGET...']... [VARIABLE=VALUE...] TARGET...
# Those aside run meanwhile, behind everybody else, and are printed at the end; what is built first has
# to be all that they need, because two makes at once must not build.
# A target tells "name: N passed, N failed, N skipped"; one that tells nothing counts as one. Seconds
# are told behind each, for whoever wants all of it shorter.
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
	began=$(date +%s)
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
	echo "   $(($(date +%s) - began)) s"
}

if [ "$1" = --build ]; then
	# shellcheck disable=SC2086
	"${MAKE:-make}" -s --no-print-directory $variables "$2" || exit 1
	shift 2
fi
n_aside=0
while [ "$1" = --aside ]; do
	n_aside=$((n_aside + 1))
	# shellcheck disable=SC2086 # a list of words
	nice -n 19 "$0" $2 >"$work/aside.$n_aside" 2>&1 &
	echo "$2" >"$work/targets.$n_aside"
	shift 2
done
for word in "$@"; do
	case $word in
	*=*) variables="$variables $word" ;;
	*) run "$word" ;;
	esac
done
wait
for aside in "$work"/aside.*; do
	[ -e "$aside" ] || continue
	counts=$(sed -n '$s/^\([0-9][0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p' "$aside")
	if [ -n "$counts" ]; then
		sed '$d' "$aside"
	else # killed, and who knows what it would have said
		cat "$aside"
		echo "ended early: $(cat "$work/targets.${aside##*.}")"
	fi
	echo "${counts:-0 1 0}" >>"$sums"
done
awk '{ p += $1; f += $2; s += $3 } END { printf "%d passed, %d failed, %d skipped\n", p, f, s; exit f > 0 }' "$sums"
