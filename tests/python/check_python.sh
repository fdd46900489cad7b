#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Python stacks read from outside, against every CPython installed here: Debian's, pyenv's, and
# those in PYTHONS. check_python.sh BUILD_DIRECTORY. Five series of SAMPLES=10000 at RATE_HZ=1000 of
# torture per version.
set -u
here=$(cd "$(dirname "$0")" && pwd)
probe=$(cd "$1" && pwd)/stack_probe
samples=${SAMPLES:-10000}
rate_hz=${RATE_HZ:-1000}
work=$(mktemp -d)
target=
trap '[ -n "$target" ] && kill "$target" 2>/dev/null; rm -rf "$work"' EXIT
n_passed=0
n_failed=0
n_skipped=0

pass() {
	n_passed=$((n_passed + 1))
	echo "$1"
}

fail() {
	n_failed=$((n_failed + 1))
	echo "FAILED $1"
}

pythons() {
	for python in ${PYTHONS:-} /usr/bin/python3.* "$HOME"/.pyenv/versions/3.*/bin/python3.* \
		/root/.pyenv/versions/3.*/bin/python3.*; do
		case $(basename "$python") in
		python3.[89] | python3.1[0-9]) [ -x "$python" ] && echo "$python" ;;
		esac
	done | sort -u
}

until_true() { # until_true COMMAND...: until it succeeds, at most two minutes, for busy machines
	for _ in $(seq 1200); do
		"$@" && return 0
		sleep 0.1
	done
	return 1
}

has_lines() { # has_lines NUMBER: the program has printed that many lines, or is gone
	[ "$(wc -l <"$work/out")" -ge "$1" ] || ! kill -0 "$target" 2>/dev/null
}

begin() { # begin PYTHON ARGUMENT...: until it prints something: its interpreter is up
	: >"$work/out" # output of the previous program
	"$@" >"$work/out" 2>"$work/err" &
	target=$!
	until_true has_lines 1
}

end() {
	kill "$target" 2>/dev/null
	wait "$target" 2>/dev/null
	target=
}

# Compares the program's own stacks with those that are read.
check_still() { # check_still PYTHON
	rm -f "$work/still" "$work/seen"
	begin "$1" "$here/still.py" "$work/still"
	if ! until_true test -e "$work/still"; then
		fail "$1: wrote no stacks: $(head -3 "$work/err")"
		end
		return
	fi
	for tid in $(cut -f1 "$work/still" | uniq); do
		"$probe" print "$target" "$tid" 2>&1 | sed "s/^/$tid	/"
	done >"$work/seen"
	cost=$("$probe" cost "$target" 10000 2>&1)
	end
	if cmp -s "$work/still" "$work/seen"; then
		pass "$1: $(wc -l <"$work/still") frames of $(cut -f1 "$work/still" | uniq | wc -l) threads are the program's own; a read: $cost"
	else
		fail "$1: the program says (<), was read (>):"
		diff "$work/still" "$work/seen" | head -10
	fi
}

# A stack is complete if it did not change while it was read twice, for 0.3 to 1 us. At full speed
# functions are as short as that, so no stack need be complete, unless the program loses its CPU.
# Functions of 40 us are long enough.
check_torture() { # check_torture PYTHON WORK LEAST_WHOLE [fresh]; the share of whole stacks in percent
	begin "$1" "$here/torture.py" 3600 "$2" ${4:+"$4"}
	result=$("$probe" torture "$target" "$samples" "$rate_hz" 2>&1)
	end
	line=$(echo "$result" | tail -1)
	# Without stacks there would be no wrong ones: at least the outer part of a tenth is
	# required.
	if echo "$line" | awk -v n="$samples" -v least="$3" \
		'{ exit !($1 == "read" && $2 * 100 >= least * n && ($2 + $4) * 10 >= n) }'; then
		pass "$1 torture of $2 ${4:-}: $line"
	else
		fail "$1 torture of $2 ${4:-}: $result"
	fi
	echo "$result" | grep '^impossible\|^wrongly'
	read -r n_more_told n_more_wrong <<-END
		$(echo "$line" | awk '$1 == "read" { print $2 + $4, $12 + $14 }')
	END
	n_told=$((n_told + ${n_more_told:-0}))
	n_wrong=$((n_wrong + ${n_more_wrong:-0}))
}

