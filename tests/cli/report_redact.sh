# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# --redact: no output contains the command, folders or the machine's name.
. "$CASES/run.inc"
command -v python3 >/dev/null || { echo 'no python3 here' >&2; exit 77; }
mkdir -p "$PWD/very/secretfolder" && cd very/secretfolder || exit 2
cat >main.py <<'P'
import sys, time
def work():
    total = 0
    for i in range(3000000):
        total += i * i
    return total
work()
open(sys.argv[0]).read()
P
OMP_NUM_THREADS=37 run -o prof -- python3 "$PWD/main.py" --wordofmine=hush77x
host=$(uname -n)
# leaks FILE: prints the words that it contains
leaks() {
	for word in secretfolder wordofmine hush77x "\"$host\"" '"37"'; do
		grep -q -- "$word" "$1" && echo "$word"
	done | sed "s/$host/HOST/" | tr '\n' ' '
	echo
}
trainprof report --json prof >all
echo "without it: $(leaks all)"
for way in 'report --full' 'report --json' 'report --markdown' 'report --html' 'explain' \
	'export --to=speedscope' 'export --to=chrome' 'export --to=csv-stacks' 'export --to=openmetrics'; do
	# The words are meant to be split.
	# shellcheck disable=SC2086
	trainprof $way --redact=command,paths,hosts,env prof >out 2>&1
	for word in secretfolder wordofmine hush77x "\"$host\"" '"37"'; do
		grep -q -- "$word" out && echo "$way: $word"
	done
done
echo '== one of them each'
for what in command paths hosts env; do
	trainprof report --json --redact=$what prof >out
	# Without the command, only a stack that was sampled in main.py can name its folder.
	[ $what = command ] && sed -i s/secretfolder/folder/g out
	echo "$what: $(leaks out)"
done
echo '== what is not known'
trainprof report --redact=foo prof 2>&1
said $?
trainprof report --json --redact=all prof >report.json && trainprof report --validate report.json
