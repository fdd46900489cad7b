#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# make_docs.sh TRAINPROF PROGRAMS: copies the summary of a real run into README.md, and draws the
# screens of docs/viewer.md from the same run.
set -eu
trainprof=$1
programs=$2
docs=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/docs-XXXXXX")
trap 'rm -rf "$work"' EXIT
cp "$programs/trainer" "$work/train"
cd "$work"
"$trainprof" run -q --summary none -o demo -- ./train --data data --side 128 --workers 1 --decode 3 \
	--steps 100000 --milliseconds 15000 --marks steps > /dev/null
"$trainprof" report --width 80 demo > summary
picture() { # picture NAME KEYS: the viewer's screen after these keys
	LC_ALL=C.UTF-8 "$trainprof" view --width 80 --keys "$2" --print svg demo > "$docs/pictures/$1.svg"
}
mkdir -p "$docs/pictures"
picture view-overview ''
picture view-part '<Enter>'
picture view-steps '2w'
picture view-lanes '2w<Enter>'
picture view-flame '4f<Down><Down><Down>'
awk -v summary="$work/summary" '
	/<!-- summary:/ {
		print
		print "```text"
		while ((getline line < summary) > 0)
			print line
		print "```"
		skipping = 1
	}
	/<!-- end of summary -->/ { skipping = 0 }
	!skipping && !/<!-- summary:/
' "$docs/../README.md" > readme
cp readme "$docs/../README.md"
