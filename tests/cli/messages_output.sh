# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Messages if the recording cannot be written or read.
. "$CASES/run.inc"
run -o prof -- true && echo first
run -o prof -- true 2>&1 | sed 's/[0-9]\{4\}-[0-9-]*/DATE/'
mkdir mine && touch mine/thesis.tex
run -o mine -- true 2>&1
said $?
run -o mine --force -- true 2>&1
said $?
run -o prof --force -- true && echo replaced
echo 'what is not replaced after all stays'
trainprof report --json -o before.json prof
run -o prof/ --force -- trian 2>&1
said $?
run -o prof --force --log=nowhere/log -- true 2>&1
said $?
run -o prof/ --force --require=perv -- true 2>/dev/null
said $?
trainprof report --json -o after.json prof && cmp before.json after.json && echo kept
touch prof/report.json.tmp12
run -o prof --force -- true && echo replaced
touch prof/report.json.bak
run -o prof --force -- true 2>&1
said $?
touch prof/marks.ring && run -o prof -- true 2>/dev/null || ls prof/marks.ring
ls -d prof*
rm prof/report.json.bak
run -o nowhere/prof -- true 2>&1
said $?
run --log=nowhere/log -- true 2>&1
said $?
trainprof report mine 2>&1
trainprof report nothing 2>&1
said $?
cd mine && trainprof report 2>&1
said $?
