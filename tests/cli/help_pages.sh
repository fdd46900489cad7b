# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# All help pages are at most 80 columns wide; narrow screens wrap them.
trainprof
for command in run attach report explain advise guide import rules doctor completion version help; do
	trainprof help $command >"$command.help" || echo "help $command failed"
	trainprof $command -h >>"$command.help" || echo "$command -h failed"
	awk -v c=$command 'length($0) > 80 { print c ": " $0 }' "$command.help"
	trainprof --width=44 $command --help | awk -v c=$command 'length($0) > 44 { print c ": " $0 }'
done
trainprof run -h
trainprof help run | sed -n '/What to measure/,$p'
trainprof help options
