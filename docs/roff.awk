# SPDX-License-Identifier: Apache-2.0
# Converts a Markdown file to a manual page: headings, paragraphs, lists, tables, code.
# awk -f roff.awk docs/trainprof.1.md >trainprof.1

function escaped(text) {
	gsub(/\\/, "\\e", text)
	gsub(/-/, "\\-", text)
	if (text ~ /^[.']/)
		text = "\\&" text
	return text
}

# `code` becomes bold; links keep their text.
function inline(text, out, rest, at) {
	gsub(/\[[^]]*\]\([^)]*\)/, "&", text)
	out = ""
	rest = text
	while ((at = index(rest, "`")) > 0) {
		out = out escaped(substr(rest, 1, at - 1))
		rest = substr(rest, at + 1)
		at = index(rest, "`")
		if (at == 0)
			break
		out = out "\\fB" escaped(substr(rest, 1, at - 1)) "\\fR"
		rest = substr(rest, at + 1)
	}
	return out escaped(rest)
}

function cells(line, n, parts, i, out) {
	gsub(/^\| | \|$/, "", line)
	n = split(line, parts, / \| /)
	if (n < 2)
		return
	print ".TP"
	print inline(parts[1])
	out = inline(parts[2])
	for (i = 3; i <= n; i++)
		out = out ", " inline(parts[i])
	print out
}

/^# / { print ".TH TRAINPROF 1"; next }
/^<!--/ { next }
/^```/ {
	in_code = !in_code
	print in_code ? ".PP\n.nf\n.RS 4" : ".RE\n.fi"
	next
}
in_code { print escaped($0); next }
/^## / { print ".SH " substr($0, 4); in_table = 0; next }
/^### / { print ".SS " substr($0, 5); in_table = 0; next }
# The header of a table and the line below it are not needed.
/^\| *---/ { in_table = 1; next }
/^\|/ && !in_table { next }
/^\|/ { cells($0); next }
/^$/ { in_table = 0; print ".PP"; next }
/^- `/ {
	at = index($0, "`: ")
	print ".TP"
	print at ? inline(substr($0, 3, at - 2)) : inline(substr($0, 3))
	if (at)
		print inline(substr($0, at + 3))
	next
}
/^- / { print ".IP \\(bu 2\n" inline(substr($0, 3)); next }
/^  [^ ]/ { print inline(substr($0, 3)); next }
{ print inline($0) }
