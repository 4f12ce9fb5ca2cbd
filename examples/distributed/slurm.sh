#!/usr/bin/env bash
# A campaign as a job array of Slurm: each task takes its share of the pieces (docs/distributed.md). Its arguments are
# those of `sapper isolate`:
#   sbatch --array=0-31 slurm.sh models/ --on tpu:v5e --campaign nightly --store postgresql://sapper@db/sapper
# A task that is killed is put into the queue again, by itself or by Slurm, and goes on where it was.
#SBATCH --job-name=sapper
#SBATCH --cpus-per-task=4
#SBATCH --mem=16G
#SBATCH --time=08:00:00
#SBATCH --requeue
#SBATCH --output=sapper-%A_%a.log
#SBATCH --open-mode=append
set -u

"${SAPPER:-sapper}" isolate "$@" --jobs "${SLURM_CPUS_PER_TASK:-1}"
code=$?

# 0: all agree, 1: something was found, 3: something is undetermined. The campaign knows which; the task is done. 2: bad
# usage or input, which another try would not change. Above: sapper was killed.
case $code in
  0 | 1 | 3) exit 0 ;;
  2) exit 2 ;;
esac
if ((${SLURM_RESTART_COUNT:-0} >= 5)); then
  echo "slurm.sh: sapper ended with $code, for the sixth time; not queued again" >&2
  exit "$code"
fi
echo "slurm.sh: sapper ended with $code; queued again" >&2
scontrol requeue "$SLURM_JOB_ID"
