# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Digests of ranks are merged into one job file even if some are damaged; its report equals the
# folder's.

# record RANK SIZE OPTION... -- COMMAND...
record() {
	rank=$1
	size=$2
	shift 2
	env OMPI_COMM_WORLD_RANK="$rank" OMPI_COMM_WORLD_SIZE="$size" PMIX_NAMESPACE=job1 \
		trainprof run -q --summary=none "$@"
}
report() {
	trainprof report "$@" 2>&1 | sed -E 's/[0-9.]+ (s|ms|µs)/TIME/g; s/host [^)]*/host H/; s/, job [^)]*//' |
		grep -E '^(Rank|No |Left|CANNOT|trainprof:|  next)' | sort -u
}

for i in 0 1 2; do
	record $i 5 -o prof -- true
done
record 3 5 --digest-only -o prof -- sh -c 'exit 9'
echo 'digest-only keeps the digest'
ls prof/rank-0 prof/rank-3

echo 'one has no digest, one is damaged, one is empty'
rm prof/rank-1/digest.tpd
printf x | dd of=prof/rank-3/digest.tpd bs=1 seek=40 conv=notrunc 2>/dev/null
mkdir prof/rank-4
report prof
trainprof merge prof -o job.tpj
report job.tpj

echo 'never overwritten'
trainprof merge prof -o job.tpj
echo "status $?"

echo 'cut off and started again'
head -c $(($(wc -c <job.tpj) - 100)) job.tpj >again.tpj.part
trainprof merge prof -o again.tpj 2>&1 | grep -v '^trainprof: left'
cmp job.tpj again.tpj && echo identical
ls again*

echo 'job files of two hosts'
trainprof merge prof/rank-0 -o host1.tpj
trainprof merge prof/rank-1 prof/rank-2 -o host2.tpj
mkdir hosts
mv host1.tpj host2.tpj hosts
trainprof merge hosts -o all.tpj
report all.tpj

echo 'by the ranks of a launcher'
for i in 1 2 0; do
	env OMPI_COMM_WORLD_RANK=$i OMPI_COMM_WORLD_SIZE=3 trainprof merge prof -o by.tpj 2>/dev/null &
done
wait
ls by.tpj*
report by.tpj
trainprof report --json by.tpj | grep '"recording"'

echo 'tables'
trainprof export --to=parquet -o tables all.tpj
ls tables
head -c 4 tables/ranks.parquet
tail -c 4 tables/steps.parquet
echo
trainprof export --to=parquet all.tpj
echo "status $?"

echo 'a job file that was cut off'
head -c 300 all.tpj >cut.tpj
report cut.tpj

echo 'folders that are not there'
trainprof merge prof missing -o some.tpj 2>&1 | grep -v '^trainprof: left'
ls some.tpj
mkdir none
trainprof merge none -o nothing.tpj
echo "status $?"
trainprof merge prof
echo "status $?"
