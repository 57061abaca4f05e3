#!/usr/bin/env bash
# Reads "repository, project, key" from its standard input, separated by tabs. Stores the project as a variable, and the key as a
# secret for workflows and for Dependabot.
set -euo pipefail
IFS=$'\t' read -r repository project key
test -n "$key" || { echo 'The line needs three columns: repository, project and key.'; exit 1; }
gh variable set TEST_PROJECT --repo "$repository" --body "$project"
for app in actions dependabot; do
  printf %s "$key" | gh secret set TEST_SERVICE_API_KEY --repo "$repository" --app "$app"
done
