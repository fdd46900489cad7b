#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes small copies of traces, as seeds for the mutator: small_traces.py OUTPUT TRACE...

Of a list of events the descriptions and an even choice of the others are kept, so that a copy is read
in milliseconds; of a database so many rows of each table. What is neither JSON nor a database is left
out.
"""
import gzip
import json
import os
import shutil
import sqlite3
import sys

EVENTS_MAX = 600
ROWS_MAX = 150
STEPS_MAX = 40


def shorter(events):
    """Keeps descriptions, the first steps, and of the rest every n-th event."""
    kinds = [event.get("ph") if isinstance(event, dict) else None for event in events]
    kept = {at for at, kind in enumerate(kinds) if kind == "M"}
    steps = [at for at, event in enumerate(events)
             if isinstance(event, dict) and str(event.get("name", "")).startswith("ProfilerStep")]
    kept.update(steps[:STEPS_MAX])
    others = [at for at in range(len(events)) if at not in kept]
    # Half of it is one stretch, so that events that belong together stay together.
    half = EVENTS_MAX // 2
    middle = len(others) // 3
    kept.update(others[middle:middle + half])
    kept.update(others[::max(1, len(others) // half)])
    return [events[at] for at in sorted(kept)]


def shrink_json(data, path):
    document = json.loads(data)
    if isinstance(document, dict):
        for name, value in document.items():
            if isinstance(value, list) and len(value) > EVENTS_MAX:
                document[name] = shorter(value)
    elif isinstance(document, list) and len(document) > EVENTS_MAX:
        document = shorter(document)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(document, file)


def shrink_database(trace, path):
    shutil.copyfile(trace, path)
    with sqlite3.connect(path, isolation_level=None) as db:
        tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in tables:
            try:
                db.execute(f'DELETE FROM "{table}" WHERE rowid NOT IN '
                           f'(SELECT rowid FROM "{table}" LIMIT {20 * ROWS_MAX if "String" in table else ROWS_MAX})')
            except sqlite3.Error:
                pass  # a table without row numbers stays as it is
        db.execute("VACUUM")


def main():
    out = sys.argv[1]
    for number, trace in enumerate(sys.argv[2:]):
        with open(trace, "rb") as file:
            data = file.read()
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
        name = os.path.join(out, f"{number}-{os.path.basename(trace).split('.')[0]}")
        try:
            if data.startswith(b"SQLite format 3"):
                shrink_database(trace, name + ".sqlite")
            else:
                shrink_json(data, name + ".json")
        except (ValueError, sqlite3.Error):
            continue
    return 0


if __name__ == "__main__":
    sys.exit(main())
