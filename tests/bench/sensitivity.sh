#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Halves and doubles each threshold of analysis, runs the deterministic tests that read it, and
# writes the number of failures into the table. No test: it takes an hour.
# sensitivity.sh BUILD_DIRECTORY TRACES [NAME]: BUILD_DIRECTORY has unit, check_traces and trainprof
# with variable thresholds, and next to it check_rule_traces
set -u
sensitivity=$(cd "$1" && pwd) || exit 2
traces=$2
only=${3-}
table=src/analyze/thresholds.def
awk=tests/bench/sensitivity.awk
CK_FORK=no
CK_DEFAULT_TIMEOUT=20
CK_TIMEOUT_MULTIPLIER=1
export CK_FORK CK_DEFAULT_TIMEOUT CK_TIMEOUT_MULTIPLIER
work=$(mktemp -d "${TMPDIR:-/tmp}/sensitivity-XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# run_part PART VARIABLE=VALUE: one suite of unit tests, or traces, or rule_traces, with that
# environment.
run_part() {
	case $1 in
	traces) env "$2" timeout 60 "$sensitivity/check_traces" "$traces" ;;
	rule_traces)
		# This check sets the program's environment itself.
		printf '#!/bin/sh\n%s exec %s "$@"\n' "${2%%=*}='${2#*=}'" "$sensitivity/trainprof" >"$work/program.$$"
		chmod +x "$work/program.$$"
		timeout 300 "$sensitivity/../check_rule_traces" "$work/program.$$" rules tests/traces/rules
		;;
	*)
		env "$2" timeout 120 "$sensitivity/unit" "$1" >"$work/said.$$" 2>&1
		# A test that ends its process ends all later ones, unless each has its own process.
		grep -q '^unit: ' "$work/said.$$" || CK_FORK=yes env "$2" timeout 600 "$sensitivity/unit" "$1" >"$work/said.$$" 2>&1
		cat "$work/said.$$"
		;;
	esac
}

# The number of failures in the last line of a part's output; a part without one has failed as a
# whole.
failed() {
	sed -n 's/^[a-z ]*: [0-9]* passed, \([0-9]*\) failed.*/\1/p' | tail -1 | grep . || echo 1
}

# what_fails NAME*FACTOR: "no test reads it", "no test notices", or the number of failures.
what_fails() {
	n_tests=0
	suites=
	others=
	parts=$(sed -n "s/ ${1%\**}\$//p" "$work/reads")
	for part in $parts; do
		n=$(run_part "$part" "THRESHOLD=$1" 2>&1 | failed)
		[ "$n" -eq 0 ] && continue
		case $part in
		traces) others="$others; $n answers of public traces" ;;
		rule_traces) others="$others; $n claims of rules' traces" ;;
		*)
			n_tests=$((n_tests + n))
			suites="$suites${suites:+, }${part#analyze_} $n"
			;;
		esac
	done
	if [ -z "$parts" ]; then
		echo 'no test reads it'
	elif [ -z "$suites$others" ]; then
		echo 'no test notices'
	else
		[ "$n_tests" -eq 1 ] && what='test' || what='tests'
		said=${suites:+"$n_tests $what: $suites"}
		said=$said$others
		echo "${said#; }" | sed 's/\(^\|; \)1 answers/\11 answer/; s/\(^\|; \)1 claims/\11 claim/'
	fi
}

if [ "${SENSITIVITY_READS-}" ]; then
	# Set by the outer instance, which runs two of these.
	cp "$SENSITIVITY_READS" "$work/reads"
	half=$(what_fails "$only*0.5")
	twice=$(what_fails "$only*2")
	printf '%s\t%s\t%s\n' "$only" "$half" "$twice"
	exit
fi

suites=$(find tests/unit/analyze -name 'test_*.c' | sed 's,.*/test_\(.*\)\.c,analyze_\1,' | sort)
n_tests=0
: >"$work/reads.all"
for part in $suites traces rule_traces; do
	n=$(run_part "$part" "THRESHOLDS_READ=$work/names" 2>&1 | sed -n 's/^[a-z ]*: \([0-9]*\) passed, 0 failed.*/\1/p')
	[ -n "$n" ] || { echo "$part fails as it is" >&2; exit 1; }
	case $part in
	traces) n_answers=$n ;;
	rule_traces) n_claims=$n ;;
	*) n_tests=$((n_tests + n)) ;;
	esac
	[ -f "$work/names" ] || continue
	sort -u "$work/names" | sed "s/^/$part /" >>"$work/reads.all"
	rm -f "$work/names"
done
printf 'MEASURED\t%s\n' "$n_tests unit tests of analysis, $n_answers answers of public traces, $n_claims claims of rules' traces." |
	tee "$work/measured"
awk -v WHAT=names -f "$awk" "$table" | grep -x "${only:-.*}" |
	SENSITIVITY_READS="$work/reads.all" xargs -n 1 -P "${JOBS:-2}" "$0" "$sensitivity" "$traces" |
	tee -a "$work/measured"
awk -v WHAT=write -f "$awk" "$work/measured" "$table" >"$work/table" && cp "$work/table" "$table"
