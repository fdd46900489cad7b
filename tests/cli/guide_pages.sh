# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# The pages that need no recording.
trainprof guide
for topic in bottlenecks techniques taxonomy evaluation rules parts steps overhead exit-status environment formats; do
	trainprof guide $topic >page || echo "$topic failed"
	[ "$(wc -l <page)" -gt 5 ] || echo "$topic is empty"
	awk -v t=$topic 'length($0) > 80 { print t ": " $0 }' page
done
trainprof guide facts | grep -c '^  [a-z]*\.' >n && [ "$(cat n)" -gt 100 ] && echo facts
trainprof guide metrics | grep -c '^  [a-z]*\.' >n && [ "$(cat n)" -gt 30 ] && echo metrics
trainprof help exit-status | head -5
# Every entry of the lists has a page that fits, at both widths.
trainprof guide techniques | sed -n 's/^  \([a-z0-9-][a-z0-9-]*\)  .*/\1/p' >names
sed -n 's/.*"id": "\(.*\)".*/\1/p' "$CASES/../../rules/limits.json" >>names
[ "$(wc -l <names)" -ge 150 ] && echo names
while read -r name; do
	for width in 44 80; do
		trainprof guide --width $width "$name" >page || echo "$name failed"
		awk -v width=$width -v name="$name" 'length($0) > width { print name ": " $0 }' page
	done
done <names
