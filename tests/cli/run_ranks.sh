# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Ranks of a job record into one folder, with the variables of a launcher. The ranks run even if a
# recording fails.

# rank N SIZE COMMAND...: started as by mpirun
rank() {
	n=$1
	size=$2
	shift 2
	env OMPI_COMM_WORLD_RANK="$n" OMPI_COMM_WORLD_SIZE="$size" PMIX_NAMESPACE="$JOB" "$@"
}
export JOB=job1

echo 'all at once'
for i in 0 1 2; do
	rank $i 3 trainprof run --summary=none -o prof -- sh -c "echo >ran$i; exit $i" 2>said$i &
done
wait
ls ran?
ls prof
cat said0 said1 said2
grep -h '"rank":' prof/rank-1/manifest.json

echo 'started again, and another job of the same name'
rank 1 3 trainprof run -q --summary=none -o prof -- true
JOB=job2 rank 0 2 trainprof run -q --summary=none -o prof -- true
ls prof

echo 'without -o'
for i in 0 1; do
	rank $i 2 trainprof run --summary=none -- true
done
ls -d .trainprof/job*/*
test -d .trainprof/last/rank-0 && echo '.trainprof/last is the folder'

echo 'only --force replaces, and only ranks of other jobs'
JOB=job3 rank 2 3 trainprof run -q --summary=none --force -o prof -- true
ls prof

echo 'no place to record: the rank runs all the same'
echo precious >file
rank 0 2 trainprof run --summary=none -o file -- sh -c 'echo the program ran; exit 5'
echo "status $?"
rank 1 2 trainprof run --summary=none -o nowhere/prof -- sh -c 'echo the program ran'
echo "status $?"
rank 1 2 trainprof run --strict -o file -- sh -c 'echo never'
echo "status $?"

echo 'variables that lie'
env RANK=7 WORLD_SIZE=2 trainprof run --summary=none -o lies -- true
ls lies
env RANK=x WORLD_SIZE=2 trainprof run --summary=none -o own -- true
ls own/manifest.json

echo 'a job of one rank is none'
rank 0 1 trainprof run -q --summary=none -o single -- true
ls single/manifest.json
