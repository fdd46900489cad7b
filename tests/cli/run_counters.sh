# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Hardware counters from doubles of NVML and CUPTI: the report contains the values of their scripts,
# and a refusal is reported with its remedy.
. "$CASES/run.inc"
export NVML_SCRIPT="$PWD/nvml" CUPTI_SCRIPT="$PWD/cupti"

# counted ARGUMENT...: trainprof finds the doubles in place of a driver's libraries
counted() {
	LD_LIBRARY_PATH=$BUILD/doubles/whole:$BUILD/doubles trainprof "$@"
}

# source_row RECORDING: the report's row about the source
source_row() {
	counted report --full "$1" | sed -n '/^  gpupmu/,/^  self/p' | sed '$d' | tr -s ' \n' ' ' |
		sed 's/, [0-9]* records/, N records/; s/; [0-9] windows*/; N windows/'
	echo
}

# about KEY LOW HIGH: a figure of the GPU, or a fact, is in the range; prints its source
about() {
	tr -d '\n' <gpu.json | grep -o "\"$1\": *{[^}]*}" | tail -1 | awk -v key="$1" -v low="$2" -v high="$3" '{
		value = $0; sub(/.*"value": */, "", value); sub(/[,}].*/, "", value)
		seen = $0; if (!sub(/.*"seen": *"/, "", seen)) seen = "\""; sub(/".*/, "", seen)
		print key, (value + 0 >= low && value + 0 <= high ? "as scripted" : "is " value) (seen ? ", by " seen : "") }'
}

# run_used RECORDING SECONDS OPTION...: a program that NVML lists on GPU 1 of two. The users of a
# GPU are looked up once per second, and the first request comes 2 s later.
run_used() {
	recording=$1 seconds=$2
	shift 2
	rm -f pidfile
	# shellcheck disable=SC2016
	counted run -q --summary=none --force "$@" -o "$recording" -- timeout "$seconds" sh -c 'echo $$ >pidfile; while :; do sleep 0.05; done'
	said $? >status
}

# is_told PATTERN RECORDING SECONDS: the source's row contains it after that time
is_told() {
	run_used "$2" "$3" --counters
	source_row "$2" | grep -q "$1"
}

# attached PATTERN SECONDS: the same for a process that runs already
attached() {
	counted attach -q --summary=none --counters --force -d "$2s" -o attached "$(cat pidfile)"
	said $? >status
	source_row attached | grep -q "$1"
}

cat >nvml <<'EOT'
devices 2
name NVIDIA A100
awake 63
gpu 1 process pidfile 70000000000
EOT
peak=.avg.pct_of_peak_sustained_elapsed
cat >cupti <<EOT
devices 2
chip GA100
sm__cycles_active$peak 80
sm__pipe_tensor_cycles_active_realtime$peak 30
dram__read_throughput$peak 20
dram__write_throughput$peak 5
dram__bytes_read.sum 3000
lts__average_t_sector_hit_rate_realtime.pct 60
EOT

echo "-- counters are what the script says"
longer 9 is_told 'present (6 counters' counted
cat status
source_row counted
counted report --format=json counted >gpu.json
about sm_active_ratio 0.7999 0.8001
about tensor_active_ratio 0.2999 0.3001
about dram_active_ratio 0.2499 0.2501
about dram_read_bytes_per_s 2.99e6 3.01e6
about l2_hit_ratio 0.5999 0.6001
about gpu.tensor_active_ratio 0.2999 0.3001
about gpu.counters.l2_hit_ratio 0.5999 0.6001
about gpu.counters.time_ratio 0.03 0.4
counted report --full counted | grep -o 'hardware counters locked the clocks of GPUs'

echo "-- nobody reads them unasked"
run_used unasked 1
cat status
source_row unasked

echo "-- a process that runs already"
rm -f pidfile
# shellcheck disable=SC2016
sh -c 'echo $$ >pidfile; exec sleep 300' &
running=$!
wait_for pidfile
longer 8 attached 'present (6 counters'
cat status
kill $running
source_row attached

echo "-- refused"
echo fail_cuptiPmSamplingGetCounterAvailability 35 >>cupti
longer 8 is_told 'not permitted' refused
cat status
source_row refused
counted report --format=json refused >gpu.json
tr -d '\n' <gpu.json | grep -o '"gpu.counters.l2_hit_ratio": *{[^}]*}' | tail -1 | tr -s ' '

echo "-- CUPTI crashes"
echo crash_cuptiDeviceGetChipName 1 >>cupti
longer 8 is_told 'ended its process' crashed
cat status
source_row crashed

echo "-- nothing is left behind"
for process in /proc/[0-9]*; do
	[ "$(cat "$process/comm" 2>/dev/null)" = trainprof-pm ] && [ "$(readlink "$process/cwd")" = "$PWD" ] && echo "left: $process"
done
echo "done"
