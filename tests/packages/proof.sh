#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Packages as a user gets them. Needs a network, root for other distributions, and minutes: a proof,
# no gate. PARTS="NAMES" runs some parts, with the packages that are below build/ already; ROOTS=FOLDER
# keeps the Debians that are fetched for the next time:
#   builds     all packages: sizes, what they need, lintian, auditwheel
#   again      the same from nothing and in another folder: the same bytes
#   installs   pip under each Python found: from installing to the verdict, and away again
#   user       the commands of the README, by a user whom this machine has never seen
#   changes    two versions side by side; upgraded and removed while a run goes on
#   places     noexec and read-only folders, an old kernel, musl
#   old-debian Debian 11 without a compiler: archive, dpkg -i, purge
#   new-debian Debian's development branch without a compiler, Python 3.14
#   foreign    the program for aarch64 under qemu
#   speed      instructions of the packaged program over those of make's
#   clusters   Podman and Slurm, with the lines of docs/howto/containers.md
#   apptainer  the same for Apptainer
# shellcheck disable=SC2034 # the parts use wheel, archive, deb
set -u
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/claims.inc
. tests/claims.inc
SHOW_PASSED=1
unset MAKEFLAGS
make() { # make ARGUMENT...: with all CPUs
	command "${MAKE:-make}" -s -j"$(nproc)" "$@"
}
parts=${PARTS:-builds again installs user changes places old-debian new-debian foreign speed clusters apptainer}
work=$(mktemp -d "${TMPDIR:-/tmp}/packages-XXXXXX") || exit 2
log=$work/log
trap 'umount "$work"/*/proc 2>/dev/null; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
version=$(sed -n 's/^VERSION := //p' Makefile)

# A job of four seconds or more: a verdict needs two.
cat >"$work/train.py" <<'TRAIN'
def step():
    return sum(i * i for i in range(200000))
for i in range(700):
    step()
TRAIN

last() { # last: the log's last line
	tail -1 "$log"
}
said() { # said WORDS...: each is in the log
	for word in "$@"; do
		grep -qF -- "$word" "$log" || return 1
	done
}
has_verdict() { # has_verdict SCRIPT: the log is a summary of it that judges
	said "$1" 'Next: trainprof' && grep -Eq '^[A-Z][A-Z ]{3,}  ' "$log" && ! grep -Eq '^(TOO SHORT|CANNOT)' "$log"
}
names_job() { # names_job PROGRAM RUN: its report names the script
	"$1" report --json "$2" 2>/dev/null | grep -q 'train\.py'
}
files_in() { # files_in FOLDER
	(cd "$1" && find . -path ./proc -prune -o -path ./root -prune -o -path ./tmp -prune -o -path ./var/log -prune -o -type f -print | sort)
}
# A Debian without a compiler. distribution SUITE FOLDER [OPTION...]
distribution() {
	suite=$1
	folder=$2
	shift 2
	kept=${ROOTS:-$work}/$suite-$(echo "$*" | cksum | cut -d' ' -f1).tar
	if [ -s "$kept" ]; then
		mkdir -p "$folder" && tar -xf "$kept" -C "$folder"
	elif [ "$(id -u)" -ne 0 ] || ! command -v debootstrap; then
		echo "needs root and debootstrap"
		false
	else
		debootstrap --variant=minbase "$@" "$suite" "$folder" &&
			{ [ -z "${ROOTS:-}" ] || { mkdir -p "$ROOTS" && tar -cf "$kept.new" -C "$folder" . && mv "$kept.new" "$kept"; }; }
	fi >"$log" 2>&1
}
# Debian's development branch has Python 3.14, the newest glibc, and Apptainer.
newest_distribution() { # newest_distribution FOLDER
	distribution sid "$1" --include=python3.14-venv,apptainer
}
page=docs/howto/containers.md
# lines_of HEADING: the first shell lines below a heading of that page
lines_of() {
	awk -v heading="## $1" '$0 == heading { found = 1 } found && /^```/ && inside { exit } inside; found && /^```sh/ { inside = 1 }' "$page"
}
# in_box SCRIPT: in the Debian in $box, with mounts that end with it. Apptainer refuses a mere chroot.
box=$work/box
in_box() {
	# shellcheck disable=SC2016 # for the inner shell
	timeout 200 unshare -m sh -c 'mount --bind "$1" "$1" && mkdir -p "$1/proc" "$1/sys" "$1/dev" "$1/.outside" &&
		mount -t proc proc "$1/proc" && mount --rbind /sys "$1/sys" && mount --rbind /dev "$1/dev" &&
		cd "$1" && pivot_root . .outside && umount -l /.outside &&
		exec /usr/bin/env -i PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 sh -c "$2"' sh "$box" "$1" >"$log" 2>&1
}

wheel=build/trainprof-$version-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl
archive=build/trainprof-$version-linux-x86_64.tar.gz
deb=build/trainprof_${version}_amd64.deb
for part in $parts; do
	echo "-- $part"
	# shellcheck source=/dev/null
	. "tests/packages/$part.inc"
done
sum_up proof-packages
