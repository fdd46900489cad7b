# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Files and environment set options; the command line overrides them; errors name their line.
unset XDG_CONFIG_HOME
. "$CASES/run.inc"
mkdir -p .config/trainprof deep/er
cat >.config/trainprof/config.json <<'END'
{
  "color": "never",
  "run": { "max-overhead": "5%", "skip": 7 }
}
END
cat >trainprof.json <<'END'
{
  // the project wins over the user
  "run": { "max-overhead": "2%", "env": ["A", "B"], "strict": true }
}
END
cd deep/er || exit 1
COLUMNS=100 TRAINPROF_COLOR=auto trainprof doctor -v | sed -n '/^Settings/,$p'
cd ../..
TRAINPROF_OUTPUT=by-env run -- true && ls -d by-*
TRAINPROF_OUTPUT=by-env run -o by-option -- true && ls -d by-*
for text in '{ "run": { "max-overhed": "2%" } }' '{ "colour": "never" }' '{ "run": { "skip": "few" } }' \
	'{ "run": { "duration": 90 } }' '{ "run": {' '[]' '{ "rum": {} }'; do
	echo "$text" >trainprof.json
	trainprof run -- true 2>&1
	said $?
done
echo '{ "colour": 1 }' >bad.json
trainprof --config bad.json doctor 2>&1
said $?
trainprof --config nothere.json doctor 2>&1
said $?
trainprof --no-config version >/dev/null
said $?
