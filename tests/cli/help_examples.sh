# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Rules and facts that help pages and the guide name exist.
for page in run report explain guide import rules doctor; do
	trainprof help $page
done >pages
for page in parts steps overhead facts metrics exit-status environment formats; do
	trainprof guide $page
done >>pages
n=0
for name in $(grep -oE '\b(input|host|compute|memory|communication|run)/[a-z][a-z-]+' pages | sort -u); do
	trainprof rules show "$name" >/dev/null && n=$((n + 1))
done
[ "$n" -ge 1 ] && echo "all rules exist"
