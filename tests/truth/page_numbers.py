# SPDX-License-Identifier: Apache-2.0
"""Numbers on a page, and whether a fact of the JSON is printed like that."""
import re

UNITS = {"ns": 1, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9, "%": 0.01, "×": 1,
         "B": 1, "KiB": 1024, "MiB": 1024**2, "GiB": 1024**3, "TiB": 1024**4}
NUMBER = re.compile(r"(?<![\w.,:/#+-])(\d[\d,]*(?:\.\d+)?)(?:[ \u00a0]?(ns|us|µs|ms|s|%|×|KiB|MiB|GiB|TiB|B)(?![A-Za-z]))?(?![\w:])")


def numbers_in(text):
    """Returns each number with its unit ("" = a count) and its decimal places."""
    for match in NUMBER.finditer(text):
        digits = match[1].rstrip(",")
        yield match[0].strip(), float(digits.replace(",", "")), match[2] or "", len(digits.partition(".")[2])


def leaves(value):
    """All numbers of a document, and all its texts."""
    numbers, texts = [], []
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            stack.extend(item.values())
        elif isinstance(item, list):
            numbers.append(float(len(item)))
            stack.extend(item)
        elif isinstance(item, str):
            texts.append(item)
        elif isinstance(item, (int, float)) and not isinstance(item, bool):
            numbers.append(float(item))
    return numbers, texts


class Facts:
    """The numbers that may be on a page of a report."""

    def __init__(self, report, more=()):
        numbers, texts = leaves(report)
        self.numbers = sorted(set(abs(n) for n in numbers) | set(abs(n) for n in more))
        self.texts = " ".join(texts)

    def has(self, shown, value, unit, places):
        if re.search(r"(?<![\d.])" + re.escape(shown) + r"(?![\d])", self.texts):
            return True
        scale = UNITS.get(unit, 1)
        half = 0.51 * 10**-places
        low, high = (value - half) * scale - 1e-9, (value + half) * scale + 1e-9
        return any(low <= n <= high for n in self.numbers)
