# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# The guide finds the requested page, and proposes the next command.
mkdir -p mine/techniques
cp "$CASES/../../rules/limits.json" "$CASES/../../rules/sources.json" mine
first() {
	trainprof guide --search "$@" | sed -n 's/^next: //p'
}
first pinned memory
first caching
first train shorter
first 'train shorter'
first Checkpointing activations
first --width 44 mixed precision
# The subjects of the survey's neighbours are found by their own words.
for words in sparsity clairvoyant 'spatial parallelism' 'data movement' 'weight sharing' wagma 'ensemble members' 'spread ensemble' '2:4'; do
	# shellcheck disable=SC2086 # several words
	echo "$words: $(first $words)"
done
trainprof guide --search wagma
trainprof guide --search no such xyzzy
echo "status $?"
trainprof guide --search xyzzy
echo "status $?"
trainprof guide --search
echo "status $?"
trainprof guide pin-memory h2d
echo "status $?"
trainprof guide --search --plan pin-memory
echo "status $?"
trainprof guide --json pin-memory
echo "status $?"
trainprof guide loader-wrokers
echo "status $?"
# A proposed command is a complete line that a shell parses as intended.
for word in 'a;b c' '' '::'; do
	trainprof guide "$word"
	trainprof guide --search "$word"
	echo "status $?"
done
# A local page replaces ours and is found; one with errors is refused, or left out on request.
sed 's/"title": ".*"/"title": "Zebra workers"/' "$CASES/../../rules/techniques/loader-workers.json" >mine/techniques/loader-workers.json
trainprof guide --rules mine --search zebra
sed 's/"effort": "flag"/"effort": "none"/' "$CASES/../../rules/techniques/pin-memory.json" >mine/techniques/pin-memory.json
trainprof guide --rules mine pin-memory
echo "status $?"
trainprof guide --rules mine --lenient pin-memory | head -1
mkdir out
trainprof guide --write out && [ -s out/pin-memory.md ] && head -4 out/h2d.md
trainprof guide --write nowhere
echo "status $?"
