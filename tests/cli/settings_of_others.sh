# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Settings, rules, links and recordings that another user could have written are ignored.
test "$(id -u)" = 0 || {
	echo 'only root can give files away' >&2
	exit 77
}
mkdir -m 1777 open
mkdir open/mine
echo precious >open/mine/file
cd open/mine || exit 2
printf '{"run": {"log": "%s", "summary": "full"}}' "$PWD/file" >../trainprof.json
run() {
	rm -rf r
	trainprof run --summary=none -o r -- echo said 2>&1
	cat file
}
echo '== of another user, in a folder above'
chown 54321 ../trainprof.json
run
echo '== writable by everybody'
chown 0 ../trainprof.json
chmod 666 ../trainprof.json
run
echo '== our own, in a folder above: names no file'
chmod 644 ../trainprof.json
run
echo '== of another user, named'
chown 54321 ../trainprof.json
trainprof --config=../trainprof.json run -o r2 -- touch started 2>&1
echo "status $?"
echo '== rules of another user'
mkdir -p rules/techniques
echo '{}' >rules/techniques/x.json
chown 54321 rules/techniques/x.json
trainprof run -o r2 --rules=rules -- touch started 2>&1
echo "status $?"
test -e started && echo started
echo '== a link and a recording of another user'
cp -r r ../theirs
chown -R 54321 ../theirs
cd ..
ln -s theirs trainprof-last
chown -h 54321 trainprof-last
trainprof report 2>&1
echo "status $?"
mv theirs trainprof-0101-000000
rm trainprof-last
trainprof report 2>&1
echo "status $?"