# At full speed, where functions last about as long as reading them, and slower. One wrong stack in
# a series does not prove a rate above one in a thousand; all series of a version together do.
check_tortures() { # check_tortures PYTHON
	n_told=0
	n_wrong=0
	check_torture "$1" 20 0
	check_torture "$1" 20 0 fresh
	check_torture "$1" 100 0
	check_torture "$1" 100 0 fresh
	check_torture "$1" 2000 80
	if [ $((n_wrong * 1000)) -le "$n_told" ]; then
		pass "$1 torture: $n_wrong of $n_told stacks are impossible or wrongly rooted"
	else
		fail "$1 torture: $n_wrong of $n_told stacks are impossible or wrongly rooted"
	fi
}

is_found() { # is_found PID TID NAME: that function is in the stack
	"$probe" print "$1" "$2" 2>&1 | cut -f2 | grep -q "\<$3\$"
}

# A program prints "pid tid name" for each expected function, as soon as it is about to enter it.
# After that each read has to find it.
check_hard() { # check_hard LINES COMMAND...
	n_wanted=$1
	shift
	begin "$@"
	until_true has_lines "$n_wanted"
	n_found=0
	other=
	while read -r pid tid name; do
		[ "$pid" = "$target" ] || other=$pid
		until_true is_found "$pid" "$tid" "$name" || break
		is_found "$pid" "$tid" "$name" && n_found=$((n_found + 1))
	done <"$work/out"
	[ -z "$other" ] || kill "$other"
	end
	if [ "$n_found" -eq "$n_wanted" ]; then
		pass "$*: $n_found found"
	else
		fail "$*: $n_found of $n_wanted found: $(cat "$work/out" "$work/err" | head -4)"
	fi
}

check_gil() { # check_gil PYTHON
	begin "$1" "$here/hard.py" gil
	result=$("$probe" gil "$target" 300 2>&1)
	end
	# One of two threads waits nearly always, and the other one holds the GIL; while it is
	# handed over both wait, the last one for the next one to take it. If all waits counted as
	# waits for the GIL, it would be two per read.
	if echo "$result" | awk '{exit !($1 == "held" && $2 > 150 && $4 > 100 && $4 < 1.9 * $6)}'; then
		pass "$1 gil: $result"
	else
		fail "$1 gil: $result"
	fi
}

# The loop is read more often than it takes turns, so each value is seen; on a busy machine, many.
# Its last round continues.
check_count() { # check_count PYTHON PROGRAM...
	begin "$@"
	result=$("$probe" count "$target" 60000 2>&1)
	end
	if echo "$result" | awk '{exit !($1 == "told" && $2 >= 100 && $4 == 0 && $6 == 299)}'; then
		pass "$1 counts in $(basename "$2"): $result"
	else
		fail "$1 counts in $(basename "$2"): $result"
	fi
}

check_end() { # check_end PYTHON
	begin "$1" "$here/hard.py" ends
	: >"$work/read"
	timeout 300 "$probe" restless "$target" 100000000 >"$work/read" 2>&1 &
	reading=$!
	until_true grep -q reading "$work/read"
	sleep 1 # reading time: some threads have ended
	kill -USR1 "$target"
	if wait "$reading"; then
		pass "$1 ends while it is read: $(tail -1 "$work/read")"
	else
		fail "$1 ends while it is read: $(tail -1 "$work/read")"
	fi
	end
}

check_embedded() { # check_embedded PYTHON
	version=$(basename "$1")
	library=$(dirname "$1")/../lib/lib$version.so.1.0
	[ -e "$library" ] || return
	check_hard 1 env PYTHONHOME="$(dirname "$1")/.." "$(dirname "$probe")/embedded" "$library" "$version"
}

for python in $(pythons); do
	check_still "$python"
	check_hard 200 "$python" "$here/hard.py" crowd
	check_hard 2 "$python" "$here/hard.py" deep
	check_hard 1 "$python" "$here/hard.py" forks
	check_hard 1 "$python" "$here/hard.py" inner
	check_gil "$python"
	check_count "$python" "$here/hard.py" counts
	check_count "$python" "$here/script.py"
	check_end "$python"
	check_embedded "$python"
	check_tortures "$python"
done
if [ $((n_passed + n_failed)) -eq 0 ]; then
	echo "skipped: no CPython 3.8 to 3.14 is here (Debian: python3)"
	n_skipped=1
fi
echo "python: $n_passed passed, $n_failed failed, $n_skipped skipped"
[ "$n_failed" -eq 0 ]
