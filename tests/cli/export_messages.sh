# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Messages of export: formats, errors, files that cannot be written.
. "$CASES/run.inc"
trainprof export --list
for words in '' '--to=speedscop' '--to=xyz' '--to=csv' '--to=csv nowhere'; do
	echo "trainprof export $words"
	# The words are meant to be split.
	# shellcheck disable=SC2086
	trainprof export $words 2>&1
	said $?
done
run -o prof -- true
echo '== full, not there, a directory'
{ trainprof export --to=csv prof >/dev/full; } 2>&1
said $?
trainprof export --to=collapsed -o nowhere/file prof 2>&1
said $?
mkdir folder
trainprof export --to=collapsed -o folder prof 2>&1
said $?
trainprof export --to=csv -o /dev/stdout prof | head -1
echo '== an old file is replaced, and no other is left'
echo old >parts.csv
trainprof export --to=csv -o parts.csv prof
head -1 parts.csv
ls
