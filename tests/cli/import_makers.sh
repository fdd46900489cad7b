# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Files of other vendors are analyzed with their own lanes, and data that they do not record is
# unknown.
step() { # step NUMBER: a step of Ascend's, in microseconds since 1970, as texts
	at=$((1736408883600000 + $1 * 1000))
	cat <<EOF
{"ph":"X","cat":"cpu_op","name":"ProfilerStep#$1","pid":7,"tid":70,"ts":"$at.000","dur":1000},
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":7,"tid":70,"ts":"$((at + 10)).000","dur":20},
{"ph":"X","name":"MatMul","pid":9,"tid":2,"ts":"$((at + 50)).000","dur":250.5,"args":{"Task Type":"AI_CORE"}},
{"ph":"X","name":"EVENT_WAIT","pid":9,"tid":2,"ts":"$((at + 310)).000","dur":600,"args":{"Task Type":"EVENT_WAIT_SQE"}},
{"ph":"X","name":"hcom_allReduce__586_$1_1","pid":10,"tid":0,"ts":"$((at + 310)).000","dur":650.25,"args":{"count":250,"data_type":"FP32"}},
EOF
}
name() { # name PID PROCESS TID THREAD
	echo "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":$1,\"args\":{\"name\":\"$2\"}},"
	echo "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":$1,\"tid\":$3,\"args\":{\"name\":\"$4\"}},"
}
{
	echo '['
	i=0
	while [ $i -lt 60 ]; do
		step $i
		i=$((i + 1))
	done
	name 7 Python 70 'Thread 70'
	name 9 'Ascend Hardware' 2 'Stream 2'
	name 10 HCCL 0 'Group 0 Communication'
	echo ']'
} >trace_view.json
trainprof import -o ascend trace_view.json >printed
sed -n '3,6p' printed

# The maker's own sums stand beside ours: they agree, and then one differs by 4 %.
sums() { # sums MICROSECONDS: the trace with the maker's sum of computing in one piece
	sed '$d' trace_view.json
	name 11 'Overlap Analysis' 0 Computing
	name 11 'Overlap Analysis' 1 Communication
	echo "{\"ph\":\"X\",\"name\":\"Computing\",\"pid\":11,\"tid\":0,\"ts\":\"1736408883600050.000\",\"dur\":$1},"
	echo '{"ph":"X","name":"Communication","pid":11,"tid":1,"ts":"1736408883600310.000","dur":39015}'
	echo ']'
}
for us in 15030 15631.2; do
	sums $us >summed.json
	trainprof import -o summed --force summed.json >/dev/null
	trainprof report --full summed | grep -A 2 -E 'own sums|sums up'
done

# A rank that is late every time. The list is not closed, as in old versions of Horovod.
{
	echo '['
	i=0
	while [ $i -lt 20 ]; do
		at=$((i * 300000))
		cat <<EOF
{"ph":"B","name":"NEGOTIATE_ALLREDUCE","ts":$at,"pid":1},
{"ph":"X","name":"0","ts":$at,"pid":1,"dur":0},
{"ph":"X","name":"3","ts":$((at + 200000)),"pid":1,"dur":0},
{"ph":"E","ts":$((at + 200000)),"pid":1},
{"ph":"B","name":"NCCL_ALLREDUCE","ts":$((at + 200000)),"pid":1},
{"ph":"E","ts":$((at + 203000)),"pid":1},
EOF
		i=$((i + 1))
	done
} >horovod.json
trainprof import -o horovod horovod.json | sed -n '3,5p'

# Files of two tools are no job.
trainprof import -o both trace_view.json horovod.json
echo "status $?"

# A folder of both is read as neither, unless one is asked for.
mkdir folder
cp trace_view.json folder
printf '%s%s' '{"traceEvents":[{"name":"process_name","ph":"M","pid":1,"args":{"name":"/host:CPU"}},' \
	'{"ph":"X","name":"step","pid":1,"tid":1,"ts":1,"dur":2}]}' | gzip >folder/vm.trace.json.gz
trainprof import -o both folder
echo "status $?"
trainprof import --from=ascend -o one folder | sed -n 4p

# A timeline of which most has no record.
{
	echo '{"traceEvents":[{"ph":"M","name":"process_name","pid":3,"args":{"name":"/device:GPU:0/stream:all Compute"}}'
	i=0
	while [ $i -lt 60 ]; do
		echo ",{\"ph\":\"X\",\"cat\":\"Op\",\"name\":\"Conv2D\",\"pid\":3,\"tid\":0,\"ts\":$((i * 15000)),\"dur\":230,\"args\":{\"op\":\"Conv2D\"}}"
		i=$((i + 1))
	done
} >cut.json
trainprof import -o cut cut.json | sed -n '3,5p'
