#!/bin/sh
# fetch_plugin.sh CACHE WHEEL VERSION: makes CACHE/plugins/WHEEL-VERSION/ hold the unzipped wheel (see plugins.txt), through
# pip. Does nothing when the folder is there. Safe to run many times at once: one downloads, the others wait; the folder
# appears whole or not at all. The setup script calls this file; the binary carries a copy for releases asked for later.
set -eu
cache=$1 wheel=$2 version=$3
folder=$cache/plugins/$wheel-$version
[ -d "$folder" ] && exit 0
mkdir -p "$cache/plugins"
exec 9> "$cache/plugins/.$wheel-$version.lock"
flock 9
[ -d "$folder" ] && exit 0

partial=$folder.partial
rm -rf "$partial"
trap 'rm -rf "$partial"' EXIT
mkdir -p "$partial/download"

# The plugins are plain C libraries: any Python tag will do, and every manylinux tag up to Debian 12's glibc.
platforms=manylinux2014_x86_64
for minor in $(seq 17 36); do platforms="$platforms --platform manylinux_2_${minor}_x86_64"; done
# shellcheck disable=SC2086 # one word an option
python3 -m pip download --retries 1 --disable-pip-version-check --no-cache-dir --no-deps --only-binary=:all: \
  --implementation cp --python-version 3.11 --abi cp311 --abi abi3 --abi none --platform $platforms \
  --dest "$partial/download" "$wheel==$version" >&2
python3 -m zipfile -e "$partial"/download/*.whl "$partial" >&2
rm -rf "$partial/download" "$partial/libtpu/sdk.so" # a Python extension that nothing here needs
mv -T "$partial" "$folder"
