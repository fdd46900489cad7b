#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests the module "trainprof" under each given Python: python_module.sh MARK_LIST PYTHON...
set -u
list=$(realpath "$1")
shift
n_passed=0 n_failed=0 n_skipped=0

# claims FILE ARGUMENT...: runs a file of claims under $python, and adds up its results
claims() {
	file=$1
	shift
	said=$("$python" "tests/python/$file" "$@" 2>&1)
	printf '%s\n' "$said" | grep -v '^python-module: '
	# shellcheck disable=SC2046 # three numbers
	set -- $(printf '%s\n' "$said" | sed -n 's/^python-module: \([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p')
	n_passed=$((n_passed + ${1:-0})) n_failed=$((n_failed + ${2:-1})) n_skipped=$((n_skipped + ${3:-0}))
}
for python; do
	if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 8))' 2>/dev/null; then
		echo "skip: $python is no Python 3.8 or later"
		n_skipped=$((n_skipped + 1))
		continue
	fi
	claims test_trainprof.py "$list" "$PWD/src/python"
	claims test_loader.py "$PWD/src/python"
done
echo "python-module: $n_passed passed, $n_failed failed, $n_skipped skipped"
[ "$n_failed" -eq 0 ]
