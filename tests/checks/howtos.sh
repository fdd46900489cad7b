#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The source files that how-tos show compile against today's headers: blocks of C that begin with a
# licence. "here `src/ROOM/FILE.c`" in the page is the place of the file. CC is the compiler. Run
# from the top of the tree.
# The backquotes are those of Markdown.
# shellcheck disable=SC2016
set -u
cc=${CC:-gcc}
n_passed=0
n_failed=0
work=$(mktemp -d "${TMPDIR:-/tmp}/howtos-XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT

for page in docs/howto/*.md; do
	source=$work/$(basename "$page" .md).c
	# Blocks in a list are indented by three columns.
	sed -n '/^ *```c$/,/^ *```$/p' "$page" | sed 's/^   //' |
		awk '/^```c$/ { begins = 1; next }
			/^```$/ { is_file = 0; next }
			begins { is_file = /SPDX-License-Identifier/; begins = 0 }
			is_file' >"$source"
	[ -s "$source" ] || continue
	place=$(sed -n 's/.*here `\(src\/[a-z_\/]*\.c\)`.*/\1/p' "$page" | head -1)
	# Metrics that the page adds do not exist here.
	added=$(sed -n 's/^ *X(\([A-Z_]*\), .*/-DTP_METRIC_\1=0/p' "$page")
	# shellcheck disable=SC2086 # one option a word
	if $cc -std=c11 -D_GNU_SOURCE -Iinclude -Isrc -iquote "$(dirname "${place:-src/.}")" $added \
		-Wall -Wextra -Werror -fsyntax-only "$source"; then
		n_passed=$((n_passed + 1))
	else
		echo "$page: its example does not compile"
		n_failed=$((n_failed + 1))
	fi
done
[ "$n_passed" -gt 0 ] || n_failed=1
echo "howtos: $n_passed passed, $n_failed failed, 0 skipped"
[ "$n_failed" -eq 0 ]
