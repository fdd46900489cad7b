#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints the source files of src/ that differ from the parent commit, including the working tree,
# and those that include a changed header; prints all if there is no parent.
set -u
if ! git rev-parse -q --verify 'HEAD^' >/dev/null 2>&1; then
	find src -name '*.c'
	exit 0
fi
git diff --name-only --diff-filter=d 'HEAD^' -- src include .clang-tidy | while read -r file; do
	case $file in
	*.c) echo "$file" ;;
	*.h) grep -rlF --include='*.c' "\"${file#*/}\"" src ;;
	.clang-tidy) find src -name '*.c' ;;
	esac
done | sort -u
