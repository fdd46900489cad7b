# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# A daemon that the program leaves running neither delays the end of run nor dies with it.
. "$CASES/run.inc"
start=$(date +%s)
run -o prof -- daemon_parent 300 pid
said $?
[ $(($(date +%s) - start)) -lt 60 ] && echo at once
wait_for pid
kill -0 "$(cat pid)" && echo alive
kill "$(cat pid)"
