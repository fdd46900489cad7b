#!/bin/sh
# facts.sh TRAINPROF: prints docs/facts.md
set -eu
# shellcheck disable=SC2016 # the backquotes are Markdown
printf '# Facts\n\nThe words that rules, budgets and reports use, written by `make docs`.\n\n```text\n'
"$1" guide facts
printf '```\n'
