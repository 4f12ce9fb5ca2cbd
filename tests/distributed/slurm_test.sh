#!/usr/bin/env bash
# A campaign on a job array of a real Slurm, kept in a real PostgreSQL, with shards killed in three ways, comes to what one
# undisturbed process with SQLite comes to. The cluster is this machine alone: its daemons, with all they write, live in a
# temporary folder, listen on 127.0.0.1 or sockets in it, and end with the test.
# Usage: slurm_test.sh SAPPER [MODULE|FOLDER...]    exit code: 0 passed, 1 failed, 77 skipped
set -euo pipefail
root=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
sapper=$(realpath "${1:?usage: slurm_test.sh SAPPER [MODULE|FOLDER...]}")
modules=("${@:2}")

skip() {
  echo "skipped: $*"
  exit 77
}
failed() {
  echo "FAILED: $*" >&2
  exit 1
}

if ((!${#modules[@]})); then
  modules=("$root/examples")
  for model in "$root"/../shared/corpus/models/{jnp_expm,numpyro_svi_mvn}.cpu.hlo.pb.zst; do
    [[ ! -e $model ]] || modules+=("$(realpath "$model")")
  done
  ((${#modules[@]} > 1)) || skip "no modules are given, and the corpus (../shared) is not here; the examples alone are judged too quickly"
fi
for program in munged mungekey slurmctld slurmd sbatch scontrol jq; do
  command -v "$program" >/dev/null || [[ -x /usr/sbin/$program ]] ||
    skip "$program is not installed (Debian: apt-get install slurm-wlm munge jq)"
done
postgresql=$(find /usr/lib/postgresql -path '*/bin/initdb' 2>/dev/null | sort -V | tail -1) || true
[[ -n $postgresql ]] || skip "PostgreSQL is not installed (Debian: apt-get install postgresql)"
postgresql=${postgresql%/initdb}
PATH=$PATH:/usr/sbin

scratch=$(mktemp -d "${TMPDIR:-/tmp}/sapper-slurm-XXXXXX")
chmod 755 "$scratch"
daemons=()
# The server refuses to run as root: as root, another user owns it.
as_server_user() { if ((EUID == 0)); then runuser -u nobody -- "$@"; else "$@"; fi; }
clean_up() {
  local code=$?
  ((code == 0)) || tail -n 20 "$scratch"/*.log >&2 || true
  [[ ! -e $scratch/slurm.conf ]] || scancel --quiet --user="$(id -un)" 2>/dev/null || true
  ((!${#daemons[@]})) || kill "${daemons[@]}" 2>/dev/null || true
  wait
  [[ ! -d $scratch/postgresql/data ]] ||
    as_server_user "$postgresql/pg_ctl" -D "$scratch/postgresql/data" -m immediate stop >/dev/null || true
  rm -rf "$scratch"
}
trap clean_up EXIT

free_port() {
  local port
  while port=$((20000 + RANDOM % 20000)) && (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do :; done
  echo "$port"
}
start() {
  "$@" >"$scratch/$1.log" 2>&1 </dev/null &
  daemons+=($!)
}
# wait_until SECONDS WHAT COMMAND...
wait_until() {
  local until=$((SECONDS + $1)) what=$2
  while ! "${@:3}" >/dev/null 2>&1; do
    ((SECONDS < until)) || failed "$what: not after $1 s"
    sleep 0.1
  done
}

start_postgresql() {
  local folder=$scratch/postgresql
  mkdir "$folder"
  ((EUID != 0)) || chown nobody "$folder"
  as_server_user "$postgresql/initdb" -D "$folder/data" -U sapper -A trust --no-sync -E UTF8 --locale=C >/dev/null
  as_server_user "$postgresql/pg_ctl" -w -D "$folder/data" -l "$folder/log" \
    -o "-k $folder -c listen_addresses= -c fsync=off" start >/dev/null
  "$postgresql/createdb" -h "$folder" -U sapper campaigns
  url="postgresql://sapper@/campaigns?host=$folder"
}

# One node that pretends to have a processor for each of the four shards.
start_slurm() {
  local name
  name=$(hostname -s)
  mkdir "$scratch/state" "$scratch/spool"
  cat >"$scratch/slurm.conf" <<CONF
ClusterName=test
SlurmctldHost=$name(127.0.0.1)
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthInfo=socket=$scratch/munge.socket,cred_expire=5
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SlurmctldPort=$(free_port)
SlurmdPort=$(free_port)
SlurmctldPidFile=$scratch/slurmctld.pid
SlurmdPidFile=$scratch/slurmd.pid
StateSaveLocation=$scratch/state
SlurmdSpoolDir=$scratch/spool
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1,bf_interval=1
KillWait=1
NodeName=$name NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
  echo 'CgroupAutomount=no' >"$scratch/cgroup.conf"
  export SLURM_CONF=$scratch/slurm.conf
  mungekey --create --keyfile="$scratch/munge.key"
  start munged --foreground --key-file="$scratch/munge.key" --socket="$scratch/munge.socket" \
    --pid-file="$scratch/munged.pid" --log-file="$scratch/munged-own.log" --seed-file="$scratch/munge.seed"
  wait_until 20 "munge answers" munge --no-input --socket="$scratch/munge.socket"
  start slurmctld -D
  start slurmd -D
  wait_until 60 "the node is idle" node_is_idle
}
node_is_idle() { [[ $(sinfo --noheader --format=%T) == idle ]]; }

# submit ARRAY: the example's script; prints the job.
submit() {
  SAPPER=$sapper sbatch --parsable --chdir="$scratch" --array="$1" --cpus-per-task=1 --mem=0 "$root/examples/distributed/slurm.sh" \
    "${modules[@]}" --on cpu --campaign c --store "$url"
}
# sapper's process in a task of $job.
process_of_task() {
  local process
  for process in $(pgrep -f "^$sapper isolate "); do
    grep -qsz "^SLURM_ARRAY_JOB_ID=$job$" "/proc/$process/environ" || continue
    grep -qsz "^SLURM_ARRAY_TASK_ID=$1$" "/proc/$process/environ" || continue
    echo "$process"
    return 0
  done
  return 1
}
runs_recorded() { "$postgresql/psql" -h "$scratch/postgresql" -U sapper -At -c 'SELECT count(*) FROM runs' campaigns; }
some_are_recorded() { (($(runs_recorded) >= 4)); }
task_field() { scontrol show job "${job}_$1" --oneliner | grep -o "$2=[^ ]*" | cut -d= -f2; }
task_is() { [[ $(task_field "$1" JobState) == "$2" ]]; }
all_ended() { [[ -z $(squeue --noheader --jobs="$job" 2>/dev/null) ]]; }
# Workers of killed processes end by themselves.
no_worker_is_left() { ! pgrep -f "^sapper worker " | sed "s|.*|/proc/&/environ|" | xargs -r grep -lsz "^SLURM_ARRAY_JOB_ID=$job$" | grep -q .; }

start_postgresql
start_slurm
echo "a Slurm of one node runs in $scratch"

began=$SECONDS
"$sapper" isolate "${modules[@]}" --on cpu --campaign c --store "$scratch/one.db" >"$scratch/one.log" || (($? != 2))
echo "one process: $((SECONDS - began)) s"

began=$SECONDS
job=$(submit 0-3)
wait_until 120 "results come in" some_are_recorded
for shard in 1 2 3; do
  process_of_task "$shard" >/dev/null || failed "shard $shard has ended before it could be killed: give larger modules"
done
kill -KILL "$(process_of_task 1)"
scancel --signal=KILL --full "${job}_2"
scontrol requeue "${job}_3"
echo "$(runs_recorded) results were recorded when shard 1 lost its process, 2 was killed as a whole, 3 was queued again"
wait_until 60 "shard 2 is cancelled" task_is 2 CANCELLED
scontrol requeue "${job}_2"
wait_until 600 "all shards have ended" all_ended
wait_until 20 "the last worker has ended" no_worker_is_left
echo "four shards: $((SECONDS - began)) s"

for shard in 0 1 2 3; do
  task_is "$shard" COMPLETED || failed "shard $shard is $(task_field "$shard" JobState)"
  restarts=$(task_field "$shard" Restarts)
  ((restarts == (shard > 0 ? 1 : 0))) || failed "shard $shard was started $restarts times more"
  grep -q "(shard $shard/4)" "$scratch/sapper-${job}_$shard.log" || failed "the log of shard $shard does not name it"
done
grep -q 'ended with 137; queued again' "$scratch/sapper-${job}_1.log" || failed "shard 1 did not queue itself again"

report() {
  local code=0
  "$sapper" report c --store "$1" --json >"$scratch/report.json" || code=$?
  ((code != 2)) || failed "no report of $1"
  jq -S '{pieces, occurrences, judged, verdicts, undetermined, findings: [.findings[].id] | sort}' "$scratch/report.json"
}
report "$scratch/one.db" >"$scratch/one.json"
report "$url" >"$scratch/shards.json"
diff "$scratch/one.json" "$scratch/shards.json" || failed "the shards came to something else than one process"
jq -e '.judged == .pieces and .judged > 20' "$scratch/one.json" >/dev/null || failed "not all was judged"
(($(runs_recorded) == $(jq .pieces "$scratch/one.json"))) || failed "a piece has more than one result"

job=$(submit 0)
wait_until 120 "the run after all shards has ended" all_ended
grep -q ', 0 judged now' "$scratch/sapper-${job}_0.log" || failed "something was left for the run after all shards"
jq -r '"equal: \(.pieces) pieces from \(.occurrences) places, verdicts \(.verdicts | tostring), \(.findings | length) findings"' \
  "$scratch/one.json"
