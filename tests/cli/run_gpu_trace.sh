# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# GPU tracing: a program writes the ring of an agent, and the report equals its truth.
. "$CASES/run.inc"
. "$CASES/run_gpu_trace.inc"

# of_steps NAME: a column of the report's series, one line per group of neighbouring steps
of_steps() {
	tr -d ' \n' <gpu.json | grep -o '"series":{.*' | grep -o "\"$1\":\[[^]]*\]" | head -1 |
		sed 's/.*\[//; s/\]//' | tr ',' '\n'
}

# near NAME COLUMN TOLERANCE: that part of all steps against the truth of the same steps, in percent
# of their time. Groups are not compared in which a mark and the program's own clock reading differ,
# nor are steps that began before the first mark.
near() {
	of_steps "$1" >found
	bucket=$(tr -d ' \n' <gpu.json | grep -o '"bucket":[0-9]*' | head -1 | sed 's/.*://')
	total=$(tr -d ' \n' <gpu.json | grep -o '"total_count":[0-9]*' | head -1 | sed 's/.*://')
	untraced=$(tr -d ' \n' <gpu.json | grep -o '"untraced":[0-9]*' | head -1 | sed 's/.*://')
	n_steps=$((total - ${untraced:-0}))
	tail -n "$n_steps" truth | awk -v name="$1" -v column="$2" -v most="$3" -v bucket="$bucket" '
		function compare() {
			if ((getline mean <"found") <= 0) {
				lacks = 1
				exit
			}
			if (!torn) {
				found += mean * size; truth += part; wall += length_ns; n += size
			}
			size = part = length_ns = torn = 0
		}
		{ size++; part += $column; length_ns += $10; torn += $12 }
		size == bucket { compare() }
		END {
			if (size)
				compare()
			if (lacks) {
				print name, "has too few groups of steps"
				exit
			}
			off = n ? 100 * (found - truth) / wall : 100
			fine = n >= 20 && off < most && off > -most
			print name, (fine ? "as it was" : "is off by " off " points in " n " steps")
		}'
}

echo "-- what the program did is what is reported"
MARKS=1 traced run -q --summary=none --gpu-trace=continuous -o traced -- "$BUILD/programs/gpu_script" 80 10 2 20 5 8 >truth
said $?
traced report --format=json traced >gpu.json
near compute 2 0.001
near memory 4 0.5
near dataloader 6 1
near host 8 1
trainprof report --full traced | grep -o 'gemm  *ampere_sgemm.*'
source_row traced
trainprof report --full traced | grep '^ *device.\(syncs_per_step\|h2d_copies_per_step\|small_copy_ratio\)  ' | awk '{ print $1, $2 }'
trainprof report --full traced | awk '$1 == "device.queue_depth" { print $1, ($2 > 0 && $2 < 0.01 ? "hardly any" : $2) }'

echo "-- a program that is killed has told what it did until then"
KILL=1 traced run -q --summary=none --gpu-trace=windows -o killed -- "$BUILD/programs/gpu_script" 25 10 2 20 5 8 >/dev/null 2>&1
said $?
trainprof report --full killed | grep -o 'work *[0-9]* compute kernels.*copies' | sed 's/kernels [0-9.]* m*s,/kernels,/'

echo "-- a window is left out where a GPU has no memory to spare"
printf 'devices 1\nname NVIDIA H200\nawake 50\ncapability 90\ntotal 8000000000\nused 7700000000\nprocess pidfile 7000000000\n' >script
is_left_out() { # is_left_out STEPS
	# shellcheck disable=SC2016 # the inner shell expands it
	traced run -q --summary=none --gpu-trace=windows --force -o full -- \
		sh -c 'echo $$ >pidfile; exec "$0" "$1" 20 2 40 5 8' "$BUILD/programs/gpu_script" "$1" >/dev/null
	trainprof report --full full | tr -s ' \n' ' ' | grep -o '[1-9][0-9]* windows* left out: GPU memory nearly full' >out
}
longer 60 is_left_out
sed 's/.* left/windows left/' out | sort -u
trainprof report --full full | awk '$1 == "device.capability" { print $1, $2 }'
printf 'devices 1\nname NVIDIA H200\nawake 50\n' >script

echo "-- nothing is left behind"
until_true nothing_left || left
