#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts what can be counted of plain English: prose.py [--list=CLAUSE|TELL] [FOLDER...]

Reads the comments of C and Python sources, the strings in src and include, which the program prints,
the texts of rules and the documents. Fails when more than CLAUSE_MOST of the comments open with a clause
word, when TELL_MOST forms of "tell" stand in 10,000 words, or when a text has a phrase of
phrases.txt; each finding names file, line and what to write instead. --list shows every comment
behind a count, below FOLDER only.
"""
import collections
import glob
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
CLAUSE_MOST = 0.03
TELL_MOST = 5
SHOWN = 20
TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/|//[^\n]*', re.S)
# A comment that opens with one of these has no subject at its head: a reader meets a condition or a
# genitive before the thing. "When", "If", "Where" and "After" open whole sentences as well, and stand
# here only where no verb of a main clause follows: that cannot be counted, so they are left out.
CLAUSE = re.compile(r'(?:Of|Whether|How|Whoever|What|Who|Whom|Whose|Which|Whatever|Wherever|By which|In which|'
                    r'To which|From which|That which|As much as)\b')
TELL = re.compile(r'(?<!cannot )(?<!CANNOT )\b(?:tell|tells|told|telling)\b', re.I)
WORD = re.compile(r"[A-Za-z']+")

Text = collections.namedtuple("Text", "kind path line text")


def texts_of_source(path):
    """Yields comments (consecutive // lines are one) and strings."""
    with open(path, encoding="utf-8", errors="replace") as file:
        source = file.read()
    comments = []
    ends = -1
    line = 1
    counted = 0 # bytes whose line ends are in `line`
    for match in TOKEN.finditer(source):
        token = match.group()
        line += source.count("\n", counted, match.start())
        counted = match.start()
        if token[0] == '"':
            yield Text("string", path, line, token[1:-1])
        elif token[:2] == "//":
            alone = not source[source.rfind("\n", 0, match.start()) + 1:match.start()].strip()
            if alone and comments and ends == line - 1:
                comments[-1] = comments[-1]._replace(text=comments[-1].text + " " + token[2:].strip())
            else:
                comments.append(Text("comment", path, line, token[2:].strip()))
            ends = line if alone else -1
        elif token[:2] == "/*":
            body = re.sub(r"\n\s*\*?", " ", token[2:-2])
            comments.append(Text("comment", path, line, " ".join(body.split()).strip("* ")))
            ends = -1
    yield from (comment for comment in comments
                if WORD.search(comment.text) and not comment.text.startswith(("SPDX", "NOLINT", "clang-format")))


def texts_of_python(path):
    """Yields comments that have lines of their own; consecutive lines are one."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    comment = None
    for number, line in enumerate(lines, 1):
        body = line.strip()
        if not body.startswith("#") or body.startswith(("#!", "# SPDX")):
            body = ""
        if comment and body:
            comment = comment._replace(text=comment.text + " " + body[1:].strip())
        elif body:
            comment = Text("comment", path, number, body[1:].strip())
        elif comment:
            yield comment
            comment = None


def texts_of_json(path):
    """Yields strings with a blank in them: names and conditions are no prose."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    for number, line in enumerate(lines, 1):
        for match in re.finditer(r'"((?:\\.|[^"\\])*)"\s*(?=[,\]}]|$)', line):
            if " " in match.group(1):
                yield Text("rule", path, number, json.loads('"' + match.group(1) + '"'))


def texts_of_document(path):
    """Yields lines outside code blocks; pages generated from rules and techniques are checked there."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    if "generated" in "\n".join(lines[:3]).lower():
        return
    code = False
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith("```"):
            code = not code
        elif not code and WORD.search(line):
            yield Text("document", path, number, line)


def all_texts():
    for folder in ("src", "include", "tests"):
        for path in sorted(glob.glob(folder + "/**/*.[ch]", recursive=True)):
            for text in texts_of_source(path):
                if text.kind == "comment" or folder != "tests":
                    yield text
        for path in sorted(glob.glob(folder + "/**/*.py", recursive=True)):
            yield from texts_of_python(path)
    for path in sorted(glob.glob("rules/**/*.json", recursive=True)):
        yield from texts_of_json(path)
    for path in ["README.md", *sorted(glob.glob("docs/**/*.md", recursive=True))]:
        if not path.startswith("docs/guide/"):
            yield from texts_of_document(path)


def phrases():
    """Yields the pattern, the kinds of text in which it is wrong, and the replacement."""
    with open(os.path.join(HERE, "phrases.txt"), encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                pattern, kinds, instead = (column.strip() for column in line.split("\t"))
                yield re.compile(pattern), kinds.split(), instead


def is_below(path, folders):
    return not folders or any(path.startswith(folder.rstrip("/") + "/") or path == folder
                              for folder in folders)


def main(arguments):
    listed = {argument[7:] for argument in arguments if argument.startswith("--list=")}
    folders = [argument for argument in arguments if not argument.startswith("--")]
    texts = list(all_texts())
    banned = list(phrases())
    n_failed = 0
    for text in texts:
        if not is_below(text.path, folders):
            continue
        for pattern, kinds, instead in banned:
            match = text.kind in kinds and pattern.search(text.text)
            if match:
                print(f"{text.path}:{text.line}: \"{match.group()}\" in a {text.kind}\n    {instead}")
                n_failed += 1

    comments = [text for text in texts if text.kind == "comment"]
    clauses = [text for text in comments if CLAUSE.match(text.text)]
    share = len(clauses) / max(1, len(comments))
    if share > CLAUSE_MOST or "CLAUSE" in listed:
        show(clauses, folders, "CLAUSE" in listed, "start with the subject: \"The …\", or a verb")
    if share > CLAUSE_MOST:
        print(f"{100 * share:.1f} % of the comments open with a clause word; {100 * CLAUSE_MOST:.0f} % may")
        n_failed += 1
    for kind in ("comment", "string", "rule", "document"):
        n_failed += check_tell(kind, [text for text in texts if text.kind == kind], folders, listed)
    print(f"{len(comments)} comments, {100 * share:.1f} % open with a clause word")
    print(f"prose: {len(texts) - n_failed} passed, {n_failed} failed, 0 skipped")
    return 1 if n_failed else 0


def check_tell(kind, texts, folders, listed):
    n_words = sum(len(WORD.findall(text.text)) for text in texts)
    found = [text for text in texts for _ in TELL.findall(text.text)]
    rate = 1e4 * len(found) / max(1, n_words)
    if rate > TELL_MOST or "TELL" in listed:
        show(found, folders, "TELL" in listed, "report, show, say, name, know, distinguish")
    if rate <= TELL_MOST:
        return 0
    print(f"{kind}s have {rate:.0f} forms of \"tell\" in 10,000 words; {TELL_MOST} may stand there")
    return 1


def show(texts, folders, is_listed, instead):
    for text in [text for text in texts if is_below(text.path, folders)][:None if is_listed else SHOWN]:
        print(f"{text.path}:{text.line}: {text.text[:160]}\n    {instead}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
