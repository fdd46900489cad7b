# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Messages of import if there is nothing to import; no files are left.
. "$CASES/run.inc"
: >empty.json
mkdir folder
echo 'not a trace' >notes.txt
echo '{"traceEvents": []}' >none.json
echo private >t.nsys-rep
ln -s nowhere broken
for words in '' --lst '--from=kinto t.json' --from 'missing.json' broken folder empty.json notes.txt \
	none.json t.nsys-rep '-o nowhere/prof notes.txt'; do
	echo "trainprof import $words"
	# The words are meant to be split.
	# shellcheck disable=SC2086
	trainprof import $words 2>&1
	said $?
done
trainprof imprt t.json 2>&1
said $?
ls -d trainprof-* .trainprof/[0-9]* nowhere 2>/dev/null
echo 'an existing directory stays'
mkdir mine && touch mine/thesis.tex
trainprof import -o mine notes.txt 2>&1
said $?
trainprof import -o mine --force notes.txt 2>&1
said $?
ls mine
echo 'and what is not ours in a recording'
run -o 'a b' -- true
touch 'a b/old notes'
trainprof import -o 'a b' --force notes.txt 2>&1
said $?
echo 'names are quoted where a shell needs it'
cp notes.txt "it's notes.nsys-rep"
trainprof import "it's notes.nsys-rep" 2>&1
trainprof import -o 'no where/prof' notes.txt 2>&1
printf '[{"ph":"X","ts":1,"dur":1}]' >'my trace.json'
trainprof 'my trace.json' 2>&1
trainprof import --from=nsys ./'my trace.json' 2>&1
trainprof import -- 'my trace.json' 'my trace.json' 2>&1
echo 'so does what --force was to replace'
run -o prof -- true
cp prof/manifest.json before
trainprof import -o prof notes.txt 2>&1 | sed 's/[0-9]\{4\}-[0-9-]*/DATE/'
trainprof import -o prof --force notes.txt 2>&1
said $?
cmp prof/manifest.json before && ls -d prof*
