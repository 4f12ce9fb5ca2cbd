# shellcheck shell=bash
# What set-up says: one line a step with its time, all on stderr; a step's own output goes to a log. In a terminal the line is
# live; elsewhere it is plain and repeated every half minute. A step that fails shows the end of its log and what to do.

say() { printf 'sapper: %s\n' "$*" >&2; }

# stop MESSAGE...: the last word of a set-up that cannot go on.
stop() {
  say "$@"
  exit 3
}

# Keeps telling how far the step TITLE is, from the last line of its LOG, until it is killed or left alone.
tell_progress() {
  local title=$1 log=$2 start=$3 every=30 width=80 never last
  trap '' INT
  if [[ -t 2 ]]; then
    every=0.5
    width=$(stty size <&2 | cut -d' ' -f2) || width=80
  fi
  exec {never}<> <(:)  # nothing ever comes: reading it with a limit of time is a pause that leaves no process behind
  while kill -0 $$ 2>/dev/null; do
    read -rt "$every" -u "$never" || true
    last=$(tail -c 400 "$log" | tr '\r' '\n' | grep -a . | tail -n 1) || true
    last="sapper: $title, $((SECONDS - start)) s: $last"
    if [[ -t 2 ]]; then
      printf '\r\e[K%s' "${last:0:width - 1}" >&2
    else
      printf '%s\n' "$last" >&2
    fi
  done
}

# step TITLE LOG COMMAND...: runs COMMAND with its output in LOG; says when it is done, or why it failed and what to do.
step() {
  local title=$1 log=$2 reporter status=0 start=$SECONDS
  shift 2
  mkdir -p "${log%/*}"
  : >"$log"
  [[ -t 2 ]] || say "$title ..."
  tell_progress "$title" "$log" "$start" &
  reporter=$!
  trap 'kill "$reporter" 2>/dev/null' EXIT  # when this step is interrupted
  "$@" >"$log" 2>&1 </dev/null || status=$?
  kill "$reporter" 2>/dev/null || true
  wait "$reporter" 2>/dev/null || true
  trap - EXIT
  [[ ! -t 2 ]] || printf '\r\e[K' >&2
  if ((status == 0)); then
    say "$title: done in $((SECONDS - start)) s"
    return 0
  fi
  say "$title: FAILED after $((SECONDS - start)) s. The end of $log:"
  tail -n 15 "$log" | cut -c 1-200 | sed 's/^/  | /' >&2
  say "What to do: $(advice "$log")"
  return "$status"
}

# What a person can do about the failure that LOG tells of: the first row whose pattern is found in it.
advice() {
  local log=$1 pattern text
  while IFS='|' read -r pattern text; do
    if grep -qaE "${pattern//,/|}" "$log"; then
      echo "$text"
      return
    fi
  done <<'TABLE'
No space left on device|the disk is full: free some space and run this again; what is finished is kept.
Could not get lock,Unable to acquire the dpkg|another program is installing packages: wait for it and run this again.
Temporary failure,Could not resolve,Failed to establish,Network is unreachable,Connection timed out,ConnectTimeout,ProxyError|the network or a proxy does not answer: run this again when it does; what is finished is kept.
pjrt_c_api.h is not in|the PJRT header comes with the plugin cpu@0.81, which is not in the cache: run this again when the network answers.
No matching distribution,Unable to locate package|the package index that this machine uses does not have it: check its configuration (apt sources, pip config).
Permission denied,Read-only file system|this user may not write there: check the owner of the folder named above.
Killed signal terminated,signal terminated program cc1plus|the compiler ran out of memory: run this again with SAPPER_JOBS=1.
error: |the sources do not compile: the first error in the log names the file and line.
|read the log above; run this again when its cause is gone: what is finished is kept.
TABLE
}
