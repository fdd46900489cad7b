#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs trainprof's own counting and permission code as the first program of an emulated arm64
# machine, under Debian's kernel: a real PMU (of the emulator), perf_event_paranoid 3, Yama, cgroups.
# run.sh BUILD_DIRECTORY. Missing packages are installed when we are root; kept under build/qemu.
set -u
out=$1
kernel=$out/vmlinuz
cross=aarch64-linux-gnu-gcc
mkdir -p "$out"

skip() {
	echo "skipped: $1"
	echo "proof-qemu: 0 passed, 0 failed, 1 skipped"
	exit 0
}

# tries_of COMMAND...: retries a fetch from a network that may fail for a moment
tries_of() {
	for _ in 1 2 3; do
		DEBIAN_FRONTEND=noninteractive timeout 300 "$@" && return 0
		sleep 5
	done
	return 1
}

missing=
command -v qemu-system-aarch64 > /dev/null || missing="$missing qemu-system-arm"
command -v $cross > /dev/null || missing="$missing gcc-aarch64-linux-gnu"
[ -e /usr/aarch64-linux-gnu/include/stdio.h ] || missing="$missing libc6-dev-arm64-cross"
command -v cpio > /dev/null || missing="$missing cpio"
if [ -n "$missing" ]; then
	command -v apt-get > /dev/null || skip "missing:$missing"
	[ "$(id -u)" -eq 0 ] || skip "missing: apt-get install$missing"
	echo "installing:$missing"
	# shellcheck disable=SC2086 # a list of words
	tries_of apt-get install -y -q --no-install-recommends $missing > "$out/apt.log" 2>&1 || skip "apt-get install$missing fails, see $out/apt.log"
fi

# Debian's arm64 kernel, with separate package lists: the machine's are for another architecture.
fetch_kernel() {
	state=$(cd "$out" && pwd)/apt
	mkdir -p "$state/lists/partial" "$state/archives/partial" "$state/parts"
	: > "$state/status"
	# shellcheck disable=SC2016 # apt's own
	mirror=$(apt-get indextargets --format '$(REPO_URI) $(ORIGIN) $(CODENAME)' 'Created-By: Packages' |
		sed -n 's/ Debian bookworm$//p' | head -1)
	[ -n "$mirror" ] || { echo "apt knows no mirror of Debian 12"; return 1; }
	printf '%s\n' 'Types: deb' "URIs: $mirror" 'Suites: bookworm' \
		'Components: main' 'Architectures: arm64' \
		'Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg' \
		> "$state/parts/arm64.sources"
	set -- -q -o APT::Architecture=arm64 -o APT::Architectures=arm64 \
		-o Dir::Etc::SourceList=/dev/null -o "Dir::Etc::SourceParts=$state/parts" \
		-o "Dir::State=$state" -o "Dir::State::Lists=$state/lists" \
		-o "Dir::State::status=$state/status" -o "Dir::Cache=$state"
	tries_of apt-get "$@" update || return 1
	package=$(apt-cache "$@" show linux-image-cloud-arm64 |
		sed -n 's/^Depends: \(linux-image-[^ ,]*\).*/\1/p' | head -1)
	[ -n "$package" ] || return 1
	(cd "$state" && tries_of apt-get "$@" download "$package") || return 1
	dpkg-deb --fsys-tarfile "$state/$package"_*.deb |
		tar -x -O --wildcards './boot/vmlinuz-*' > "$kernel.new" || return 1
	[ -s "$kernel.new" ] && mv "$kernel.new" "$kernel"
	rm -rf "$state"
}
if [ ! -s "$kernel" ]; then
	command -v apt-get > /dev/null || skip "no kernel: apt-get is missing"
	echo "fetching Debian's arm64 kernel (21 MB)"
	fetch_kernel > "$out/fetch.log" 2>&1 || skip "the kernel cannot be fetched, see $out/fetch.log"
fi

# The linker takes what the guest needs from an archive of all objects that need neither a library
# beyond the C library nor the build's own definitions.
cross_build() {
	rm -rf "$out/obj" && mkdir -p "$out/obj" || return 1
	find src/base src/model src/collect -name '*.c' | sort | while read -r file; do
		grep -q '^#include <\(cjson\|elfutils\|zlib\|sqlite3\)\|BUILD_COMMIT' "$file" && continue
		echo "$file"
	done > "$out/sources"
	export compile="$cross -O2 -std=c11 -D_GNU_SOURCE -Wall -Wextra -Wno-format-truncation -Werror -Iinclude -Isrc"
	# shellcheck disable=SC2016 # for the inner shell
	xargs -P "$(nproc)" -n 8 sh -c 'out=$0; for file; do
		$compile -DTP_HAVE_PFM=0 -c "$file" -o "$out/obj/$(echo "${file%.c}" | tr / -).o" || exit 255
	done' "$out" < "$out/sources" || return 1
	ar rcs "$out/obj/parts.a" "$out"/obj/*.o &&
		$compile -static -o "$out/init" tests/qemu/*.c "$out/obj/parts.a" -lm -lpthread
}
cross_build > "$out/cc.log" 2>&1 || {
	tail -20 "$out/cc.log"
	echo "proof-qemu: 0 passed, 1 failed, 0 skipped"
	exit 1
}
(cd "$out" && echo init | cpio -o -H newc --quiet | gzip -1 > initrd.gz)

# Minutes are for busy machines; the guest has its own clock.
timeout 600 qemu-system-aarch64 -M virt -cpu cortex-a57 -smp 1 -m 256 -nographic -nic none -no-reboot \
	-icount shift=0 -kernel "$kernel" -initrd "$out/initrd.gz" \
	-append 'console=ttyAMA0 quiet panic=-1 rdinit=/init' < /dev/null > "$out/console.log" 2>&1
status=$?
tr -d '\r' < "$out/console.log" | grep '^guest: ' > "$out/guest.log"
grep 'NOT OK' "$out/guest.log"
[ "${V:-0}" = 0 ] || cat "$out/guest.log"
counts=$(sed -n 's/^guest: \([0-9]* passed, [0-9]* failed\)$/\1/p' "$out/guest.log")
if [ -z "$counts" ]; then
	tail -20 "$out/console.log"
	echo "the guest did not reach its end (status $status)"
	echo "proof-qemu: $(grep -c ': ok:' "$out/guest.log") passed, 1 failed, 0 skipped"
	exit 1
fi
echo "proof-qemu: $counts, 0 skipped"
case $counts in *" 0 failed") exit 0 ;; *) exit 1 ;; esac
