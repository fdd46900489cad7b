#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# An archive and a wheel of the local build are complete and reproducible, and work where they are
# unpacked. packages.sh BUILD
set -u
# shellcheck source=tests/claims.inc
. "$(dirname "$0")/../claims.inc"
build=$1
work=$(mktemp -d "${TMPDIR:-/tmp}/packages-XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
command -v python3 >/dev/null || {
	echo "packages: no python3, which packs them"
	echo "packages: 0 passed, 0 failed, 1 skipped"
	exit 0
}

"${MAKE:-make}" -s --no-print-directory install DESTDIR="$work/stage" PREFIX=/ >"$work/log" 2>&1
claim $? "make install: $(tail -3 "$work/log")"
pack() { # pack FORM TREE DIRECTORY: prints the path
	mkdir -p "$3"
	python3 packaging/pack.py --version=9.8.7 --arch=test --time=1700000000 --platform=linux_test "$1" "$2" "$3"
}
archive=$(pack archive "$work/stage" "$work/one")
claim $? "the archive is packed"
wheel=$(pack wheel "$work/stage" "$work/one")
claim $? "the wheel is packed"

deb=$(pack deb "$work/stage" "$work/one")
claim $? "the Debian package is packed"

# The same files written later and in another order give the same bytes.
mkdir "$work/copy"
(cd "$work/stage" && find . -type f | sort -r | tar -cf - -T -) | tar -xf - -C "$work/copy"
find "$work/copy" -exec touch -d 2020-01-01 {} +
for form in archive wheel deb; do
	pack $form "$work/copy" "$work/two" >/dev/null
	claim $? "the $form is packed again"
done
cmp -s "$archive" "$work/two/${archive##*/}"
claim $? "an archive is the same each time"
cmp -s "$wheel" "$work/two/${wheel##*/}"
claim $? "a wheel is the same each time"
cmp -s "$deb" "$work/two/${deb##*/}"
claim $? "a Debian package is the same each time"
if command -v dpkg >/dev/null; then
	root=$work/root
	mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates" "$root/tmp"
	: >"$root/var/lib/dpkg/status"
	in_root() { dpkg --root="$root" --force-depends --force-not-root --force-architecture --log="$work/dpkg.log" "$@" >"$work/log" 2>&1; }
	in_root -i "$deb"
	claim $? "dpkg installs it: $(tail -1 "$work/log")"
	(cd / && "$root/usr/bin/trainprof" rules test >/dev/null)
	claim $? "the installed program finds its rules"
	in_root --verify trainprof && [ ! -s "$work/log" ]
	claim $? "its sums are right: $(tail -1 "$work/log")"
	in_root --purge trainprof
	[ -z "$(find "$root" -path "$root/var" -prune -o ! -type d -print)" ] && [ ! -e "$root/usr" ]
	claim $? "purge leaves nothing: $(find "$root/usr" 2>/dev/null | head -2)"
fi

tar -xzf "$archive" -C "$work"
(cd / && "$work/trainprof-9.8.7-linux-test/bin/trainprof" rules test >/dev/null)
claim $? "the program finds its rules in the unpacked archive"
[ "$(cd "$work/stage" && find . -type f | wc -l)" -eq "$(tar -tzf "$archive" | wc -l)" ]
claim $? "the archive holds all installed files"

python3 - "$wheel" "$work/stage" <<'CHECK'
import base64, csv, hashlib, io, os, sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
names = wheel.namelist()
record = next(name for name in names if name.endswith(".dist-info/RECORD"))
rows = {row[0]: row for row in csv.reader(io.StringIO(wheel.read(record).decode()))}
assert sorted(rows) == sorted(names), "RECORD lists other files than the wheel holds"
for name, (_, digest, size) in rows.items():
    if name == record:
        continue
    content = wheel.read(name)
    expected = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    assert digest == "sha256=" + expected and int(size) == len(content), name
script = wheel.getinfo("trainprof-9.8.7.data/scripts/trainprof")
assert script.external_attr >> 16 & 0o111, "the program is not executable"
installed = sum(len(files) for _, _, files in os.walk(sys.argv[2]))
in_data = sum(1 for name in names if ".data/" in name)
assert installed == in_data, f"{installed} files installed, {in_data} in the wheel"
CHECK
claim $? "the wheel's list of hashes fits what it holds"
mkdir "$work/empty"
pack wheel "$work/empty" "$work/three" >/dev/null 2>"$work/said"
[ $? -eq 1 ] && grep -q 'no bin/trainprof' "$work/said" && [ -z "$(ls "$work/three")" ]
claim $? "a folder without a program is refused"
[ -x "$build/trainprof" ]
claim $? "what was built stays"
sum_up packages
