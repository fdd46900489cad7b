# shellcheck shell=sh
# What is said when the recording cannot be written or read.
. "$CASES/run.inc"
run -o prof -- true && echo first
run -o prof -- true 2>&1 | sed 's/[0-9]\{4\}-[0-9-]*/DATE/'
mkdir mine && touch mine/thesis.tex
run -o mine -- true 2>&1
said $?
run -o mine --force -- true 2>&1
said $?
run -o prof --force -- true && echo replaced
run -o nowhere/prof -- true 2>&1
said $?
run --log=nowhere/log -- true 2>&1
said $?
trainprof report mine 2>&1
trainprof report nothing 2>&1
said $?
cd mine && trainprof report 2>&1
said $?
