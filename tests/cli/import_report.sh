# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Import prints the same as report, and the known properties of the trace.
. "$CASES/run.inc"
. "$CASES/import_trace.inc"
trace_of 20 4 >rank0.json
trainprof import -o prof rank0.json >printed
said $?
[ "$(readlink .trainprof/last)" = ../prof ] && ls prof
trainprof report prof | cmp - printed && echo 'as report prints'
# By construction: 4 of 10 ms wait for data, 5 compute, 1 launches.
sed -n 1,7p printed
wc -l <printed | awk '$1 <= 21 { print "at most 21 lines" }'
awk 'length($0) > 160' printed
grep -cE 'exit status|Overhead|CPU counters' printed
trainprof report --validate prof
trainprof report --json prof | sed -n '/"summary"/,/"limiter"/p'
trainprof report --json prof | tr -d ' \n' | grep -o '"own_ns":{[^}]*}'
sum=$(sha256sum rank0.json | cut -c1-64)
trainprof report --json prof | grep -q "\"sha256\": \"$sum\"" && echo 'hash is of the file'
trainprof report --full prof | grep -q "$sum" && echo 'and stands in --full'
trainprof explain prof step.dataloader_ratio | cut -c1-40
echo "-- the same, the other way round"
trainprof explain step.dataloader_ratio prof | cut -c1-40
trainprof explain no-such-run step.dataloader_ratio; echo "status $?"
trainprof explain prof cpu.busy_ratio | head -1 | cut -c1-42
echo 'a label, another recording, --force'
trainprof import -o prof -n nightly rank0.json 2>&1 | sed 's/[0-9]\{4\}-[0-9-]*/DATE/'
trainprof import -o prof --force -n nightly rank0.json | head -1
ls -d prof*
echo 'packed, and in an archive'
gzip -k rank0.json
trainprof import -o packed rank0.json.gz | head -1
trace_of 20 6 >rank1.json
tar -cf job.tar rank0.json rank1.json
trainprof import -o job job.tar | head -1
trainprof import -o both rank0.json rank1.json | head -1
trainprof report --validate both
echo 'without rules'
mkdir -p bad/bottlenecks/input
echo '{' >bad/bottlenecks/input/x.json
TRAINPROF_RULES=bad trainprof report prof | grep 'No rules'
echo 'twice the same'
cp rank0.json copy.json
trainprof import -o twice rank0.json copy.json 2>&1
trainprof import -o twice rank0.json rank0.json 2>&1
said $?
ls twice 2>/dev/null
echo 'a trace is no recording'
trainprof report rank0.json 2>&1
trainprof rank0.json 2>&1
trainprof import --from=nsys rank0.json 2>&1
trainprof import prof/report.json 2>&1
echo 'cut in its middle'
head -c 6000 rank0.json >cut.json
trainprof import -o cut cut.json | grep -o 'cut at its end'
