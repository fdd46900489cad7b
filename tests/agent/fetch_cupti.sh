#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fetches the wheels of cupti_versions.txt with pip and unpacks them: FOLDER/VERSION/nvidia/…
# Existing ones stay. A wheel that cannot be fetched is reported, and missing. fetch_cupti.sh FOLDER
set -u
folder=$1
here=$(dirname "$0")
mkdir -p "$folder" || exit 2
grep -v '^#' "$here/cupti_versions.txt" | while read -r package version _; do
	[ ! -e "$folder/$version/done" ] || continue
	rm -rf "${folder:?}/$version"
	mkdir "$folder/$version" || exit 2
	if timeout 120 python3 -m pip --disable-pip-version-check download -q --retries 1 --timeout 10 --no-deps --only-binary=:all: \
		-d "$folder/$version" "$package==$version" >"$folder/$version/log" 2>&1 &&
		python3 -m zipfile -e "$folder/$version"/*.whl "$folder/$version"; then
		rm -f "$folder/$version"/*.whl
		touch "$folder/$version/done"
	else
		echo "$package $version: $(grep -i error "$folder/$version/log" | tail -1)"
		# If the index cannot be reached for one, it cannot be reached for the others.
		! grep -qi 'connection\|retries exceeded\|name resolution' "$folder/$version/log" || break
	fi
done
exit 0
