# SPDX-License-Identifier: Apache-2.0
"""Compares the job tables of DuckDB, and of Spark if it is installed, with those of trainprof.

proof_tables.py TRAINPROF SQL_FOLDER JOB...: JOB is a folder of recordings, or a job file.
Needs duckdb and pyarrow of PyPI; pyspark and Java are used if they are installed.
"""
import json
import math
import os
import subprocess
import sys
import tempfile

TABLES = ["ranks", "steps", "times", "places"]
QUERIES = ["steps", "ranks", "late", "parts"]


def read_sql(folder, name):
    with open(os.path.join(folder, name + ".sql"), encoding="utf-8") as file:
        return file.read()


def in_duckdb(tables, sql):
    import duckdb
    db = duckdb.connect()
    for name in TABLES:
        db.execute("CREATE VIEW %s AS SELECT * FROM read_parquet('%s/%s.parquet')"
                   % (name, tables, name))
    answers = {}
    for query in QUERIES:
        cursor = db.execute(read_sql(sql, query))
        names = [column[0] for column in cursor.description]
        answers[query] = [dict(zip(names, row)) for row in cursor.fetchall()]
    fleet = duckdb.connect()
    for name in ["ranks", "steps"]:
        fleet.execute("CREATE VIEW %s AS SELECT *, 'a' AS job FROM read_parquet('%s/%s.parquet')"
                      " UNION ALL SELECT *, 'b' AS job FROM read_parquet('%s/%s.parquet')"
                      % (name, tables, name, tables, name))
    cursor = fleet.execute(read_sql(sql, "late_hosts"))
    names = [column[0] for column in cursor.description]
    answers["late_hosts"] = [dict(zip(names, row)) for row in cursor.fetchall()]
    return answers


def in_spark(tables, sql):
    from pyspark.sql import SparkSession
    spark = (SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
             .config("spark.ui.showConsoleProgress", "false")
             .config("spark.sql.shuffle.partitions", "4").getOrCreate())
    spark.sparkContext.setLogLevel("ERROR")
    for name in TABLES:
        spark.read.parquet("%s/%s.parquet" % (tables, name)).createOrReplaceTempView(name)
    answers = {query: [row.asDict() for row in spark.sql(read_sql(sql, query)).collect()]
               for query in QUERIES}
    spark.stop()
    return answers


def check_arrow(tables, report):
    """The data that pyarrow reads equals the report."""
    import pyarrow.parquet
    ranks = pyarrow.parquet.read_table("%s/ranks.parquet" % tables).to_pylist()
    wrong = []
    if len(ranks) != len(report["ranks"]):
        wrong.append("arrow: %d ranks, not %d" % (len(ranks), len(report["ranks"])))
    for row, rank in zip(ranks, report["ranks"]):
        for column, member in [("rank", "rank"), ("host", "host"), ("pid", "pid"),
                               ("recording", "recording"), ("is_cut", "is_cut"),
                               ("waited_at_end_ns", "waited_at_end_ns"), ("steps", "steps"),
                               ("unreadable", "unreadable"), ("end", "end")]:
            if row[column] != rank.get(member) and not (rank.get("unreadable")
                                                        and member not in rank):
                wrong.append("arrow: %s of rank %s: %s" % (column, rank.get("rank"), row[column]))
    return wrong


def differs(a, b):
    if isinstance(a, str) or isinstance(b, str) or a is None or b is None:
        return a != b
    return not math.isclose(float(a), float(b), rel_tol=1e-9, abs_tol=1e-6)


def compare(engine, answers, report):
    wrong = []

    def same(what, a, b):
        if differs(a, b):
            wrong.append("%s: %s: %s, not %s" % (engine, what, a, b))
    if not report["steps"]:
        return ["the job has no joined steps: nothing to compare"]
    job = answers["steps"][0]
    for name in ["steps", "step_ns", "wait_ratio", "exchange_ratio"]:
        same(name, job[name], report[name])
    ours = {rank["rank"]: rank for rank in report["ranks"] if rank["is_joined"]}
    same("number of ranks", len(answers["ranks"]), len(ours))
    for row in answers["ranks"]:
        rank = ours[row["rank"]]
        for name in ["host", "work_ns", "wait_ns", "last_in_steps"]:
            same("%s of rank %d" % (name, row["rank"]), row[name], rank[name])
    late = report.get("late", {})
    if late.get("ranks") == 1:
        same("late rank", answers["late"][0]["rank"], late["rank"])
        same("its gap", answers["late"][0]["after_next_ns"], late["after_next_ns"])
    for row in answers["parts"]:
        values = [rank["parts_ns"][row["part"]] for rank in ours.values()]
        same("least " + row["part"], row["least_ns"], min(values))
        same("most " + row["part"], row["most_ns"], max(values))
    if "late_hosts" in answers:
        per_host = {}
        for rank in ours.values():
            per_host[rank["host"]] = per_host.get(rank["host"], 0) + 2 * rank["last_in_steps"]
        for row in answers["late_hosts"]:
            same("late steps of " + row["host"], row["late_in_steps"], per_host[row["host"]])
    return wrong


def main():
    trainprof, sql, jobs = sys.argv[1], sys.argv[2], sys.argv[3:]
    n_wrong = 0
    for job in jobs:
        report = json.loads(subprocess.run([trainprof, "report", "--json", job], check=True,
                                           stdout=subprocess.PIPE).stdout)
        with tempfile.TemporaryDirectory() as tables:
            subprocess.run([trainprof, "export", "--to=parquet", "-o", tables, job], check=True)
            wrong = check_arrow(tables, report) + compare("duckdb", in_duckdb(tables, sql), report)
            engines = "pyarrow, DuckDB"
            try:
                wrong += compare("spark", in_spark(tables, sql), report)
                engines += ", Spark"
            except (ImportError, OSError, RuntimeError) as error:
                print("Spark is left out: %s" % str(error).strip().split("\n")[0])
        print("%s: %d ranks, %d steps: %s: %s" % (
            job, len(report["ranks"]), report["steps"], engines,
            "%d differences" % len(wrong) if wrong else "equal"))
        for line in wrong[:20]:
            print("  " + line)
        n_wrong += len(wrong)
    sys.exit(n_wrong > 0)


main()
