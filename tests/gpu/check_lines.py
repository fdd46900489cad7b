# SPDX-License-Identifier: Apache-2.0
"""Checks lines of results against the schema: check_lines.py SCHEMA RESULTS.jsonl [PHASE=STATUS]...

Supports the part of JSON Schema that the file uses. If phases are named, there must be one line for
each of them with that STATUS, in that order, and no other. Prints faults and the number of lines;
exit status 1 on a fault.
"""
import json
import re
import sys

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float),
         "null": type(None)}


def is_a(value, name):
    if isinstance(value, bool) and name != "boolean":
        return False
    return isinstance(value, TYPES[name])


def wrong(value, schema, where):
    names = schema.get("type", [])
    names = [names] if isinstance(names, str) else names
    if names and not any(is_a(value, name) for name in names):
        yield f"{where}: {value!r:.80} is not {' or '.join(names)}"
        return
    if "const" in schema and value != schema["const"]:
        yield f"{where}: not {schema['const']}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{where}: {value!r:.80} is none of {schema['enum']}"
    if "pattern" in schema and not re.search(schema["pattern"], value):
        yield f"{where}: {value!r:.80} does not match"
    if "minimum" in schema and value < schema["minimum"]:
        yield f"{where}: {value} is too little"
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from wrong(item, schema.get("items", {}), f"{where}[{index}]")
    if isinstance(value, dict):
        yield from wrong_members(value, schema, where)


def wrong_members(value, schema, where):
    known = schema.get("properties", {})
    for name in schema.get("required", []):
        if name not in value:
            yield f"{where}: {name} is missing"
    for name, member in value.items():
        if name in known:
            yield from wrong(member, known[name], f"{where}.{name}")
        elif schema.get("additionalProperties") is False:
            yield f"{where}: {name} is unknown"


def wrong_words(line):
    """Checks rules that the schema cannot express."""
    if line["status"] != "done" and not line.get("reason"):
        yield f"{line['phase']}: {line['status']} without a reason"
    for claim in line["claims"]:
        if claim["holds"] is None and not claim.get("reason"):
            yield f"{line['phase']}: nobody can tell, and no reason: {claim['text']}"


def main():
    with open(sys.argv[1]) as file:
        schema = json.load(file)
    with open(sys.argv[2]) as file:
        lines = [json.loads(text) for text in file]
    wanted = [tuple(word.split("=")) for word in sys.argv[3:]]
    problems = []
    for index, line in enumerate(lines):
        found = list(wrong(line, schema, f"line {index + 1}"))
        problems += found or list(wrong_words(line))
    told = [(line.get("phase"), line.get("status")) for line in lines]
    if wanted and told != wanted:
        problems.append(f"told {told}, wanted {wanted}")
    for problem in problems:
        print(problem)
    print(f"{len(lines)} lines")
    sys.exit(1 if problems else 0)


main()
