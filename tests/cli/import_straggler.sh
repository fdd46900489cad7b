# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# A pipeline of two stages with a slow second one: steps, and who waited for which rank.
. "$CASES/run.inc"
# A step of 100 ms: 4 micro-batches, 10 ms each in the first stage and 20 ms in the second, which
# waits 10 ms for the first one; then both wait for each other, and the optimizer takes 10 ms.
awk 'BEGIN {
	print "dp_rank,stage,rank,step,optype,start_ts,duration,seq_id,mc,gmc,mb_id"
	for (step = 20; step < 40; step++) {
		at = step / 10
		for (i = 0; i < 4; i++) {
			printf "0,0,0,%d,forward-compute,%.3f,0.01,%d,0,0,%d\n", step, at + i / 100, i, i
			printf "0,1,1,%d,forward-compute,%.3f,0.02,%d,0,1,%d\n", step, at + 0.01 + i * 0.02, i, i
		}
		printf "0,0,0,%d,forward-send,%.3f,0.001,0,0,0,\n", step, at + 0.01
		printf "0,1,1,%d,forward-recv,%.3f,0.011,0,0,1,\n", step, at
		printf "0,0,0,%d,optimizer-clip-main-grad,%.3f,0.05,0,0,0,\n", step, at + 0.04
		printf "0,1,1,%d,optimizer-clip-main-grad,%.4f,0.0001,0,0,1,\n", step, at + 0.0899
		for (stage = 0; stage < 2; stage++)
			printf "0,%d,%d,%d,optimizer,%.3f,0.01,0,0,%d,\n", stage, stage, step, at + 0.09, stage
	}
}' >trace.csv
trainprof import -o prof trace.csv >printed
said $?
sed -n 1,9p printed
trainprof report --validate prof
trainprof report --full prof | sed -n '/^Which rank made others/,/^$/p'
echo 'packed, and by name'
gzip -k trace.csv
trainprof import -o packed --from=straggler trace.csv.gz | head -1
trainprof import -o none --from=kineto trace.csv 2>&1
said $?
echo 'the table as it is published'
printf 'PAR1\025\004' >trace-ST.parquet
trainprof import trace-ST.parquet 2>&1
said $?
