# shellcheck shell=sh
# The pages that need no recording.
trainprof guide
for topic in parts steps overhead exit-status environment formats; do
	trainprof guide $topic >page || echo "$topic failed"
	[ "$(wc -l <page)" -gt 5 ] || echo "$topic is empty"
	awk -v t=$topic 'length($0) > 80 { print t ": " $0 }' page
done
trainprof guide facts | grep -c '^  [a-z]*\.' >n && [ "$(cat n)" -gt 100 ] && echo facts
trainprof guide metrics | grep -c '^  [a-z]*\.' >n && [ "$(cat n)" -gt 30 ] && echo metrics
trainprof help exit-status | head -5
