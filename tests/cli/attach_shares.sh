# shellcheck shell=sh
# The parts of a trainer with forked loaders and a team of threads that runs already are those that it
# times itself. Its loaders pause for each picture, so that the shares do not depend on how busy the
# machine is.
. "$CASES/run.inc"
command -v python3 >/dev/null || { echo "python3 is missing" >&2; exit 77; }
trainer --data data --truth truth.json --milliseconds 9000 --steps 100000 --workers 2 --worker-kind process \
	--threads 2 --sample-sleep-us 6000 --log-every 0 >/dev/null &
pid=$!
sleep 1.5
trainprof attach -q --summary=none -d 5s -o prof $pid
said $?
wait $pid
said $?
trainprof report prof --json >report.json
python3 - <<'END'
import json
# Without the waits for a CPU, which others here may cause: trainprof tells them apart.
truth = json.load(open("truth.json"))
own = {part: ns - truth["runnable_ns"][part] for part, ns in truth["parts_ns"].items()}
told = {p["id"]: p["time_ns"] for p in json.load(open("report.json"))["partition"]["parts"]}
for part in ("dataloader", "compute"):
    want = own[part] / sum(own.values())
    got = told.get(part, 0) / sum(told.values())
    print(part, "as timed" if abs(got - want) < 0.03 else "is %.3f, timed %.3f" % (got, want))
END
