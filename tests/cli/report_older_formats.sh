# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Recordings that programs of formats 1.0, 1.1 and 1.2 wrote are judged, explained and exported as
# those of today: a trainer whose loader waits.
for format in 1.0 1.1 1.2; do
	cp -r "$CASES/../data/recordings/format-$format" run
	grep -o '"trainprof-recording/[0-9.]*"' run/manifest.json
	trainprof report run | sed -n '2s/:.*//p; s/^\(WAITING FOR DATA\).*/\1/p'
	trainprof explain run 1 | sed -n '1s/  .*//p'
	trainprof export --to=csv run | wc -l
	rm -r run
done
