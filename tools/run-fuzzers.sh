#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Run every libFuzzer program of a build folder: run-fuzzers.sh BUILD_FOLDER SECONDS_EACH
# New inputs go to BUILD_FOLDER/corpus/<name>; a crashing input ends the run and stays there.
set -eu

folder=$1
seconds=$2
ran=0
for program in "$folder"/fuzz/fuzz_*; do
	[ -f "$program" ] && [ -x "$program" ] || continue
	name=${program##*/fuzz_}
	mkdir -p "$folder/corpus/$name"
	echo "== $name"
	"$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
		-artifact_prefix="$folder/corpus/$name-" "$folder/corpus/$name" "fuzz/corpus/$name"
	ran=$((ran + 1))
done
echo "$ran fuzz targets ran clean"
[ "$ran" -gt 0 ]
