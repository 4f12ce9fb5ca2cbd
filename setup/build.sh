# shellcheck shell=bash
# Building: configures a preset once and lets Ninja bring targets up to date. Needs say.sh; $root is the checkout.

# build PRESET TARGET...
build() {
  local preset=$1 folder=${root:?}/build/$1
  shift
  export CCACHE_BASEDIR="$root"  # another clone's compilations serve this one
  mkdir -p "$folder" || stop "cannot make the folder $folder: check its owner and the space on its disk"
  exec {build_lock}>"$folder/.lock"
  flock -n "$build_lock" || {
    say "another sapper builds in $folder: waiting for it"
    flock "$build_lock"
  }
  if [[ ! -f $folder/build.ninja ]]; then
    step "Configuring ($preset)" "$root/build/logs/configure-$preset.log" \
      cmake -S "$root" --preset "$preset" || exit 3
  fi
  step "Building ($preset: $*)" "$root/build/logs/build-$preset.log" \
    cmake --build "$folder" -j "$(jobs)" --target "$@" || exit 3
  exec {build_lock}>&-
}

# As many compilers at a time as there are cores, and a GiB of memory for each.
jobs() {
  local gib
  gib=$(awk '/^MemTotal:/ { print int($2 / 1048576) + 1 }' /proc/meminfo)
  echo "${SAPPER_JOBS:-$(($(nproc) < gib ? $(nproc) : gib))}"
}
