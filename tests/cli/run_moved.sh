# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# The program's file is moved away during a run, as pip does at an upgrade, and removed during
# another: the first still finds the rules where it was started, and the recording of the second is
# whole.
. "$CASES/run.inc"
mkdir -p own/bin own/share/trainprof
cp "$(command -v trainprof)" own/bin/
cp -r "$CASES/../../rules" own/share/trainprof/
job='until [ -e end ]; do sleep 0.01; done; exit 3'

# under_way DIRECTORY COMMAND...: runs a job, and the command while the job goes on
under_way() {
	prof=$1
	shift
	rm -f end
	own/bin/trainprof run -o "$prof" -- sh -c "$job" 2>"$prof.err" &
	run=$!
	wait_for "$prof/records.tpr"
	"$@"
	: >end
	wait $run
	said $?
}
under_way moved mv own/bin/trainprof own/elsewhere
grep -E 'no rules|^Saved' moved.err
mv own/elsewhere own/bin/trainprof
under_way removed rm -r own/bin own/share
trainprof report removed | grep '^Saved'
