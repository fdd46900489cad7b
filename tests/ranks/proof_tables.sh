#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# proof_tables.sh TRAINPROF N: merges N synthetic digests in less than 10 s of CPU time and 1 GiB,
# and compares the tables of a smaller job in pyarrow, DuckDB and Spark with the report.
set -eu
trainprof=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/tables-XXXXXX")
trap 'rm -rf "$work"' EXIT
/usr/bin/python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q duckdb pyarrow
"$work/venv/bin/pip" install -q pyspark || echo 'no pyspark: Spark is left out'
python3 "$here/digests.py" make "$work/small" 64 400
"$trainprof" merge -q "$work/small" -o "$work/small.tpj"
"$work/venv/bin/python" "$here/proof_tables.py" "$trainprof" "$here/../../src/sql" "$work/small.tpj" "$work/small"
python3 "$here/digests.py" make "$work/many" "$2" 150
python3 - "$trainprof" "$work" <<'END'
import resource, subprocess, sys
trainprof, work = sys.argv[1:]
for words, limit in ((["merge", "-q", work + "/many", "-o", work + "/many.tpj"], 10),
                     (["report", work + "/many.tpj"], 30)):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    said = subprocess.run([trainprof] + words, check=True, stdout=subprocess.PIPE, text=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    mib = after.ru_maxrss / 1024
    print("%s: %.1f s of CPU time, %.0f MiB" % (words[0], cpu, mib))
    if cpu > limit or mib > 1024:
        sys.exit("too much")
if "IS LATE" not in said:
    sys.exit("the late rank was not found")
END
