#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Collects everything that verify.sh needs on a machine with a GPU in one folder: bundle.sh BUILD
# FOLDER. There it runs unchanged: trainprof finds its libraries in its own folder (except libc and
# its parts), and nothing is built.
set -eu
build=$1
folder=$2
rm -rf "$folder"
mkdir -p "$folder"
cp tests/gpu/*.sh tests/gpu/*.py tests/gpu/*.txt tests/gpu/*.json "$folder"
cp tests/real/pictures.py tests/real/jaxloops.py tests/real/selftimed.py "$folder"
cp -r rules "$folder/rules"
cp "$build/gpu/trainprof" "$build/gpu/gpu_bench" "$build/gpu/cupti_probe.so" "$build/libtrainprof-agent.so" "$folder"
cp "$build/programs/cuda_ends" "$folder"
# Copies of CUPTI to test in addition to the machine's own: CARRIED="VERSION=FILE ..."
for carried in ${CARRIED:-}; do
	mkdir -p "$folder/cupti/${carried%%=*}"
	cp -L "${carried#*=}" "$folder/cupti/${carried%%=*}"
done
# The agent that also stores CUPTI's buffers as delivered.
[ ! -e "$build/libtrainprof-capture.so" ] || cp "$build/libtrainprof-capture.so" "$folder"
ldd "$build/gpu/trainprof" | awk '/=> \// { print $3 }' |
	grep -v '/\(libc\|libm\|libdl\|librt\|libpthread\|ld-linux[^/]*\)\.so' | while read -r library; do
	cp -L "$library" "$folder"
done
kib=$(du -sk "$folder" | cut -f 1)
[ "$kib" -le 65536 ] || { echo "$folder has $kib KiB, more than 64 MiB" >&2; exit 1; }
echo "$folder: $kib KiB; there: bash verify.sh OUT"
