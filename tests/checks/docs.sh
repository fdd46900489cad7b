#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The files that the program generates in docs/ are up to date. `make pages` generates them again.
# docs.sh TRAINPROF; run from the top of the tree.
set -u
trainprof=$1
work=$(mktemp -d "${TMPDIR:-/tmp}/docs-XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
n_passed=0
n_failed=0

# same WHAT OURS: compares WHAT, generated now, with the file in the tree
same() {
	if diff -r "$1" "$2" >"$work/diff" 2>&1; then
		n_passed=$((n_passed + 1))
	else
		head -5 "$work/diff"
		echo "$2 is not what trainprof says: make pages"
		n_failed=$((n_failed + 1))
	fi
}

mkdir "$work/guide"
"$trainprof" guide --write "$work/guide" || n_failed=$((n_failed + 1))
same "$work/guide" docs/guide
docs/facts.sh "$trainprof" >"$work/facts.md"
same "$work/facts.md" docs/facts.md
"$trainprof" advise --schema >"$work/facts.schema.json"
same "$work/facts.schema.json" docs/facts.schema.json

awk -v WHAT=page -f tests/bench/sensitivity.awk src/analyze/thresholds.def >"$work/thresholds.md"
awk -f tests/bench/gate_thresholds.awk include/trainprof/model/gate_thresholds.def >>"$work/thresholds.md"
same "$work/thresholds.md" docs/thresholds.md

# The table of conditions names rules that exist, and every limit of the guide.
# shellcheck disable=SC2016 # backticks of Markdown
for id in $(grep -o '`[a-z]*/[a-z0-9-]*`' docs/conditions.md | tr -d '`' | sort -u); do
	[ -f "rules/bottlenecks/$id.json" ] && continue
	[ -f "rules/idioms/${id#idiom/}.json" ] && continue
	echo "docs/conditions.md: there is no rule $id"
	n_failed=$((n_failed + 1))
done
# shellcheck disable=SC2013 # ids are words
for id in $(sed -n 's/^ *"id": "\([a-z0-9-]*\)",$/\1/p' rules/limits.json); do
	grep -q "^| \`$id\` |" docs/conditions.md && continue
	echo "docs/conditions.md: the limit $id is missing"
	n_failed=$((n_failed + 1))
done
n_passed=$((n_passed + 1))

# docs/privacy.md: nothing leaves the machine. Neither program can open a connection.
for program in "$trainprof" "$(dirname "$trainprof")/libtrainprof-agent.so"; do
	[ -e "$program" ] || continue
	if nm -D "$program" | grep -E ' U (socket|connect|getaddrinfo|gethostbyname|bind|accept)(@|$)'; then
		echo "docs/privacy.md: $program can use the network"
		n_failed=$((n_failed + 1))
	fi
done
n_passed=$((n_passed + 1))

# The page of variables and the manual list the same ones.
"$trainprof" help environment >"$work/environment"
variables='[A-Z][A-Z0-9]*_[A-Z0-9_]*'
# shellcheck disable=SC2016 # backticks of Markdown
sed -n '/^## ENVIRONMENT/,/^## FILES/s/^| \(`.*`\) |.*/\1/p' docs/trainprof.1.md |
	grep -o "$variables" | sort -u >"$work/manual.names"
grep -ow "$variables" "$work/environment" | grep -v '^XDG' | sort -u >"$work/page.names"
while read -r name; do
	grep -qw "$name" "$work/environment" && continue
	echo "trainprof help environment: $name is missing"
	n_failed=$((n_failed + 1))
done <"$work/manual.names"
while read -r name; do
	grep -qw "$name" docs/trainprof.1.md && continue
	echo "docs/trainprof.1.md: $name is missing"
	n_failed=$((n_failed + 1))
done <"$work/page.names"
n_passed=$((n_passed + 1))
echo "docs: $n_passed passed, $n_failed failed, 0 skipped"
[ "$n_failed" -eq 0 ]
