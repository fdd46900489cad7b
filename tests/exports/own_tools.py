#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads exported files with the libraries of their target programs.

own_tools.py REPORT_JSON FOLDER: as read_back.py. A library that is not installed skips its format.
"""
import json
import os
import sys

from read_back import PARTS, none


def perfetto(path):
    """Reads with Perfetto's own schema: the time of slices of judged parts."""
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as schema

    trace = schema.Trace()
    trace.ParseFromString(open(path, "rb").read())
    sums, keys, texts, categories, open_slices = none(), {}, {}, {}, {}
    threads = 0
    for packet in trace.packet:
        threads += packet.track_descriptor.HasField("thread")
        for entry in packet.interned_data.debug_annotation_names:
            keys[entry.iid] = entry.name
        for entry in packet.interned_data.debug_annotation_string_values:
            texts[entry.iid] = entry.str.decode()
        for entry in packet.interned_data.event_categories:
            categories[entry.iid] = entry.name
        if not packet.HasField("track_event"):
            continue
        event = packet.track_event
        stack = open_slices.setdefault(event.track_uuid, [])
        if event.type == schema.TrackEvent.TYPE_SLICE_BEGIN:
            stack.append((packet.timestamp, event))
        elif event.type == schema.TrackEvent.TYPE_SLICE_END:
            begin, first = stack.pop()
            notes = {keys[n.name_iid]: n for n in first.debug_annotations}
            if categories[first.category_iids[0]] == "part" and "judged" in notes:
                sums[texts[notes["part"].string_value_iid]] += packet.timestamp - begin
    assert threads, "no thread has a name"
    return sums


def openmetrics(path):
    from prometheus_client.openmetrics import parser

    sums = none()
    for family in parser.text_string_to_metric_families(open(path, encoding="utf-8").read()):
        if family.name == "trainprof_part_seconds":
            for sample in family.samples:
                sums[sample.labels["part"]] = round(sample.value * 1e9)
    return sums


def tensorboard(path):
    """Reads with TensorBoard's own reader, which checks each record's checksums: seconds of all steps."""
    from tensorboard.backend.event_processing import event_file_loader

    sums = none()
    for event in event_file_loader.LegacyEventFileLoader(path).Load():
        for value in event.summary.value:
            part = value.tag.split("/")[1].removesuffix("_seconds")
            if part in sums:
                sums[part] += value.simple_value * 1e9
    return sums


def otlp(path):
    """Reads with OpenTelemetry's own schema, which refuses a field that it does not know."""
    from google.protobuf import json_format
    from opentelemetry.proto.profiles.v1development import profiles_pb2

    sums = none()
    data = profiles_pb2.ProfilesData()
    json_format.Parse(open(path, encoding="utf-8").read(), data)
    tables = data.dictionary
    for profile in data.resource_profiles[0].scope_profiles[0].profiles:
        for sample in profile.samples:
            for i in sample.attribute_indices:
                note = tables.attribute_table[i]
                if tables.string_table[note.key_strindex] == "part":
                    sums[note.value.string_value] += sample.values[0]
    return sums


def whole_steps(folder):
    """Sums of the table of steps, over all steps that are not cut."""
    import csv

    sums = none()
    for row in csv.DictReader(open(os.path.join(folder, "csv-steps"), newline="")):
        if row["kind"] != "cut":
            for part in PARTS:
                sums[part] += int(row[part + "_ns"])
    return sums


def main():
    report = json.load(open(sys.argv[1], encoding="utf-8"))
    folder = sys.argv[2]
    parts = none() | {part["id"]: part["time_ns"] for part in report["partition"]["parts"]}
    wanted = {"perfetto": (perfetto, parts, 0), "openmetrics": (openmetrics, parts, 0),
              "otlp": (otlp, parts, 0)}
    if len(report.get("devices", [])) > 1:
        del wanted["perfetto"]  # its pieces are those before waits for late ranks are reassigned
    wanted["tensorboard"] = (tensorboard, whole_steps(folder), 1e-6)
    bad = 0
    for name, (reader, expected, tolerance) in wanted.items():
        try:
            sums = reader(os.path.join(folder, name))
        except ImportError as error:
            print("%s: SKIPPED, %s" % (name, error))
            continue
        room = tolerance * max(1, sum(expected.values()))
        wrong = {p: (sums[p], expected[p]) for p in PARTS if abs(sums[p] - expected[p]) > room}
        bad += bool(wrong)
        print("%s: %s" % (name, wrong or "its own reader adds up to the same"))
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
