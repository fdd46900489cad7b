#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every threshold of src/analyze is a row of src/analyze/thresholds.def, and every one of src/gate a
# row of include/trainprof/model/gate_thresholds.def: no other numeric constant is defined
# there, and no expression contains a number with a decimal point, except those of
# threshold_rows.allow: FILE NAME REASON. Rows are complete and used; only src/analyze includes its
# own. Run from the top of the tree.
set -u
checks=$(dirname "$0")
table=src/analyze/thresholds.def
work=$(mktemp -d "${TMPDIR:-/tmp}/thresholds-XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
n_failed=0

# shellcheck disable=SC2046 # one word a file
awk -v allow="$checks/threshold_rows.allow" '
function look(name, line,   key) {
	key = FILENAME
	sub(/^src\/(analyze\/)?/, "", key)
	key = key " " name
	n_seen++
	if (key in allowed)
		used[key] = 1
	else {
		printf "%s:%d: %s is a number of its own: a threshold belongs into the table of its floor, what is none into threshold_rows.allow\n", FILENAME, FNR, name
		n_failed++
	}
}
BEGIN {
	while ((getline line < allow) > 0) {
		n = split(line, words, " ")
		if (line ~ /^#/ || n == 0)
			continue
		if (n < 3) {
			print allow ": no reason: " line
			n_failed++
		}
		allowed[words[1] " " words[2]] = 1
	}
}
FNR == 1 {
	in_enum = in_comment = 0
}
/^[ \t]*(static )?const (double|float|u?int[0-9]*_t|size_t|int|unsigned|long|time_t)[a-z ]* [A-Za-z_][A-Za-z0-9_]*(\[[^]]*\])? = / &&
(/static/ || /^const/) {
	name = $0
	sub(/(\[[^]]*\])? = .*/, "", name)
	sub(/.* /, "", name)
	look(name)
}
/^[ \t]*#[ \t]*define[ \t]+[A-Za-z_][A-Za-z0-9_]*[ \t]+[(]*(-?[0-9.]|U?INT[0-9]*_C|TP_[NU]S_PER|[A-Z_]+ *[*\/])/ {
	name = $0
	sub(/^[ \t]*#[ \t]*define[ \t]+/, "", name)
	sub(/[ \t].*/, "", name)
	look(name)
}
# In an expression 0.5 is allowed: it rounds, or means the middle.
{
	text = $0
	gsub(/"([^"\\]|\\.)*"/, "", text)
	gsub(/\/\*.*(\*\/|$)/, "", text)
	if (text ~ /^[ \t]*\*/ || text ~ /^\/?\*/ || in_comment || text ~ /static const|#[ \t]*define/ || text ~ /^[-0-9., \t]+[}; ]*$/)
		text = ""
	while (match(text, /(^|[^A-Za-z_0-9.])[0-9]+\.[0-9]+/)) {
		name = substr(text, RSTART, RLENGTH)
		text = substr(text, RSTART + RLENGTH)
		sub(/^[^0-9]/, "", name)
		if (name !~ /^[0-9]+\.0+$/ && name != "0.5")
			look(name)
	}
	in_comment = $0 ~ /\/\*/ ? $0 !~ /\*\// : in_comment && $0 !~ /\*\//
}
# Enumerations without a name are constants; those with a name distinguish cases.
/(^|[ \t;])enum \{/ {
	in_enum = 1
}
in_enum {
	text = $0
	gsub(/\/\*[^*]*(\*\/|$)/, "", text)
	end = index(text, "}")
	if (end)
		text = substr(text, 1, end - 1)
	sub(/.*enum \{/, "", text)
	n = split(text, items, ",")
	for (i = 1; i <= n; i++)
		if (items[i] ~ /^[ \t]*[A-Za-z_][A-Za-z0-9_]* = .*[0-9]/) {
			name = items[i]
			gsub(/^[ \t]*| = .*/, "", name)
			look(name)
		}
	if (end)
		in_enum = 0
}
END {
	for (key in allowed)
		if (!(key in used)) {
			print allow ": there is no " key
			n_failed++
		}
	printf "%d %d\n", n_seen, n_failed > "/dev/stderr"
}' $(find src/analyze src/gate -name '*.[ch]' | sort) 2>"$work/numbers"
read -r n_passed n_failed <"$work/numbers" || exit 2
n_passed=$((n_passed - n_failed))

# Complete rows: the parser of the table reports the others.
awk -v WHAT=names -f tests/bench/sensitivity.awk "$table" >"$work/names" || n_failed=$((n_failed + 1))
find src/analyze -name '*.c' -exec cat {} + | grep -o '\<TP_[A-Z0-9_]*\>' | sort -u >"$work/used"
while read -r name; do
	if grep -qx "$name" "$work/used"; then
		n_passed=$((n_passed + 1))
	else
		echo "$table:$(grep -n "^THRESHOLD([a-z0-9_]*, $name," "$table" | cut -d: -f1): $name is used nowhere"
		n_failed=$((n_failed + 1))
	fi
done <"$work/names"
if ! [ -s "$work/names" ] || [ "$(grep -c '^THRESHOLD(' "$table")" -ne "$(wc -l <"$work/names")" ]; then
	echo "$table: rows that cannot be read"
	n_failed=$((n_failed + 1))
fi
# The table of comparisons: NAME, value, unit, reason, source.
shared=include/trainprof/model/gate_thresholds.def
tr '\n' ' ' <"$shared" | grep -o 'THRESHOLD(TP_[A-Z_]*, [0-9.]*, "[^"]*",[[:space:]]*"[^"]*\.",[[:space:]]*"[^"]*")' |
	sed 's/^THRESHOLD(//; s/,.*//' >"$work/shared"
if ! [ -s "$work/shared" ] || [ "$(grep -c '^THRESHOLD(' "$shared")" -ne "$(wc -l <"$work/shared")" ]; then
	echo "$shared: rows that cannot be read"
	n_failed=$((n_failed + 1))
fi
while read -r name; do
	if grep -rqw "$name" src --include='*.c'; then
		n_passed=$((n_passed + 1))
	else
		echo "$shared: $name is used nowhere"
		n_failed=$((n_failed + 1))
	fi
done <"$work/shared"
# A new threshold recompiles the analysis and nothing else.
if grep -n 'include.*thresholds\.\(h\|def\)"' -r src include | grep -v '^src/analyze/' | grep analyze; then
	echo "$table: only src/analyze includes it"
	n_failed=$((n_failed + 1))
fi
echo "thresholds: $n_passed passed, $n_failed failed, 0 skipped"
[ "$n_failed" -eq 0 ]
