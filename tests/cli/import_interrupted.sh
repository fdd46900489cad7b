# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# An interrupted import leaves no files, and the recording that --force was to replace is unchanged.
. "$CASES/run.inc"
. "$CASES/import_trace.inc"
trace_of 20 4 >rank0.json
mkfifo slow.json

# is_another RECORDING INODE: it exists and is not the one that was renamed first
is_another() {
	now=$(stat -c %i "$1/records.tpr" 2>/dev/null) && [ "$now" != "$2" ]
}

# interrupt OPTION...: imports a file that does not end, and stops in the middle
old=
interrupt() {
	exec 3<>slow.json
	head -c 6000 rank0.json >&3
	trainprof import -o prof "$@" slow.json >stdout 2>stderr &
	job=$!
	until_true is_another prof "$old"
	kill -TERM $job
	wait $job 2>/dev/null
	said $?
	exec 3>&-
	cat stdout stderr
	ls -d prof* .trainprof/last 2>/dev/null
}
interrupt
echo 'with --force'
trainprof import -o prof rank0.json >before
old=$(stat -c %i prof/records.tpr)
interrupt --force
trainprof report prof | cmp - before && echo 'the old one is back'
echo 'killed outright'
exec 3<>slow.json
head -c 6000 rank0.json >&3
trainprof import -o gone slow.json &
job=$!
wait_for gone/records.tpr
kill -KILL $job
wait $job 2>/dev/null
exec 3>&-
trainprof report gone 2>&1
said $?
# leave NAME: an import into it that is killed after it has renamed the old one
leave() {
	exec 3<>slow.json
	head -c 6000 rank0.json >&3
	was=$(stat -c %i "$1/records.tpr")
	trainprof import -o "$1" --force slow.json &
	job=$!
	until_true is_another "$1" "$was"
	[ "${2-}" = lives ] && return
	kill -KILL $job
	wait $job 2>/dev/null
	exec 3>&-
}
# shown COMMAND...: its output, without the process id
shown() {
	"$@" 2>&1 | sed 's/old-[0-9]*/old-PID/g'
}
echo 'killed outright, with --force: the next report finds the old one again'
trainprof import -o 'my prof' rank0.json >before
leave 'my prof'
ls -d my* | sed 's/old-[0-9]*/old-PID/'
trainprof report 'my prof' >after
cmp after before && ls -d my*
echo 'and where nothing is in its place'
leave 'my prof'
rm -r 'my prof'
trainprof report 'my prof' >after
cmp after before
echo 'and the last one here, by the next import'
leave 'my prof'
shown trainprof import -o 'my prof' rank0.json | sed 's/[0-9]\{4\}-[0-9-]*/DATE/'
trainprof report | cmp - before && ls -d my*
echo 'the new one was whole'
cp -r 'my prof' 'my prof.old-999999999'
shown trainprof report 'my prof' | head -1
ls -d my*
echo 'what another process has set aside is its own'
leave 'my prof' lives
trainprof report 'my prof' >/dev/null 2>&1
said $?
ls -d my* | sed 's/old-[0-9]*/old-PID/'
kill -TERM $job
wait $job 2>/dev/null
exec 3>&-
trainprof report 'my prof' | cmp - before && ls -d my*
echo 'an interruption that is ignored stays so'
sh -c 'trap "" TERM; exec trainprof import -o deaf slow.json' >stdout 2>&1 &
job=$!
exec 3<>slow.json
wait_for deaf/records.tpr
kill -TERM $job
sleep 0.2
cat rank0.json >&3
exec 3>&-
wait $job
said $?
