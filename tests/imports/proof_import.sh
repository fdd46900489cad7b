#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Imports traces of JAX and TensorFlow beside live runs of the same processes.
# usage: proof_import.sh TRAINPROF FOLDER [STEPS [PROGRAM]]
set -eu
here=$(dirname "$0")
venv=$2/venv
mkdir -p "$2"
if [ ! -x "$venv/bin/python" ] || ! "$venv/bin/python" -c 'import jax, tensorflow' 2>/dev/null; then
	python3 -m venv "$venv"
	"$venv/bin/pip" install -q jax tensorflow-cpu
fi
exec python3 "$here/proof_import.py" "$1" "$venv/bin/python" "$2" "${3:-400}" ${4:+"$4"}
