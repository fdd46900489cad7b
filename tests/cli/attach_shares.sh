# shellcheck shell=sh
# The parts of a trainer with forked loaders and a team of threads that runs already are those that it
# times itself, in the time that was measured. Its loaders pause for each picture, so that the shares
# hardly depend on how busy the machine is.
. "$CASES/run.inc"
trainer --data data --steps 1 >/dev/null # makes its pictures
trainer --data data --truth truth.json --milliseconds 15000 --steps 100000 --workers 2 --worker-kind process \
	--threads 2 --sample-sleep-us 6000 --log-every 1 --log steps >/dev/null &
pid=$!
wait_for steps
trainprof attach -q --summary=none --rate=499 -d 5s -o prof $pid
said $?
wait $pid
said $?
trainprof report prof --json >prof/report.json
if "$BUILD/bench/points" --label "worst of 3 points:" --max 3 prof truth.json >points; then
	echo "as timed"
else
	"$BUILD/bench/points" --header
	cat points
fi
