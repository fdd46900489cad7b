# shellcheck shell=sh
# What import says when there is nothing to import, and that it leaves nothing behind.
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
ls -d trainprof-* nowhere 2>/dev/null
echo 'an existing directory stays'
mkdir mine && touch mine/thesis.tex
trainprof import -o mine notes.txt 2>&1
said $?
trainprof import -o mine --force notes.txt 2>&1
said $?
ls mine
echo 'so does what --force was to replace'
run -o prof -- true
cp prof/manifest.json before
trainprof import -o prof notes.txt 2>&1 | sed 's/[0-9]\{4\}-[0-9-]*/DATE/'
trainprof import -o prof --force notes.txt 2>&1
said $?
cmp prof/manifest.json before && ls -d prof*
