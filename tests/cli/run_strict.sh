# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# --strict turns an incomplete measurement of a successful program into 125, and changes nothing
# else.
. "$CASES/run.inc"
run -o a --strict -- true
said $?
run -o b --strict -- false
said $?
run -o c --strict --max-size=1B -- true 2>&1 | sed 's/after [0-9:]*/after TIME/'
run -o d --strict --max-size=1B -- true 2>/dev/null
said $?
run -o e --max-size=1B -- true 2>/dev/null
said $?
run -o f --strict --max-size=1B -- false 2>/dev/null
said $?
