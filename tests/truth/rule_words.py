# SPDX-License-Identifier: Apache-2.0
"""Fill the sentences of rules again, only from the facts in the JSON and the files of rules/.

A second implementation of the language of docs/howto/rule.md that shares no code with src/advise:
its result for an expression or a placeholder must equal the text on the page.
"""
import json
import math
import re

SCALES = {"": 1, "%": 0.01, "ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "min": 60e9, "h": 3600e9,
          "B": 1, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
          "KiB": 1024, "MiB": 1024**2, "GiB": 1024**3, "TiB": 1024**4}
TOKEN = re.compile(r"\s*(?:(\d+(?:\.\d+)?)([A-Za-z%]*)(/s(?![\w.]))?|(\$?[A-Za-z_][\w.]*)|([<>]=|[-+*/(),<>]|==|!=))")


class Unknown(Exception):
    """A needed fact is not known, or a word of the language is not known here."""


class Words:
    def __init__(self, rules):
        text = open(rules + "/thresholds.json", encoding="utf-8").read()
        whole = json.loads(re.sub(r"^\s*//.*$", "", text, flags=re.M)) # comments are lines of their own
        self.whole = whole["whole"]
        self.thresholds = {row["name"]: row["value"] for row in whole["thresholds"]}

    def python(self, text, rule, facts):
        """Returns an expression as one of Python's."""
        out, at = [], 0
        while at < len(text.rstrip()):
            found = TOKEN.match(text, at)
            if not found:
                raise Unknown(text)
            number, suffix, rate, name, sign = found.groups()
            at = found.end()
            if number:
                if suffix not in SCALES:
                    raise Unknown(suffix)
                out.append(repr(float(number) * SCALES[suffix] * (1e-9 if rate else 1)))
            elif name and name.startswith("$"):
                let = rule.get("let", {}).get(name[1:]) or self.thresholds.get(name[1:])
                if let is None:
                    raise Unknown(name)
                out.append(f"({self.python(str(let), rule, facts)})")
            elif name and "." in name:
                value = facts.get(name)
                if value is None:
                    raise Unknown(name)
                out.append(repr(float(value) * (1e-9 if name.endswith("_per_s") else 1)))
            elif name in ("min", "max", "floor", "ceil", "and", "or", "not"):
                out.append(name)
            elif name:
                raise Unknown(name)
            else:
                out.append(sign)
        return " ".join(out)

    def value(self, text, rule, facts):
        scope = {"__builtins__": {}, "min": min, "max": max, "floor": math.floor, "ceil": math.ceil}
        try:
            return float(eval(self.python(text, rule, facts), scope))
        except (ZeroDivisionError, OverflowError) as why:
            raise Unknown(text) from why

    def unit(self, text):
        """Returns the unit of a fact by its name, as in docs/facts.md; None = not known."""
        if not re.fullmatch(r"[a-z_.0-9]+", text) or "." not in text:
            return None
        for end, unit in (("_ratio", "percent"), ("_bytes_per_s", "byte rate"), ("_bytes", "bytes"),
                          ("_per_s", "rate"), ("_ns", "time")):
            if text.endswith(end):
                return unit
        return "number"

    def fill(self, sentence, rule, facts, whole):
        """Returns the pieces of the sentence in order: texts, and the printed form of each placeholder."""

        def one(found):
            inside = found[1]
            if inside == "whole":
                return whole
            if inside in ("beside", "others", "others_cpus"):
                raise Unknown(inside)
            text, _, rest = inside.partition("|")
            form, _, plural = rest.partition("|")
            form = form or self.unit(text)
            if form is None:
                raise Unknown(text)
            printed = number_text(self.value(text, rule, facts), form)
            if plural:
                single, many = plural.split("|")
                printed += " " + (single if printed == "1" else many)
            return printed

        return re.sub(r"{([^{}]*)}", one, sentence)


def fixed(value, places):
    power = 10**places
    scaled = math.floor(min(abs(value), 1e15) * power + 0.5) / power
    return ("-" if value < 0 and scaled > 0 else "") + f"{scaled:,.{places}f}"


def scaled(value, step, units):
    unit = 0
    while unit + 1 < len(units) and abs(value) >= step * 0.9995:
        value /= step
        unit += 1
    return f"{fixed(value, 0 if unit == 0 or abs(value) >= 99.95 else 1)} {units[unit]}"


def short(value):
    return fixed(value, 0 if abs(value - round(value)) < 1e-9 or abs(value) >= 9.95 else 1)


def number_text(value, form):
    if form == "percent":
        percent = value * 100
        return fixed(percent, 1 if percent and abs(percent) < 0.95 else 0) + " %"
    if form == "count":
        return fixed(value, 0)
    if form == "time":
        return scaled(value, 1000, ["ns", "µs", "ms", "s"])
    if form == "bytes":
        return scaled(value, 1024, ["B", "KiB", "MiB", "GiB", "TiB"])
    if form == "rate":
        return short(value * 1e9) + "/s"
    if form == "byte rate":
        return scaled(value * 1e9, 1024, ["B", "KiB", "MiB", "GiB", "TiB"]) + "/s"
    return short(value)
