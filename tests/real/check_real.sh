#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Real training programs under trainprof: check_real.sh TRAINPROF OUTPUT-DIRECTORY
# Each program measures its own time; the report must agree. ONLY=NAME runs one of them. Ends with
# "real: N passed, N failed, N skipped".
set -u
trainprof=$1
out=$2
venvs=$out.venv
here=$(cd "$(dirname "$0")" && pwd)
python=/usr/bin/python3
passed=0 failed=0 skipped=0
rm -rf "$out" && mkdir -p "$out" && cd "$out" || exit 1

# judge NAME TRUTH CLAIM...: counts the claims of one program
judge() {
	name=$1 truth=$2
	shift 2
	$python "$here/judge.py" "$name" "$name" "$truth" "$@" > "$name.claims" 2>&1
	cat "$name.claims"
	passed=$((passed + $(grep -c '^ok' "$name.claims")))
	bad=$(grep -c '^FAIL' "$name.claims")
	if grep -q '^skip' "$name.claims"; then
		skipped=$((skipped + 1))
	elif ! grep -q '^ok' "$name.claims"; then
		bad=$((bad + 1))
	fi
	failed=$((failed + bad))
}

# measure NAME PROGRAM...: runs it under trainprof, keeps the summary
measure() {
	name=$1
	shift
	"$trainprof" run -o "$name" -- "$@" > "$name.out" 2> "$name.err"
	"$trainprof" report "$name" > "$name.txt" 2>> "$name.err"
	"$trainprof" report --json "$name" > "$name/report.json" 2>> "$name.err"
	"$trainprof" guide --plan --json "$name" > "$name/plan.json" 2>> "$name.err"
}

# darknet_truth OUT: "Loaded: S seconds" is the wait for the batch, "N, ...: ... S seconds" the training
darknet_truth() {
	awk '/^Loaded:/ { load = $2 }
	     /seconds,/ { for (i = 1; i < NF; i++) if ($(i + 1) ~ /^seconds/) train = $i;
	                  at[++n] = load + train; loads[n] = load }
	     END { for (i = int(n / 10) + 1; i <= n; i++) { all += at[i]; wait += loads[i]; kept++ }
	           printf "{\"steps\": %d, \"data_ratio\": %.6f, \"step_s\": %.6f}\n", n, wait / all, all / kept }' "$1"
}

# venv NAME PACKAGE MODULE: a separate Python with a package from PyPI; kept between runs
venv() {
	dir=$venvs/$1
	"$dir/bin/python" -c "import $3" 2> /dev/null && return
	# shellcheck disable=SC2086 # several packages
	mkdir -p "$venvs" && python3 -m venv "$dir" > "$1.pip" 2>&1 &&
		"$dir/bin/pip" install -q $2 >> "$1.pip" 2>&1 &&
		"$dir/bin/python" -c "import $3" >> "$1.pip" 2>&1 && return
	echo "skip $1: $(tail -1 "$1.pip")"
	return 1
}

wanted() { [ -z "${ONLY:-}" ] || [ "$ONLY" = "$1" ]; }

