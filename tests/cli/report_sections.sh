# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# --section prints that section of --full, and pagers never stop a pipe.
. "$CASES/run.inc"
. "$CASES/import_trace.inc"
trace_of 20 4 >rank0.json
trainprof import -q -o prof rank0.json >/dev/null
trainprof report --section=parts prof
trainprof report --full prof >full
for section in parts steps devices findings files sources facts; do
	trainprof report --section=$section prof >part
	head -3 part | tail -1 >line
	grep -qxFf line full || echo "$section is not in --full"
done
trainprof report --section=part prof 2>&1 | cut -c1-50
trainprof report --json --section=parts prof 2>&1
said $?
echo '== no pager in a pipe'
PAGER='echo paged' trainprof report --full prof | cmp - full
PAGER='echo paged' trainprof --no-pager report --full prof | cmp - full
echo '== a page: to a file, to a pipe'
trainprof report --html -o page.html prof && trainprof report --html prof | cmp - page.html
head -2 page.html | tail -1
grep -c '<script' page.html
gzip -c page.html | wc -c | awk '{ print ($1 < 150000 ? "small" : $1) }'
