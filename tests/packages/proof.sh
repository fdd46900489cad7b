#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Packages as a user gets them. Needs a network, root for other distributions, and minutes: a proof,
# no gate. PARTS="NAMES" runs some parts, with the packages that are below build/ already:
#   builds    all packages, twice, from nothing and in another folder: sizes, bytes, lintian, auditwheel
#   installs  pip under each Python found: from installing to the verdict, and away again
#   changes   two versions side by side; upgraded and removed while a run goes on
#   places    noexec and read-only folders, an old kernel, musl, old and new Debian without a compiler
#   foreign   the program for aarch64 under qemu
#   speed     instructions of the packaged program over those of make's
#   clusters  Podman and Slurm, with the lines of docs/howto/containers.md
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
parts=${PARTS:-builds installs changes places foreign speed clusters}
work=$(mktemp -d "${TMPDIR:-/tmp}/packages-XXXXXX") || exit 2
log=$work/log
trap 'umount "$work"/*/proc 2>/dev/null; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
version=$(sed -n 's/^VERSION := //p' Makefile)

# A job of a few seconds.
cat >"$work/train.py" <<'TRAIN'
def step():
    return sum(i * i for i in range(200000))
for i in range(300):
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
	[ "$(id -u)" -eq 0 ] && command -v debootstrap >/dev/null || {
		echo "needs root and debootstrap" >"$log"
		return 1
	}
	debootstrap --variant=minbase "$@" "$suite" "$folder" >"$log" 2>&1
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
