#!/usr/bin/env bash
# Tests of the set-up scripts (setup/*.sh) in a scratch folder, with stand-ins for pip and the package manager: no network, nothing
# installed. Usage: setup_test.sh CHECKOUT
set -euo pipefail
checkout=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0

# A checkout with the scripts alone and two plugins; pip is a stand-in that does what $scratch/pip says.
root=$scratch/checkout
mkdir -p "$root/src/target" "$scratch/bin"
cp -r "$checkout/setup" "$root/"
cp "$checkout/src/target/fetch_plugin.sh" "$root/src/target/"
cat >"$root/src/target/plugins.txt" <<'TABLE'
# a comment
cpu@1.0  some-cpu  1.0  lib/cpu.so  setup
tpu@2.0  libtpu    2.0  lib/tpu.so  setup
gpu@3.0  some-gpu  3.0  lib/gpu.so  use
TABLE
cat >"$scratch/bin/python3" <<'PYTHON'
#!/usr/bin/env bash
# "-m pip download ... --dest FOLDER WHEEL==VERSION" leaves a wheel; "-m zipfile -e WHEEL FOLDER" unpacks lib/KIND.so.
if [[ $2 == pip ]]; then
  while [[ $1 != --dest ]]; do shift; done
  sleep 0.2
  [[ ! -e $STAND_IN/offline ]] || { echo "Failed to establish a new connection"; exit 1; }
  echo "$3" >>"$STAND_IN/downloads"
  touch "$2/${3%%==*}.whl"
else
  mkdir -p "$5/lib"
  [[ ! -e $STAND_IN/full ]] || { echo "No space left on device"; exit 1; }
  touch "$5/lib/cpu.so" "$5/lib/tpu.so"
fi
PYTHON
chmod +x "$scratch/bin/python3"
export STAND_IN=$scratch PATH=$scratch/bin:$PATH SAPPER_CACHE=$scratch/cache

# set_up COMMAND...: COMMAND with the set-up scripts at hand, its words in $scratch/said.
set_up() {
  (
    source "$root/setup/say.sh"
    source "$root/setup/packages.sh"
    source "$root/setup/plugins.sh"
    source "$root/setup/build.sh"
    "$@"
  ) >"$scratch/said" 2>&1
}

expect() {
  local what=$1
  shift
  if ! "$@"; then
    echo "FAILED: $what. Set-up said:"
    cat "$scratch/said"
    failures=$((failures + 1))
  fi
}
said() { grep -q -- "$1" "$scratch/said"; }
silent_about() { ! said "$1"; }
silent() { [[ ! -s $scratch/said ]]; }
downloaded_once() { [[ $(sort "$scratch/downloads" | uniq -d) == "" ]]; }
present() { [[ -e $SAPPER_CACHE/plugins/$1 ]]; }
absent() { ! present "$1"; }
afresh() { rm -rf "$SAPPER_CACHE" "$scratch"/{downloads,offline,full}; }

afresh
set_up missing_plugins
expect "the plugins of set-up are missing at first" said '^cpu@1.0 some-cpu 1.0$'
expect "a plugin that is fetched at use is not" silent_about gpu
SAPPER_WITHOUT_TPU=1 set_up missing_plugins
expect "SAPPER_WITHOUT_TPU leaves libtpu out" silent_about libtpu

set_up install_plugins
expect "the first plugin is in the cache" present some-cpu-1.0/lib/cpu.so
expect "and the second" present libtpu-2.0/lib/tpu.so
expect "the licence of libtpu is told" said "Google's own licence"
set_up missing_plugins
expect "then none is missing" silent

afresh
set_up install_plugins &
set_up install_plugins &
wait
expect "two set-ups at once download a plugin once" downloaded_once

afresh
touch "$scratch/offline"
set_up install_plugins
expect "without a network set-up goes on" said 'going on without cpu@1.0 tpu@2.0'
expect "and says what to do" said 'the network or a proxy does not answer'
expect "and remembers" set_up plugins_unreachable

afresh
touch "$scratch/full"
set_up install_plugins
expect "a full disk is told" said 'the disk is full'
expect "and leaves no half plugin" absent some-cpu-1.0

status=0
set_up step "A step" "$scratch/step.log" bash -c 'echo the reason; exit 7' || status=$?
expect "a step that fails has its command's exit code" [ $status = 7 ]
expect "and shows the end of its log" said '| the reason'

set_up jobs
expect "at least one compiler runs" grep -qx '[1-9][0-9]*' "$scratch/said"
SAPPER_JOBS=3 set_up jobs
expect "SAPPER_JOBS says how many" grep -qx 3 "$scratch/said"

((failures == 0)) && echo "all set-up tests passed"
