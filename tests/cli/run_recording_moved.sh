# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# A recording that is moved while it is written is reported from its new place. What stands at its
# old place is neither read nor written.
. "$CASES/run.inc"
trainprof run -q --summary=none -o older -- true
cat older/* | cksum >older.before
recorded='until [ -s prof/records.tpr ]; do sleep 0.02; done'

echo moved
trainprof run -o prof -- sh -c "$recorded; mv prof elsewhere; exit 3" 2>&1 | grep -E 'moved|Saved' | sed "s,$PWD,HERE,"
ls -d prof 2>/dev/null
ls elsewhere

for in_its_place in true 'ln -s older prof' 'cp -r older prof' 'mkfifo prof'; do
	echo "removed, then $in_its_place"
	trainprof run -o prof -- sh -c "$recorded; rm -r prof; $in_its_place; exit 3" 2>&1
	said $?
	[ -d prof ] && cat prof/* | cksum | cmp - older.before
	rm -rf prof
done
cat older/* | cksum | cmp - older.before
