# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Messages for wrong uses of run: no program is started, no files are left.
for words in '' '--' '--duraton=9s -- true' '--duration=90 -- true' '--max-size 2 true' \
	'--max-overhead=1 -- true' '--skip=few -- true' '--steps=nvtx -- true' \
	'--summary=shrt -- true' '--collect=perv -- true' '--require=perv -- true' '--strict=yes -- true' '-o'; do
	echo "trainprof run $words"
	# shellcheck disable=SC2086
	trainprof run $words 2>&1
	echo "status $?"
done
ls
