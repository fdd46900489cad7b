#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Pages: no line of hand-written text is wider than 100 columns (tables, code and lines with a link
# may be; in architecture.md none may), each document says first for whom it is, source files that
# design pages name exist, and links lead to files and headings that exist, in pages and in comments
# of the code ("docs/design/steps.md#intervals"). Run from the top of the tree.
set -u
LC_ALL=C
export LC_ALL
work=$(mktemp -d "${TMPDIR:-/tmp}/pages-XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT

pages() {
	find . -name '*.md' -not -path './build/*' -not -path './.git/*' | sed 's,^\./,,' | sort
}

# ---- width ----
# Generated pages have their own layout.
wide() {
	# shellcheck disable=SC2046 # one word a file
	awk '
FNR == 1 { in_code = 0; is_generated = /<!-- Generated/ }
is_generated { next }
/^ *```/ { in_code = !in_code }
{
	line = $0
	gsub(/[\200-\277]/, "", line) # a character has as many bytes as its first byte encodes
	gsub(/\t/, "        ", line)
	if (length(line) <= 100)
		next
	if (FILENAME !~ /architecture\.md$/ && (in_code || /^ *\|/ || /\]\(|https?:/))
		next
	printf "%s:%d: %d columns: break the line at 100\n", FILENAME, FNR, length(line)
}' $(pages)
}

# ---- reader ----
# The first paragraph begins with "For": for developers, for users of a cluster. Not asked: the index,
# which sorts by reader, the manual page, the changelog, and pages of the guide, which are all for users.
without_reader() {
	# shellcheck disable=SC2046
	awk '
FNR == 1 { is_found = 0 }
is_found || /^#/ || /^<!--/ || /^$/ { next }
{
	is_found = 1
	if (!/^For /)
		printf "%s:%d: say first for whom the page is: \"For developers. ...\"\n", FILENAME, FNR
}' $(pages | grep '^docs/' | grep -v -e '^docs/guide/' -e '^docs/README' -e '^docs/CHANGELOG' -e '^docs/trainprof\.1')
}

# ---- source files ----
# "PAGE:LINE NAME" of each `name.c` in pages about the code; how-tos also name files that do not exist yet.
sources() {
	# shellcheck disable=SC2016 # the backquotes are Markdown
	grep -Hno '`[a-z0-9_]*\.\(c\|h\|def\|inc\)`' docs/architecture.md docs/design/*.md | tr -d '`' |
		sed 's/^\([^:]*:[0-9]*\):/\1 /'
}

# ---- links ----
# Headings of each page, as GitHub's anchors: "PAGE#ANCHOR".
anchors() {
	# shellcheck disable=SC2046 # one word a file
	awk '
FNR == 1 { in_code = 0 }
/^ *```/ { in_code = !in_code }
!in_code && /^#+ / {
	text = tolower($0)
	sub(/^#+ +/, "", text)
	gsub(/[^a-z0-9_ -]/, "", text)
	gsub(/ /, "-", text)
	print FILENAME "#" text
}' $(pages)
}

# "PLACE TARGET" of each link in a page, without code; the target is relative to the top of the
# tree.
links() {
	# shellcheck disable=SC2046
	awk '
FNR == 1 { in_code = 0; folder = FILENAME; if (!sub(/\/[^\/]*$/, "/", folder)) folder = "" }
/^ *```/ { in_code = !in_code }
in_code { next }
{
	rest = $0
	gsub(/`[^`]*`/, "", rest)
	while (match(rest, /\]\([^)]*\)/)) {
		target = substr(rest, RSTART + 2, RLENGTH - 3)
		rest = substr(rest, RSTART + RLENGTH)
		if (target ~ /^[a-z]+:/ || target ~ / /)
			continue
		if (target ~ /^#/)
			target = FILENAME target
		else
			target = folder target
		while (sub(/[^\/.]+\/\.\.\//, "", target))
			;
		print FILENAME ":" FNR, target
	}
}' $(pages)
}

# Pages named in code.
mentions() {
	find src include tests .ci Makefile -type f \( -name '*.[ch]' -o -name '*.inc' -o -name '*.def' -o -name '*.allow' -o -name '*.sh' -o -name '*.awk' \
		-o -name '*.py' -o -name Makefile -o -name run \) -not -path '*/data/*' \
		-exec grep -Hno 'docs/[a-zA-Z0-9_/-]*\.md\(#[a-z0-9_-]*\)\{0,1\}' {} + |
		sed 's/^\([^:]*:[0-9]*\):/\1 /'
}

{
	wide
	without_reader
} >"$work/failed"
anchors >"$work/anchors"
{
	links
	mentions
} >"$work/links"
while read -r place target; do
	page=${target%%#*}
	if [ ! -e "$page" ]; then
		echo "$place: there is no $page"
	elif [ "$page" != "$target" ] && ! grep -qxF "$target" "$work/anchors"; then
		echo "$place: $page has no heading #${target#*#}"
	fi
done <"$work/links" >>"$work/failed"

find src include tests -type f | sed 's,.*/,,' | sort -u >"$work/files"
sources >"$work/sources"
while read -r place name; do
	grep -qxF "$name" "$work/files" || echo "$place: there is no source file $name"
done <"$work/sources" >>"$work/failed"

cat "$work/failed"
n_failed=$(wc -l <"$work/failed")
n_all=$(($(wc -l <"$work/links") + $(wc -l <"$work/sources") + $(pages | wc -l)))
echo "pages: $((n_all > n_failed ? n_all - n_failed : 0)) passed, $n_failed failed, 0 skipped"
[ "$n_failed" -eq 0 ]
