#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Trains darknet on a folder of pictures: darknet.sh HERE PICTURES BATCHES FILTERS
here=$1 pictures=$2 batches=$3 filters=$4
dir=darknet-$pictures
mkdir -p "$dir/backup"
ls "$PWD/$pictures"/*.jpg >"$dir/train.list"
printf 'cat\ndog\n' >"$dir/labels"
printf 'classes=2\ntrain=%s\nvalid=%s\nlabels=%s\nbackup=%s\ntop=1\n' "$PWD/$dir/train.list" \
	"$PWD/$dir/train.list" "$PWD/$dir/labels" "$PWD/$dir/backup" >"$dir/data"
sed "s/MAX_BATCHES/$batches/;s/FILTERS/$filters/" "$here/tiny.cfg" >"$dir/cfg"
exec darknet classifier train "$dir/data" "$dir/cfg"
