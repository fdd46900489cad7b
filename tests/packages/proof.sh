#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Packages as a user gets them: built twice, checked by auditwheel, installed into environments of
# all Pythons found here, run under the glibc of an old Debian and as a program for aarch64. Needs a
# network, root for the old Debian, and minutes: a proof, no gate.
set -u
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/claims.inc
. tests/claims.inc
SHOW_PASSED=1
make=${MAKE:-make}
unset MAKEFLAGS
work=$(mktemp -d "${TMPDIR:-/tmp}/packages-XXXXXX") || exit 2
trap 'umount "$work/root/proc" "$work/new/proc" 2>/dev/null; rm -rf "$work"' EXIT

"$make" -s archive wheel deb ARCH=x86_64 >"$work/log" 2>&1
claim $? "make archive wheel: $(tail -3 "$work/log")"
wheel=$(ls -t build/trainprof-*manylinux*_x86_64.whl | head -1)
archive=$(ls -t build/trainprof-*-linux-x86_64.tar.gz | head -1)
deb=$(ls -t build/trainprof_*_amd64.deb | head -1)
echo "wheel: $(wc -c <"$wheel") bytes"
[ "$(wc -c <"$wheel")" -le 8388608 ]
claim $? "the wheel is at most 8 MiB"

cp "$wheel" "$archive" "$deb" "$work/"
rm -rf build/portable-x86_64
"$make" -s archive wheel deb ARCH=x86_64 >"$work/log" 2>&1
cmp "$wheel" "$work/${wheel##*/}" && cmp "$archive" "$work/${archive##*/}" &&
	cmp "$deb" "$work/${deb##*/}"
claim $? "compiled again, all three are the same bytes"
for copy in one two; do
	"$make" -s dist >/dev/null && mv build/trainprof-[0-9]*[0-9].tar.gz "$work/dist-$copy"
done
cmp "$work/dist-one" "$work/dist-two"
claim $? "make dist gives the same bytes twice"

newest=$(objdump -T build/portable-x86_64/trainprof | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -1)
[ "$newest" = GLIBC_2.17 ]
claim $? "the program asks for no glibc newer than 2.17: $newest"
if command -v lintian >/dev/null; then
	lintian --allow-root "$deb" >"$work/log" 2>&1
	! grep -q '^E:' "$work/log"
	claim $? "lintian finds no error: $(grep -c '^W:' "$work/log") warnings"
else
	skip "lintian is not installed"
fi
if [ -x /lib/ld-musl-x86_64.so.1 ]; then
	/lib/ld-musl-x86_64.so.1 build/portable-x86_64/trainprof --version >"$work/log" 2>&1
	[ $? -ne 0 ] && grep -q 'ld-linux-x86-64.so.2' "$work/log"
	claim $? "musl's loader names the library of glibc that it lacks: $(head -1 "$work/log")"
else
	skip "musl: needs Debian's musl"
fi

python3 -m venv "$work/tools" && "$work/tools/bin/pip" install -q auditwheel >"$work/log" 2>&1
claim $? "auditwheel can be installed: $(tail -1 "$work/log")"
"$work/tools/bin/auditwheel" show "$wheel" | tr '\n' ' ' | grep -q '"manylinux_2_17_x86_64"'
claim $? "auditwheel finds manylinux_2_17"

foreign=$work/$(basename "$wheel" | sed 's/x86_64/aarch64/g')
cp "$wheel" "$foreign"
"$work/tools/bin/pip" install -q --no-index "$foreign" >"$work/log" 2>&1
[ $? -ne 0 ] && grep -q 'not a supported wheel on this platform' "$work/log"
claim $? "pip refuses the wheel of another processor"

cat >"$work/train.py" <<'TRAIN'
def step():
    return sum(i * i for i in range(200000))
for i in range(100):
    step()
TRAIN
for python in "$HOME"/.pyenv/versions/3.*/bin/python /usr/bin/python3; do
	"$python" -c 'import sys; sys.exit(sys.version_info < (3, 8))' 2>/dev/null || continue
	version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
	environment=$work/env-$version
	[ ! -d "$environment" ] || continue
	begun=$(date +%s%N)
	"$python" -m venv "$environment" 2>/dev/null && "$environment/bin/pip" install -q "$wheel" >"$work/log" 2>&1
	claim $? "pip installs under Python $version: $(tail -1 "$work/log")"
	(cd "$work" && "$environment/bin/python" -m trainprof run -q -o "run-$version" -- "$environment/bin/python" train.py) >"$work/log" 2>&1
	claim $? "python -m trainprof run under Python $version: $(tail -1 "$work/log")"
	(cd "$work" && "$environment/bin/trainprof" report --json "run-$version" >report.json 2>/dev/null) &&
		grep -q 'train.py' "$work/report.json"
	claim $? "the report of Python $version names the script"
	echo "Python $version: install to report in $((($(date +%s%N) - begun) / 1000000)) ms"
	"$environment/bin/pip" uninstall -q -y trainprof >/dev/null 2>&1
	[ -z "$(find "$environment" -name '*trainprof*')" ]
	claim $? "pip uninstall leaves nothing under Python $version"
