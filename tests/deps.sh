#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs the missing Debian packages; without the right to do so, prints the command that would.
# deps.sh PACKAGE...
set -u
if ! command -v dpkg-query >/dev/null; then
	echo "deps: not a Debian system; needed are what Debian calls: $*" >&2
	exit 0 # the build itself reports missing parts
fi
missing=
for package in "$@"; do
	dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
		missing="$missing $package"
done
[ -n "$missing" ] || exit 0
if [ "$(id -u)" -eq 0 ]; then
	sudo=
elif sudo -n true 2>/dev/null; then
	sudo=sudo
else
	echo "missing packages:$missing" >&2
	echo "next: sudo apt-get install -y$missing" >&2
	exit 1
fi
echo "installing:$missing"
# Lists may be missing or old; a failed update alone is no reason to stop.
DEBIAN_FRONTEND=noninteractive
export DEBIAN_FRONTEND
# shellcheck disable=SC2086 # words on purpose
$sudo apt-get install -y -q --no-install-recommends $missing >/dev/null 2>&1 || {
	$sudo apt-get update -q >/dev/null
	$sudo apt-get install -y -q --no-install-recommends $missing >/dev/null || {
		echo "next: apt-get install -y$missing" >&2
		exit 1
	}
}
