# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# The shipped rules have no errors; errors are reported with file, line and the nearest name.
trainprof rules check | sed 's/[0-9]* rules, [0-9]* techniques/N rules, N techniques/'
trainprof rules test | sed 's/[0-9]* passed/N passed/'
trainprof rules list | awk 'length($0) > 80'
for width in 44 80; do
	trainprof rules show --width $width input/loads-in-trainer | awk -v width=$width 'length($0) > width'
done
trainprof rules show input/no-such-rule
echo "status $?"
mkdir -p mine/bottlenecks/mine
cat >mine/bottlenecks/mine/typo.json <<'END'
{
  "id": "mine/typo",
  "title": "A rule with a typo",
  "kind": "free",
  "needs": ["step.hots_ratio"],
  "when": ["step.hots_ratio > 0.1"],
  "because": "x",
  "do": [{ "text": "y" }],
  "sources": [{ "title": "a", "where": "b", "checked": "2026-11-20" }],
  "cases": []
}
END
trainprof rules check --rules mine >said
echo "status $?"
sed 's/[0-9]* rules, [0-9]* techniques/N rules, N techniques/' said
TRAINPROF_RULES=mine trainprof rules list >/dev/null
echo "status $?"
trainprof rules list --rules nowhere >/dev/null
echo "status $?"
mkdir -p own/patterns
cp "$CASES"/../../rules/patterns/*.json own/patterns/
trainprof rules list --rules own >/dev/null
echo "status $?"
# An example that an earlier row matches is found by check only.
cat >own/patterns/45-mine.json <<'END'
{ "about": "ours", "patterns": [
  { "id": "mine-any", "base": ["mine"], "class": "memory", "family": "mine" },
  { "id": "mine-exchange", "base": ["mine_ring"], "class": "communication", "family": "mine", "examples": ["mine_ring_step"] }
] }
END
trainprof rules check --rules own >/dev/null
echo "status $?"
# check reports all errors; the others only load what they need.
cat >mine/bottlenecks/mine/guided.json <<'END'
{
  "id": "mine/guided",
  "title": "A rule with a technique that does not exist",
  "kind": "free",
  "limits": ["h2d"],
  "needs": ["step.host_ratio"],
  "when": ["step.host_ratio > 0.1"],
  "because": "x",
  "do": [{ "headline": "y", "text": "y", "technique": "pin-memroy" }],
  "price": "None.",
  "verify": "z",
  "sources": [{ "title": "a", "where": "b", "checked": "2026-11-20" }],
  "cases": []
}
END
mkdir mine/techniques
sed 's/"hardware": ".*",/"hardware": "",/' "$CASES/../../rules/techniques/pin-memory.json" >mine/techniques/pin-memory.json
printf '{ "sources": [{ "tag": "MINE", "title": "t", "where": "w", "checked": "2026-11-20" }] }\n' >mine/sources.json
trainprof rules check --rules mine >/dev/null
echo "status $?"
trainprof rules list --rules mine | grep mine/
trainprof rules list --rules mine --lenient | grep mine/
# Techniques alone make a folder of rules.
mkdir -p fair/techniques
sed 's/"title": ".*"/"title": "Ours"/' "$CASES/../../rules/techniques/pin-memory.json" >fair/techniques/pin-memory.json
trainprof rules check --rules fair | sed 's/[0-9]* rules, [0-9]* techniques/N rules, N techniques/'