done

# Debian 11 has glibc 2.31.
if [ "$(id -u)" -ne 0 ]; then
	skip "an old Debian: needs root"
elif ! command -v debootstrap >/dev/null; then
	skip "an old Debian: needs debootstrap"
elif ! debootstrap --variant=minbase --include=python3-minimal bullseye "$work/root" >"$work/log" 2>&1; then
	skip "an old Debian: $(tail -1 "$work/log")"
else
	mount -t proc proc "$work/root/proc"
	tar -xzf "$archive" -C "$work/root/opt"
	cp "$work/train.py" "$work/root/root/"
	chroot "$work/root" sh -c 'cd /root && /opt/trainprof-*/bin/trainprof run -q -o run -- /usr/bin/python3 train.py' >"$work/log" 2>&1
	claim $? "runs under glibc 2.31: $(tail -1 "$work/log")"
	chroot "$work/root" sh -c '/opt/trainprof-*/bin/trainprof report --json /root/run' 2>/dev/null | grep -q 'train.py'
	claim $? "reports under glibc 2.31"
	files() { (cd "$work/root" && find bin etc lib opt sbin usr -type f | sort); }
	files >"$work/files-before"
	cp "$deb" "$work/root/root/trainprof.deb"
	chroot "$work/root" sh -c 'dpkg -i /root/trainprof.deb && trainprof rules test' >"$work/log" 2>&1
	claim $? "dpkg -i in a clean Debian 11: $(tail -1 "$work/log")"
	chroot "$work/root" dpkg --purge trainprof >"$work/log" 2>&1
	files | cmp -s - "$work/files-before" && [ ! -e "$work/root/usr/share/trainprof" ]
	claim $? "purge leaves nothing: $(tail -1 "$work/log")"
	umount "$work/root/proc"
fi

# Debian's development branch has Python 3.14, and the newest glibc.
if [ "$(id -u)" -ne 0 ] || ! command -v debootstrap >/dev/null; then
	skip "Python 3.14: needs root and debootstrap"
elif ! debootstrap --variant=minbase --include=python3.14-venv sid "$work/new" >"$work/log" 2>&1; then
	skip "Python 3.14: $(tail -1 "$work/log")"
else
	mount -t proc proc "$work/new/proc"
	cp "$work/train.py" "$wheel" "$work/new/root/"
	chroot "$work/new" sh -c 'cd /root && python3.14 -m venv env && env/bin/pip install -q --no-index ./*.whl &&
		env/bin/python -m trainprof run -q -o run -- env/bin/python train.py &&
		env/bin/trainprof report --json run >report.json && grep -q train.py report.json' >"$work/log" 2>&1
	claim $? "installs, runs and reports under Python 3.14 and a new glibc: $(tail -1 "$work/log")"
	umount "$work/new/proc"
fi

emulator=$(command -v qemu-aarch64-static || command -v qemu-aarch64)
if [ -z "$emulator" ]; then
	skip "aarch64: needs qemu-user-static"
else
	"$make" -s archive wheel ARCH=aarch64 >"$work/log" 2>&1
	claim $? "make archive wheel ARCH=aarch64: $(tail -3 "$work/log")"
	tar -xzf "$(ls -t build/trainprof-*-linux-aarch64.tar.gz | head -1)" -C "$work"
	libraries=$work/aarch64
	if debootstrap --foreign --arch=arm64 --variant=minbase bullseye "$libraries" >"$work/log" 2>&1; then
		"$emulator" -L "$libraries" "$work"/trainprof-*-linux-aarch64/bin/trainprof version | grep -q trainprof
		claim $? "the program for aarch64 starts"
		"$emulator" -L "$libraries" "$work"/trainprof-*-linux-aarch64/bin/trainprof report --json \
			"$work/$(cd "$work" && ls -d run-* | head -1)" >"$work/report-aarch64.json" 2>"$work/log"
		claim $? "the program for aarch64 reads a recording: $(tail -1 "$work/log")"
	else
		skip "aarch64: no libraries to run with: $(tail -1 "$work/log")"
	fi
fi
sum_up proof-packages
