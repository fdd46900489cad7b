# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# A folder of rules that the user names must contain rules: otherwise nothing starts.
mkdir empty families families/bottlenecks families/bottlenecks/input
mkdir project project/data
touch file project/package.json project/data/points.json
for words in --rules=/nosuch --rules=empty --rules=families --rules=project --rules=file --rules=; do
	trainprof run "$words" -o r -- touch started 2>&1
	echo "run $words: status $?"
	trainprof attach "$words" -o r $$ 2>&1
	echo "attach $words: status $?"
done
TRAINPROF_RULES=empty trainprof run -o r -- touch started 2>&1
echo "status $?"
ls
trainprof run -q --summary=none -o r -- true
for command in report 'report --json' 'explain --all' 'guide --plan'; do
	# shellcheck disable=SC2086
	trainprof $command --rules=/nosuch r >out 2>&1
	echo "$command: status $?"
	cat out
done
trainprof rules list --rules=empty 2>&1
echo "rules list: status $?"
