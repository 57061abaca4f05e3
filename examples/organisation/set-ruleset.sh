#!/usr/bin/env bash
# Reads the full name of a repository from its standard input. Creates the ruleset of a file there. If the repository has a
# ruleset of this name, the script changes that ruleset.
set -euo pipefail
file=$1
read -r repository
NAME=$(jq --raw-output .name "$file")
export NAME
id=$(gh api --paginate "repos/$repository/rulesets?includes_parents=false" --jq '.[] | select(.name == env.NAME) | .id')
if test -n "$id"; then
  gh api --method PUT "repos/$repository/rulesets/$id" --input "$file" --silent
else
  gh api --method POST "repos/$repository/rulesets" --input "$file" --silent
fi
