# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Git sees none of our files except baselines; recordings are found, also in old places.
. "$CASES/run.inc"
command -v git >/dev/null || { echo 'no git here' >&2; exit 77; }
last() {
	trainprof report --json | sed -n 's/^ *"label": /label /p' | head -1
}
mkdir work && cd work || exit 2
git init -q . && git config user.email a@b && git config user.name a
run -n first -- true
run -n second -o named -- true
git status --porcelain
last
readlink .trainprof/last
rm -r named
echo "without the last: $(last)"
echo '== a baseline can be committed'
trainprof baseline save main >/dev/null 2>&1
git status --porcelain --untracked-files=all | sed 's/-[0-9]*\.json/-N.json/'
rm -r .trainprof/baselines
echo '== from elsewhere: absolute'
mkdir deep && (cd deep && run -n far -o "$PWD/../far" -- true && last && git status --porcelain)
rm -r deep far
echo '== old places'
mv .trainprof/[0-9]* trainprof-0101-000000 && rm -r .trainprof
last
mv trainprof-0101-000000 old && ln -s old trainprof-last
last
echo '== the folder is a file, or a link'
rm trainprof-last && touch .trainprof
run -n third -- true
ls -d trainprof-*-* | sed 's/[0-9]/N/g'
last
rm -r .trainprof trainprof-*-* trainprof-last && mkdir other && ln -s other .trainprof
run -n fourth -- true
ls other
last
