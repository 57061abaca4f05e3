#!/usr/bin/env bash
# Reads the full name of a repository from its standard input. Runs the failed jobs of a workflow again that began in a period.
set -euo pipefail
workflow=$1 period=$2
read -r repository
runs=$(gh run list --repo "$repository" --workflow "$workflow" --status failure --created "$period" --limit 500 \
  --json databaseId --jq '.[].databaseId')
for run in $runs; do
  gh run rerun --failed --repo "$repository" "$run"
  sleep "${PAUSE:-3}"
done
