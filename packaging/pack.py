#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packs an installed tree into an archive, a wheel or a Debian package. The same tree gives the same bytes.

pack.py --version=V --arch=A --time=SECONDS [--platform=TAG] archive|wheel|deb TREE DIRECTORY

TREE is what `make install PREFIX=/ DESTDIR=TREE` has written. The file goes into DIRECTORY and its
name to standard output. Written without a build system for Python, because nothing is compiled at
installation: a wheel is a zip file with a list of hashes (packaging.python.org, "Binary distribution
format"), a Debian package an archive of ar with two tar files (deb(5)).
"""

import argparse
import base64
import gzip
import hashlib
import io
import os
import re
import sys
import tarfile
import time
import zipfile

SUMMARY = "Says what limits a training job, how sure that is, and what to change"
MODULE = "share/trainprof/python/"  # where the tree has the Python module
EARLIEST = 315532800  # 1980-01-01: zip files know no time before


def files_of(tree):
    """Paths of all files below the tree, relative and sorted."""
    found = []
    for folder, _, names in os.walk(tree):
        for name in names:
            found.append(os.path.relpath(os.path.join(folder, name), tree))
    return sorted(found)


def read(tree, path):
    with open(os.path.join(tree, path), "rb") as file:
        return file.read()


def is_program(tree, path):
    return os.access(os.path.join(tree, path), os.X_OK)


def write_whole(path, content):
    """A file that is there is whole."""
    with open(path + ".new", "wb") as file:
        file.write(content)
    os.replace(path + ".new", path)


def gzipped(content):
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", filename="", mtime=0) as zipped:
        zipped.write(content)
    return packed.getvalue()


def tar_of(options, entries, with_folders=False):
    """A packed tar file of (path, content, executable)."""
    packed = io.BytesIO()
    folders = set()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as tar:

        def add(path, kind, mode, content=b""):
            entry = tarfile.TarInfo(path)
            entry.type, entry.mode, entry.mtime, entry.size = kind, mode, options.time, len(content)
            entry.uname = entry.gname = "root"
            tar.addfile(entry, io.BytesIO(content))

        for path, content, is_executable in entries:
            above = path.split("/")[:-1]
            for i in range(1, len(above) + 1 if with_folders else 0):
                folder = "/".join(above[:i])
                if folder not in folders:
                    folders.add(folder)
                    add(folder + "/", tarfile.DIRTYPE, 0o755)
            add(path, tarfile.REGTYPE, 0o755 if is_executable else 0o644, content)
    return gzipped(packed.getvalue())


def pack_archive(options, tree):
    top = f"trainprof-{options.version}-linux-{options.arch}"
    entries = [(f"{top}/{path}", read(tree, path), is_program(tree, path)) for path in files_of(tree)]
    return f"{top}.tar.gz", tar_of(options, entries)


COPYRIGHT = """Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: trainprof

Files: *
Copyright: 2026 the authors of trainprof
License: Apache-2.0
 On Debian systems the text is in /usr/share/common-licenses/Apache-2.0.
"""

MAINTAINER = "The trainprof maintainers <trainprof@localhost>"
CHANGES = """trainprof ({version}) unstable; urgency=medium

  * See CHANGELOG.md.gz in this folder.

 -- {maintainer}  {date}
"""
# What lintian may find, and why it stays.
OVERRIDES = """# The maintainer's address is set when a release is signed.
trainprof: bogus-mail-host *
trainprof: bogus-mail-host-in-debian-changelog *
# The program is the same on all distributions, so it brings its libraries; versions.txt names them.
trainprof: embedded-library *
# A sample trace of the tutorial, whose checksum the tutorial shows.
trainprof: package-contains-timestamped-gzip *
"""


def changes(options):
    date = time.strftime("%a, %d %b %Y %H:%M:%S +0000", time.gmtime(options.time))
    return CHANGES.format(version=options.version, maintainer=MAINTAINER, date=date).encode()


def deb_entries(options, tree):
    """(path, content, executable) as Debian's policy wants them."""
    doc = "./usr/share/doc/trainprof/"
    yield doc + "copyright", COPYRIGHT.encode(), False
    with open("docs/CHANGELOG.md", "rb") as file:
        yield doc + "CHANGELOG.md.gz", gzipped(file.read()), False
    yield doc + "changelog.gz", gzipped(changes(options)), False
    yield "./usr/share/lintian/overrides/trainprof", OVERRIDES.encode(), False
    for path in files_of(tree):
        content = read(tree, path)
        if path.startswith("share/man/"):
            yield f"./usr/{path}.gz", gzipped(content), False
        elif path != "share/doc/trainprof/LICENSE":
            path = path.replace("share/zsh/site-functions/", "share/zsh/vendor-completions/")
            yield f"./usr/{path}", content, is_program(tree, path) and not path.endswith(".so")


def pack_deb(options, tree):
    arch = {"x86_64": "amd64", "aarch64": "arm64"}.get(options.arch, options.arch)
    entries = sorted(deb_entries(options, tree))
    sums = "".join(f"{hashlib.md5(content).hexdigest()}  {path[2:]}\n" for path, content, _ in entries)
    size = sum(len(content) // 1024 + 1 for _, content, _ in entries)
    control = (
        f"Package: trainprof\nVersion: {options.version}\nArchitecture: {arch}\n"
        f"Maintainer: {MAINTAINER}\n"
        f"Installed-Size: {size}\nDepends: libc6 (>= 2.17)\nSection: devel\nPriority: optional\n"
        "Description: find what limits a training program, and what to do about it\n"
        " Starts any training program unchanged, measures it at a small cost, and says\n"
        " what limits it, how sure that is, how much faster it could be, and what to\n"
        " change.\n"
    )
    parts = (
        ("debian-binary", b"2.0\n"),
        ("control.tar.gz", tar_of(options, [("./control", control.encode(), False), ("./md5sums", sums.encode(), False)])),
        ("data.tar.gz", tar_of(options, entries, with_folders=True)),
    )
    packed = b"!<arch>\n"
    for name, content in parts:
        packed += f"{name:<16}{options.time:<12}{0:<6}{0:<6}{'100644':<8}{len(content):<10}`\n".encode()
        packed += content + b"\n" * (len(content) % 2)
    return f"trainprof_{options.version}_{arch}.deb", packed


def without_relative_links(markdown):
    """The page of a package index shows the text alone: the documents are not there."""
    return re.sub(r"\[([^\]]*)\]\((?!https?:|#)[^)]*\)", r"\1", markdown)


def metadata(options):
    with open("README.md", encoding="utf-8") as file:
        readme = without_relative_links(file.read())
    head = [
        "Metadata-Version: 2.1",
        "Name: trainprof",
        f"Version: {options.version}",
        f"Summary: {SUMMARY}",
        "License: Apache-2.0",
        "Keywords: profiler,training,pytorch,performance",
        "Classifier: Environment :: Console",
        "Classifier: License :: OSI Approved :: Apache Software License",
        "Classifier: Operating System :: POSIX :: Linux",
        "Classifier: Programming Language :: C",
        "Classifier: Programming Language :: Python :: 3",
        "Requires-Python: >=3.8",
        "Description-Content-Type: text/markdown",
    ]
    return ("\n".join(head) + "\n\n" + readme).encode()


def wheel_name(options):
    platform = options.platform or f"manylinux_2_17_{options.arch}.manylinux2014_{options.arch}"
    return f"trainprof-{options.version}-py3-none-{platform}.whl", platform.split(".")


def wheel_entries(options, tree):
    """(path in the wheel, content, executable) of all but the list of hashes."""
    data = f"trainprof-{options.version}.data"
    info = f"trainprof-{options.version}.dist-info"
    for path in files_of(tree):
        content = read(tree, path)
        if path.startswith("bin/"):
            yield f"{data}/scripts/{path[len('bin/'):]}", content, True
            continue
        if path.startswith(MODULE):
            yield path[len(MODULE) :], content, False
        if path == "share/doc/trainprof/LICENSE" or path.startswith("share/doc/trainprof/licenses/"):
            yield f"{info}/licenses/{path[len('share/doc/trainprof/'):]}", content, False
        yield f"{data}/data/{path}", content, is_program(tree, path)
    tags = "".join(f"Tag: py3-none-{platform}\n" for platform in wheel_name(options)[1])
    about = f"Wheel-Version: 1.0\nGenerator: trainprof {options.version}\nRoot-Is-Purelib: false\n{tags}"
    yield f"{info}/METADATA", metadata(options), False
    yield f"{info}/WHEEL", about.encode(), False


def pack_wheel(options, tree):
    record_path = f"trainprof-{options.version}.dist-info/RECORD"
    when = time.gmtime(max(options.time, EARLIEST))[:6]
    record = []
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:

        def add(path, content, is_executable):
            entry = zipfile.ZipInfo(path, when)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix, wherever this runs: the mode counts
            entry.external_attr = (0o100755 if is_executable else 0o100644) << 16
            wheel.writestr(entry, content)

        for path, content, is_executable in wheel_entries(options, tree):
            add(path, content, is_executable)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=")
            record.append(f"{path},sha256={digest.decode()},{len(content)}\n")
        record.append(f"{record_path},,\n")
        add(record_path, "".join(record).encode(), False)
    return wheel_name(options)[0], packed.getvalue()


def main():
    parser = argparse.ArgumentParser(description="Packs an installed tree.")
    parser.add_argument("--version", required=True)
    parser.add_argument("--arch", required=True)
    parser.add_argument("--time", type=int, default=0)
    parser.add_argument("--platform", help="platform tag of the wheel; manylinux_2_17 if not given")
    parser.add_argument("form", choices=("archive", "wheel", "deb"))
    parser.add_argument("tree")
    parser.add_argument("directory")
    options = parser.parse_args()
    if not os.path.isfile(os.path.join(options.tree, "bin/trainprof")):
        sys.exit(f"pack.py: no bin/trainprof in {options.tree}")
    pack = {"archive": pack_archive, "wheel": pack_wheel, "deb": pack_deb}[options.form]
    name, content = pack(options, options.tree)
    path = os.path.join(options.directory, name)
    write_whole(path, content)
    print(path)


if __name__ == "__main__":
    main()
