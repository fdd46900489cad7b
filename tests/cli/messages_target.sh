# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Messages if the program cannot be started: 127, 126, and no recording is left.
echo '#!/no/such/loader' >script && chmod +x script
echo 'print(1)' >train.py
mkdir directory
for program in trian ./nothere ./train.py ./directory ./script ''; do
	echo "trainprof run -- '$program'"
	trainprof run -q -- "$program" 2>&1
	echo "status $?"
done
ls
