# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Folders of jobs: several recordings are read as one job, and faults in them are reported.

# record RANK SIZE JOB COMMAND...
record() {
	rank=$1
	size=$2
	job=$3
	shift 3
	env OMPI_COMM_WORLD_RANK="$rank" OMPI_COMM_WORLD_SIZE="$size" PMIX_NAMESPACE="$job" \
		trainprof run -q --summary=none -o prof -- "$@"
}

# report ARGUMENT...: its output, without times
report() {
	trainprof report "$@" 2>&1 | sed -E 's/[0-9.]+ (s|ms|µs)/TIME/g; s/host [^)]*/host H/; s/, job [^)]*//' |
		grep -E '^(Rank|All|No |Left|RANK|CANNOT|trainprof:|  next|prof)' | sort -u
}

for i in 0 1 3; do
	record $i 4 job1 true
done
record 1 4 job1 sh -c 'exit 9'

echo 'one is missing, one was started again, one has failed'
report prof

echo 'one cannot be read'
echo nonsense >prof/rank-3/manifest.json
rm prof/rank-3/digest.tpd
report prof

echo 'another job in the same folder'
record 0 2 job2 true
record 1 2 job2 true
report prof
echo 'by its name'
report --job=job1 prof
echo 'by a wrong name'
report --job=nothing prof

echo 'more words than any limit'
mkdir many
for i in $(seq 70); do
	cp -r prof/rank-0 many/run-"$i"
done
trainprof report many/* >/dev/null
echo "status $?"
trainprof report --json many/* | grep -c '"recording"'

echo 'no recording at all'
mkdir empty
report empty
report prof/rank-0 missing

echo 'as JSON and as Markdown'
trainprof report --json prof | sed -n '2p;/"verdict"/p;/"ranks_of_job"/p;/"missing_ranks"/p'
trainprof report --markdown prof | head -1
echo 'as HTML'
trainprof report --html -o page.html prof 2>&1
echo "status $?"
trainprof report --format=html -o page.html prof 2>&1
echo "status $?"
test -e page.html || echo 'nothing was written'

echo 'ranks that a launcher starts within one recording'
cat >launch <<'END'
for rank in 0 1 2; do
	OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_SIZE=4 sh -c 'until test -e seen; do sleep 0.1; done' &
done
wait
END
trainprof run -q --summary=none -o one -- sh launch &
# They run until they were seen, even on a busy machine.
for i in $(seq 300); do
	test "$(trainprof report --json one 2>/dev/null | grep -c '"rank"')" = 3 && break
	sleep 0.2
done
touch seen
wait
trainprof report --json one | grep -E '"(launcher|ranks_of_job|rank)"'
trainprof report --rank=1 one >/dev/null && echo 'a rank alone'
trainprof report --rank=9 one
echo "status $?"

trainprof report --html one
echo "status $?"

echo "the schema holds"
python3=/usr/bin/python3
$python3 -c 'import jsonschema' 2>/dev/null || { echo 'python3-jsonschema is missing' >&2; exit 77; }
for job in prof many one; do
	trainprof report --json "$job" >"$job.json"
	$python3 -c '
import json, jsonschema, sys
schema = json.load(open(sys.argv[1]))
jsonschema.Draft202012Validator.check_schema(schema)
jsonschema.validate(json.load(open(sys.argv[2])), schema)
print("valid")
' "$CASES/../../docs/job.schema.json" "$job.json"
done
