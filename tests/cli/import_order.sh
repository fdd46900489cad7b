# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# The report does not depend on the order in which the files of a job are given.
. "$CASES/run.inc"

# rank_of NUMBER GROUP ARRIVES: in each of ten steps of 10 ms a kernel until ARRIVES us, and one
# that communicates until all have arrived, at 6 and 8 ms.
rank_of() {
	awk -v rank="$1" -v group="$2" -v arrives="$3" '
	function event(category, name, process, thread, start, took, extra) {
		printf "%s{\"ph\": \"X\", \"cat\": \"%s\", \"name\": \"%s\", \"pid\": %d, \"tid\": %d, \"ts\": %d, \"dur\": %d%s}",
			separator, category, name, process, thread, start, took, extra
		separator = ",\n"
	}
	BEGIN {
		printf "{\"distributedInfo\": {\"rank\": %d, \"world_size\": 4}, \"traceEvents\": [\n", rank
		ends = group == "[0, 1]" ? 6000 : 8000
		for (i = 0; i < 10; i++) {
			at = 1000000 + i * 10000
			event("user_annotation", "ProfilerStep#" i, 100, 100, at, 10000, "")
			event("cuda_runtime", "cudaLaunchKernel", 100, 100, at, 10, ", \"args\": {\"correlation\": " 2 * i + 1 "}")
			event("cuda_runtime", "cudaLaunchKernel", 100, 100, at + 20, 10, ", \"args\": {\"correlation\": " 2 * i + 2 "}")
			event("kernel", "ampere_sgemm_128x64_tn", 0, 7, at, arrives,
				", \"args\": {\"device\": 0, \"stream\": 7, \"correlation\": " 2 * i + 1 "}")
			event("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclWork*)", 0, 20, at + arrives, ends - arrives,
				", \"args\": {\"device\": 0, \"stream\": 20, \"correlation\": " 2 * i + 2 \
				", \"Collective name\": \"allreduce\", \"In msg nelems\": 1048576, \"dtype\": \"Float\", \"Group size\": 2" \
				", \"Process Group Name\": \"tp\", \"Process Group Ranks\": \"" group "\"}")
		}
		print "\n]}"
	}'
}
# In the first pair both arrive at once; in the second one rank 3 arrives 2 ms later.
rank_of 0 '[0, 1]' 5000 >a.json
rank_of 1 '[0, 1]' 5000 >b.json
rank_of 2 '[2, 3]' 4000 >c.json
rank_of 3 '[2, 3]' 6000 >d.json
# Compares everything but the command, its time and the list of files.
numbers() {
	trainprof report --json "$1" | sed -n '/"summary"/,$p'
}
trainprof import -o forward a.json b.json c.json d.json | sed -n 3,8p
trainprof import -o backward d.json c.json b.json a.json >printed
trainprof import -o mixed c.json a.json d.json b.json >printed
numbers forward >expected
wc -l <expected | awk '$1 > 500 { print "all is told" }'
for other in backward mixed; do
	numbers $other | cmp - expected && echo "$other is the same"
done
echo 'two communicators are called tp'
trainprof report --json forward | tr -d '\n' | grep -o '"group": "[^"]*"' | sort | uniq -c
trainprof report --json forward | tr -d ' \n' | grep -o '"wait_caused_ns":[0-9]*'
echo 'a job of more ranks than one host has'
# Ranks wait in pairs, and only rank 150 arrives late.
mkdir many
for i in $(seq 0 199); do
	first=$((i - i % 2))
	rank_of "$i" "[$first, $((first + 1))]" $((i == 150 ? 5500 : 4000)) >many/"$i".json
done
trainprof import -o wide many/*.json >printed
trainprof report --validate wide
trainprof report --json wide | grep -c '"sha256"'
trainprof report --json wide | tr -d ' \n' | grep -o '"wait_caused_ns":[1-9][0-9]*'
