#!/bin/bash
# Long-lived workers of a fleet (docs/fleet.md) as a Slurm job array: each element is a node that works until its
# time is over. Before that Slurm sends SIGTERM; the node then gives its tasks back at once.
#
#   sbatch --array=1-16 deploy/slurm/workers.sh postgresql://foretell@db.example.org/foretell
#
# The password is in ~/.pgpass (mode 0600), which every machine of the cluster sees.
#SBATCH --job-name=foretell-workers
#SBATCH --cpus-per-task=8
#SBATCH --mem=32G
#SBATCH --time=12:00:00
#SBATCH --signal=B:TERM@120
#SBATCH --requeue
set -euo pipefail

store=${1:?usage: sbatch --array=1-N workers.sh postgresql://USER@HOST/DATABASE}
state=$(mktemp -d "${TMPDIR:-/tmp}/foretell-XXXXXX")
trap 'rm -rf "$state"' EXIT
foretelld --role workers --store "$store" --listen '' --state "$state" \
    --workers "${SLURM_CPUS_PER_TASK:-0}" &
node=$!
trap 'kill -TERM "$node"' TERM INT
# The first wait ends with the signal, the second with the node.
wait "$node" || wait "$node"
