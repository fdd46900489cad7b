#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs slow programs and their fixed versions, and checks each page against the facts in its JSON, the
# number of steps that the program counted itself ("STEPS n SECONDS s") and the answer in case.json.
# proof_truth.sh TRAINPROF PROGRAMS [CASE]; PYTHON runs the programs (/usr/bin/python3)
set -u
trainprof=$1
programs=$2
only=${3:-}
python=${PYTHON:-/usr/bin/python3}
here=$(dirname "$0")
work=$(mktemp -d "${TMPDIR:-/tmp}/truth-XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
for program in "$programs"/*/; do
	name=$(basename "$program")
	case $name in *"$only"*) ;; *) continue ;; esac
	(
		cd "$program" || exit 1
		DATA=$work/$name.data
		export DATA PYTHONDONTWRITEBYTECODE=1
		if [ -e prepare.py ]; then
			"$python" prepare.py "$DATA" >/dev/null 2>&1 || exit 0
		fi
		for version in sick fixed; do
			timeout 120 "$trainprof" run -q -o "$work/$name.$version" -- "$python" $version.py \
				>"$work/$name.$version.said" 2>/dev/null || {
				echo "$name: $version.py does not run here"
				rm -rf "$work/$name.$version"
			}
		done
	)
done
# shellcheck disable=SC2046 # names without spaces
set -- $(find "$work" -mindepth 1 -maxdepth 1 -type d -name '*.*' ! -name '*.data' | sort)
python3 "$here/truth.py" --programs="$programs" "$trainprof" "$here/../../rules" "$@"