darknet_files() {
	dir=$1 pictures=$2 batches=$3 filters=$4
	mkdir -p "$dir.d/backup"
	ls "$out/$pictures"/*.jpg > "$dir.d/train.list"
	printf 'cat\ndog\n' > "$dir.d/labels"
	printf 'classes=2\ntrain=%s\nvalid=%s\nlabels=%s\nbackup=%s\ntop=1\n' "$out/$dir.d/train.list" \
		"$out/$dir.d/train.list" "$out/$dir.d/labels" "$out/$dir.d/backup" > "$dir.d/data"
	sed "s/MAX_BATCHES/$batches/;s/FILTERS/$filters/" "$here/tiny.cfg" > "$dir.d/cfg"
}

# darknet_case NAME PICTURES BATCHES FILTERS CLAIM...
darknet_case() {
	wanted "$1" || return
	name=$1
	darknet_files "$1" "$2" "$3" "$4"
	shift 4
	measure "$name" darknet classifier train "$name.d/data" "$name.d/cfg"
	darknet_truth "$name.out" > "$name.truth"
	judge "$name" "$name.truth" "$@"
}

# torch_case NAME "PROGRAM ARGUMENTS" CLAIM...; THREADS sets OMP_NUM_THREADS
torch_case() {
	wanted "$1" || return
	name=$1 arguments=$2
	shift 2
	# shellcheck disable=SC2086 # words on purpose
	measure "$name" ${THREADS:+env OMP_NUM_THREADS=$THREADS} $python "$here/cnn.py" "$name.truth" $arguments
	judge "$name" "$name.truth" "$@"
}

# loops_case KIND STEPS CLAIM...: a case of loops.py, with a known limit
loops_case() {
	wanted "loops-$1" || return
	name=loops-$1 kind=$1 steps=$2
	shift 2
	measure "$name" env OMP_NUM_THREADS=1 $python "$here/loops.py" "$kind" "$name.truth" --steps "$steps"
	judge "$name" "$name.truth" "$@"
}

if command -v darknet > /dev/null && $python -c 'import PIL, numpy' 2> /dev/null; then
	$python "$here/pictures.py" small 512 32
	$python "$here/pictures.py" large 32 2000
	darknet_case darknet-compute small 110 90 limiter=compute data_within=3 steps_within=2 time_within=3 \
		roles=trainer:1 never=input/ top=none,compute/one-thread,compute/scalar-kernels
	darknet_case darknet-loader large 20 8 limiter=dataloader data_within=5 steps_within=5 roles=trainer:1 \
		top=input/loader-cpu-bound,input/smaller-samples
else
	echo "skip darknet: not installed (Debian: darknet python3-pil python3-numpy)"
	skipped=$((skipped + 2))
fi

if $python -c 'import torch, PIL' 2> /dev/null; then
	$python "$here/pictures.py" middle 64 400
	[ -d small ] || $python "$here/pictures.py" small 512 32
	torch_case torch-inline "middle --steps 75 --width 64 --batch 48" limiter=dataloader data_within=3 \
		steps_within=2 time_within=3 roles=trainer:1 line=data top=input/loads-in-trainer
	# The wait for a batch is the rest that two workers on two busy CPUs leave: it varies, and
	# every other batch may be ready without a wait.
	torch_case torch-workers "middle --steps 65 --width 64 --batch 48 --workers 2 --repeat 3" \
		limiter=dataloader data_within=5 steps_within=4 time_within=5 roles=trainer:1,loader:2 workers=2 line=data \
		top=input/loader-cpu-bound,host/oversubscribed
	torch_case torch-compute "small --steps 110 --width 96 --batch 32 --workers 1" limiter=compute data_within=3 \
		steps_within=2 time_within=3 roles=trainer:1,loader:1 never=input/ top=compute/one-thread
	# Without a loader worker, so advice on loading fits as well, but not first.
	THREADS=8 torch_case torch-oversubscribed "small --steps 110 --width 96 --batch 32" limiter=compute \
		data_within=5 roles=trainer:1 top=host/oversubscribed,compute/too-many-threads,compute/spinning-pools
	# One thread of reference BLAS computes; nothing about loading fits.
	loops_case chars 150 limiter=compute data_within=3 line=chars never=input/ \
		top=compute/one-thread,compute/scalar-kernels
	# Their steps are one line each, and their number is one of their variables.
	loops_case small 150 steps_within=1 time_within=3 limiter=host line=small never=input/ top=host/interpreter
	# Every other step saves.
	loops_case checkpoints 200 line=checkpoints never=input/ \
		top=host/checkpoints,host/checkpoint-in-step
	loops_case prints 150 steps_within=1 time_within=3 limiter=host line=prints never=input/ top=host/interpreter,host/logging-in-step
	loops_case generator 150 limiter=dataloader data_within=5 line=generator top=input/loads-in-trainer
	loops_case epochs 400 steps_within=1 restarts=39 roles=trainer:1,loader:40
	loops_case ranks 80 limiter=communication steps_within=2 time_within=3 line=ranks roles=trainer:2 \
		top=communication/late-rank
else
	echo "skip torch: not installed (Debian: python3-torch python3-pil)"
	skipped=$((skipped + 11))
fi
# framework_case FRAMEWORK KIND STEPS CLAIM...: a case of jaxloops.py or tfloops.py
framework_case() {
	wanted "$1-$2" || return
	name=$1-$2 framework=$1 kind=$2 steps=$3
	shift 3
	measure "$name" "$venvs/$framework/bin/python" "$here/${framework}loops.py" "$kind" "$name.truth" --steps "$steps"
	judge "$name" "$name.truth" "$@"
}

if ! wanted jax-mlp && ! wanted jax-feed; then
	:
elif venv jax "jax optax" jax; then
	# Two threads compute on two CPUs: nothing to advise.
	framework_case jax mlp 150 limiter=compute data_within=5 steps_within=1 time_within=3 apart=1 \
		line=wait,mlp never=input/,host/,communication/ roles=trainer:1
	framework_case jax feed 120 limiter=dataloader data_within=5 steps_within=1 time_within=3 \
		line=feed top=input/loads-in-trainer roles=trainer:1
else
	skipped=$((skipped + 2))
fi

if ! wanted tf-tape && ! wanted tf-pipe && ! wanted tf-fit; then
	:
elif venv tf tensorflow-cpu tensorflow; then
	framework_case tf tape 150 limiter=compute data_within=5 steps_within=1 time_within=3 apart=1 \
		line=tape never=input/,host/,communication/ roles=trainer:1
	# tf.data works on the pool that trains, also while the main thread waits for a step.
	framework_case tf pipe 200 limiter=dataloader steps_within=1 time_within=3 line=pipe \
		top=input/loader-cpu-bound roles=trainer:1
	framework_case tf fit 120 limiter=dataloader steps_within=1 line=fit top=input/loader-cpu-bound \
		roles=trainer:1
else
	skipped=$((skipped + 3))
fi

# mpi_case: two ranks, the second one late
mpi_case() {
	wanted mpi || return
	# Debian's reference BLAS, if there is no other one, has no vector instructions, and compute
	# is checked before communication.
	plan=$($python -c 'import numpy.linalg
maps = open("/proc/self/maps").read()
print("compute/scalar-kernels" if "/blas/libblas.so" in maps else "communication/late-rank")')
	measure mpi env OMP_NUM_THREADS=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
		mpirun -n 2 --oversubscribe $python "$here/mpiloop.py" mpi.truth --steps 100
	judge mpi mpi.truth limiter=communication steps_within=1 time_within=3 line=exchange \
		roles=trainer:2,launcher:1 top=communication/late-rank plan="$plan"
}

if command -v mpirun > /dev/null && $python -c 'import mpi4py, numpy' 2> /dev/null; then
	mpi_case
else
	echo "skip mpi: not installed (Debian: python3-mpi4py openmpi-bin python3-numpy)"
	skipped=$((skipped + 1))
fi
echo "real: $passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
