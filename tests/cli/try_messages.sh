# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# A trial that is not possible is refused before anything starts, with the reason.
. "$CASES/try.inc"
rule waits ''
run -o plain -- ./program
trainprof try --rules=mine plain host/waits >page
said $?
sed 's/^ *[0-9]*  //' page
trainprof try --rules=mine plain 777
said $?
trainprof try --rules=mine plain host/nosuch
said $?
run -o secret -- ./program --api-key=abcdefgh
trainprof try --rules=mine secret
said $?
trainprof try --rules=mine nosuch
said $?
trainprof try --rules=mine nosuch 1
said $?
rule waits ', "example": "FAST=1 ./other", "apply": true'
trainprof try --rules=mine plain
said $?
trainprof try --all plain 1
said $?
# A variable that the command sets itself would not arrive.
rule waits ', "example": "FAST=1 %COMMAND", "apply": true'
run -o sets -- sh -c 'FAST= ./program'
trainprof try --rules=mine sets >page
said $?
sed 's/^ *[0-9]*  //' page
run -o env -- env FAST= ./program
trainprof explain --rules=mine env host/waits | grep -A1 '   env FAST'
