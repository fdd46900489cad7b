# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Secrets of the command line and of the environment are in none of the written files.
secret() {
	echo "SECRET""$1"
}
WANDB_API_KEY=$(secret 1) TORCH_URL=https://u:$(secret 2)@host trainprof run -o r \
	--env=WANDB_API_KEY -- sh -c 'true' x --password="$(secret 3)" --api-key "$(secret 4)" \
	"https://u:$(secret 5)@host/" "DB_TOKEN=$(secret 6)" >out 2>&1
for how in '' --full --json --markdown; do
	# shellcheck disable=SC2086
	trainprof report $how r >>out 2>&1
done
trainprof explain --all r >>out 2>&1
grep -ac 'SECRET[0-9]' out r/*
tr -d '\n' <r/manifest.json | grep -o '"command": \[[^]]*\]' | tr -s ' '
grep -o '"[A-Z_]*=[^"]*\*\*\*[^"]*"' r/manifest.json
trainprof run -q --summary=none --keep-arguments -o k -- true --password="$(secret 7)"
grep -c 'SECRET7' k/manifest.json
