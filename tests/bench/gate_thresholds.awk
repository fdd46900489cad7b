# SPDX-License-Identifier: Apache-2.0
# awk -f gate_thresholds.awk gate_thresholds.def: the last section of docs/thresholds.md
BEGIN {
	print "\n## comparisons\n"
	print "Runs against each other, histories and live views; made from"
	print "`include/trainprof/model/gate_thresholds.def`. What moving them does is simulated in"
	print "[design/gate.md](design/gate.md).\n"
	print "| threshold | value | reason | source |\n|---|---|---|---|"
}
/^THRESHOLD\(/ {
	row = ""
}
/^THRESHOLD\(/, /"\)$/ {
	row = row $0
	if ($0 ~ /"\)$/) {
		n = split(row, strings, "\"")
		split(strings[1], words, /[(,] */)
		printf "| `%s` | %s, %s | %s | %s |\n", substr(words[2], 4), words[3], strings[2], strings[4], strings[6]
	}
}
