# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# What is said when run is used wrongly: nothing is started, nothing is left behind.
for words in '' '--' '--duraton=9s -- true' '--duration=90 -- true' '--max-size 2 true' \
	'--max-overhead=1 -- true' '--skip=few -- true' '--steps=nvtx -- true' \
	'--summary=shrt -- true' '--collect=perv -- true' '--require=perv -- true' '--strict=yes -- true' '-o'; do
	echo "trainprof run $words"
	# shellcheck disable=SC2086
	trainprof run $words 2>&1
	echo "status $?"
done
ls
