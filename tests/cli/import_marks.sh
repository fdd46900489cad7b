# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Steps of a trace without devices are marked for 8 of 10 ms each. What lies between two marks was
# not recorded, and no device ran for another length.
{
	printf '{"schemaVersion": 1, "traceEvents": ['
	i=0
	while [ $i -lt 20 ]; do
		at=$((1000000 + i * 10000))
		cat <<EOF
{"ph": "X", "cat": "user_annotation", "name": "multi_step_on_iterator", "pid": 1, "tid": 1, "ts": $at, "dur": 8000},
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": $at, "dur": 7000},
EOF
		i=$((i + 1))
	done
	echo '{}]}'
} >marks.json
trainprof import -o prof marks.json | sed -n 3,8p
