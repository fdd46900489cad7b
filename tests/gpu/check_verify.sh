#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests verify.sh without a GPU: check_verify.sh FOLDER-OF-BUNDLE DOUBLES PROGRAMS
# On the doubles of CUDA every phase prints one line that the schema allows; a phase that crashes,
# hangs or prints nothing becomes a line as well; a run that is cut has reported its results so far;
# no process is left. The claimed shares are computed correctly, from a program that plants them
# without a GPU.
set -u
bundle=$(cd "$1" && pwd)
doubles=$(cd "$2" && pwd)
programs=$(cd "$3" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/check-verify-XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
export LD_LIBRARY_PATH="$doubles:$doubles/whole" VERIFY_SMALL=1 NVML_SCRIPT="$work/nvml"
printf 'devices 1\nname NVIDIA H200\nawake 50\n' >"$work/nvml"
n_passed=0
n_failed=0

# ok TEXT COMMAND...
ok() {
	text=$1
	shift
	if "$@" >"$work/said" 2>&1; then
		n_passed=$((n_passed + 1))
	else
		n_failed=$((n_failed + 1))
		echo "FAIL: $text"
		head -c 3000 "$work/said"
	fi
}

lines() { # lines RESULTS [PHASE=STATUS]...
	python3 "$bundle/check_lines.py" "$bundle/results.schema.json" "$@"
}

not() { # not COMMAND...
	! "$@"
}

status_of() { # status_of PHASE: from the results
	sed -n "s/.*\"phase\": \"$1\".*\"status\": \"\([a-z]*\)\".*/\1/p" "$work/real/results.jsonl"
}

fits() { # fits RUN: with the phases of every run, in eight minutes
	awk -v run="$1" '!/^#/ && ($2 == 0 || $2 == run) { all += $3 } END { print all " s"; exit all > 480 || !all }' \
		"$bundle/phases.txt"
}

is_whole() { # each experiment belongs to one phase
	for number in $(seq 24); do
		[ "$(grep -v '^#' "$bundle/phases.txt" | awk '{ print "," $4 "," }' | grep -c ",V$number,")" -eq 1 ] ||
			{ echo "V$number"; return 1; }
	done
}

has_figure() { # has_figure NAME: some value of it was reported
	grep -q "\"name\": \"$1\", \"value\": -*[0-9]" "$work/real/results.jsonl"
}

holds() { # holds TEXT: that was claimed, and is true
	grep -q "{\"text\": \"$1\", \"holds\": true" "$work/real/results.jsonl"
}

nobody() { # nobody MARK: no process has it among its arguments
	# A pattern that does not match its own command line.
	! grep -lzx "[${1%"${1#?}"}]${1#?}" /proc/[0-9]*/cmdline 2>/dev/null
}

few_files() { # few_files FOLDER: at most eight, each at most 16 MiB
	[ "$(find "$1" -type f | wc -l)" -le 8 ] && [ -z "$(find "$1" -type f -size +16M)" ]
}

for run in 1 2 3; do
	ok "run $run takes eight minutes at most" fits "$run"
done
ok "each experiment belongs to one phase" is_whole

# The seconds are for a machine with a GPU; here other programs may have the CPUs.
awk '!/^#/ { $3 *= 10 } { print }' "$bundle/phases.txt" >"$work/patient"
VERIFY_PHASES=$work/patient bash "$bundle/verify.sh" "$work/real" >"$work/log" 2>&1
ok "every phase tells a line that the schema allows" lines "$work/real/results.jsonl"
ok "there are as many lines as phases" \
	test "$(wc -l <"$work/real/results.jsonl")" -eq "$(grep -vc '^#' "$bundle/phases.txt")"
for phase in machine warm exits launches durations graphs capture counters ends; do
	ok "$phase works on the doubles: $(grep "\"phase\": \"$phase\"" "$work/real/results.jsonl" | head -c 600)" \
		test "$(status_of "$phase")" = "done"
done
if [ ! -e /dev/nvidiactl ]; then
	for phase in blame blamerest overhead peers; do
		ok "$phase says why it cannot be" test "$(status_of "$phase")" = skipped
	done
fi
for figure in launches_slower.all launches_slower.unsubscribe trainprof_slower.continuous pairs \
	graphs_slower.kernels alone.kernels copy_bytes_per_s told_ratio.kill kernels.names; do
	ok "$figure is told" has_figure "$figure"
done
ok "kernels that the double tells are after their calls" holds "no kernel begins before the call that launched it"
for end in return kill; do
	ok "what ran before a program ended by $end is told" holds "what it did before it ended by $end is told"
done
for end in return _exit kill segv exec; do
	ok "a program may end by $end" holds "a program that ends by $end ends as it does without trainprof"
done
ok "programs that end at random moments end as alone" \
	holds "programs that end at random moments end as without trainprof, CUPTI own"
# NVIDIA's own CUPTI, where make fetch-cupti has fetched it, starts on the driver that does nothing.
cupti=$(find build/cupti/13.3.75 -name 'libcupti.so.*' 2>/dev/null | head -1)
LD_LIBRARY_PATH="$doubles/null:$doubles/whole${cupti:+:$(realpath "${cupti%/*}" 2>/dev/null)}" VERIFY_PHASES=$work/patient \
	bash "$bundle/verify.sh" "$work/null" exits >"$work/log" 2>&1
ok "on the driver that does nothing programs end as alone" \
	grep -q '"holds": true, .*programs that end\|programs that end .*"holds": true' "$work/null/results.jsonl"
ok "little comes back" few_files "$work/real"
ok "the details are an archive" tar -tf "$work/real/details.tar"

# planted NAME ARGUMENT...: a report of gpu_script with these times
planted() {
	name=$1
	shift
	: >"$work/agent.so"
	MARKS=1 TRAINPROF_AGENT="$work/agent.so" "$bundle/trainprof" run -q --summary=none --gpu-trace=continuous -o "$work/$name" \
		-- "$programs/gpu_script" "$@" >"$work/$name.truth" && "$bundle/trainprof" report --format=json "$work/$name" >"$work/$name.json"
}

share() { # share NAME WHERE CAUSE COLUMN: as in phase_blame.py, compared with the program's own output
	PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$bundle python3 - "$@" <<'P'
import json, sys
import phase_blame
path, where, cause, column = sys.argv[1:]
report = json.load(open(path + ".json"))
share = phase_blame.SHARES[where](report, (cause,))
rows = [[float(word) for word in line.split()[1::2]] for line in open(path + ".truth")]
# For the same steps: the judged ones.
kinds = report["steps"]["each"]["kinds"]
rows = [row for row, kind in zip(rows[-len(kinds):], kinds) if kind == "steady"]
truth = sum(row[int(column)] for row in rows) / sum(row[4] - row[0] for row in rows) if column != "all" else 1
print(share, truth)
sys.exit(share is None or abs(share - truth) > 0.05)
P
}

planted loading 20 25 0.5 1 0 0.1
planted copying 20 0.5 25 1 0 0.1
ok "a planted loader has its share" share "$work/loading" lost dataloader 2
ok "and copies have theirs beside it" share "$work/loading" lost memory_copy_h2d 1
ok "planted copies have their share" share "$work/copying" lost memory_copy_h2d 1
ok "and the loader has its own beside them" share "$work/copying" lost dataloader 2
ok "copies are no kernels" share "$work/copying" families gemm all

cat >"$work/told.py" <<'P'
import sys, time
print('{"status": "done", "figures": [{"name": "a", "value": 1, "unit": "s"}], "claims": [], "notes": []}', flush=True)
print('{"status": "done", "figures": [', flush=True)
time.sleep(float(sys.argv[1]))
P
cat >"$work/left.sh" <<'P'
sleep 271828 &
echo '{"status": "done", "figures": [], "claims": [], "notes": []}'
P
cat >"$work/phases" <<P
first  1 99 - python3 $work/told.py 0
crash  1 99 - python3 -c import(os)
killed 1 99 - sh $work/kill.sh
hang   1 1 - sleep 161803
cut    1 20 - python3 $work/told.py 600
silent 1 99 - true
noise  1 99 - echo hello
gone   1 99 - /nowhere/at/all
left   1 99 V1,V2 sh $work/left.sh
last   1 99 - python3 $work/told.py 0
P
# shellcheck disable=SC2016 # of that shell
echo 'kill -11 $$' >"$work/kill.sh"
VERIFY_PHASES=$work/phases bash "$bundle/verify.sh" "$work/bad" >"$work/log" 2>&1
ok "bad phases are told, and the others are done" lines "$work/bad/results.jsonl" first=done crash=failed \
	killed=failed hang=timeout cut=timeout silent=failed noise=failed gone=failed left=done last=done
ok "a phase that ran out of time has told what it had" \
	grep -q '"phase": "cut".*"name": "a", "value": 1' "$work/bad/results.jsonl"
ok "what a phase left behind is ended" nobody 271828
ok "and so is one that hung" nobody 161803

# A case that is cut ends with all its descendants.
cat >"$work/case.py" <<'P'
import subprocess
from gpu_phase import run_for
try:
    run_for(["sh", "-c", "sleep 141421 & sleep 141421"], 1)
except subprocess.TimeoutExpired:
    print("cut")
P
ok "a case that is cut" env PYTHONPATH="$bundle" PYTHONDONTWRITEBYTECODE=1 python3 "$work/case.py"
ok "leaves nobody behind" nobody 141421
mkdir -p "$work/site/nvidia/cuda_cupti/lib"
: >"$work/site/nvidia/cuda_cupti/lib/libcupti.so.12"
ok "CUPTI of Python's packages is found" test "$work/site/nvidia/cuda_cupti/lib" = \
	"$(PYTHONPATH=$work/site python3 "$bundle/find_cupti.py")"

printf 'first 1 99 - python3 %s/told.py 0\nhang 2 600 - sleep 314159\n' "$work" >"$work/phases"
VERIFY_PHASES=$work/phases bash "$bundle/verify.sh" "$work/cut" >"$work/log" 2>&1 &
verifying=$!
for _ in $(seq 2000); do
	[ -s "$work/cut/results.jsonl" ] && ! nobody 314159 >/dev/null && break
	sleep 0.05
done
kill "$verifying"
wait "$verifying"
ok "a run that is cut has told what it had" lines "$work/cut/results.jsonl" first=done
ok "and leaves nobody behind" nobody 314159

VERIFY_PHASES=$work/phases bash "$bundle/verify.sh" "$work/one" first >"$work/log" 2>&1
ok "phases can be chosen" lines "$work/one/results.jsonl" first=done
VERIFY_PHASES=$work/phases bash "$bundle/verify.sh" "$work/run" 1 >"$work/log" 2>&1
ok "and a run" lines "$work/run/results.jsonl" first=done
sed 's/"took_s"/"took"/' "$work/one/results.jsonl" >"$work/wrong.jsonl"
ok "a line that the schema does not allow is found" not lines "$work/wrong.jsonl"

echo "gpu-script: $n_passed passed, $n_failed failed, 0 skipped"
[ "$n_failed" -eq 0 ]
