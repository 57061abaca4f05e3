#!/usr/bin/env bash
# Reads the full name of a repository from its standard input, and sets its custom property "test-gate".
set -euo pipefail
value=$1
read -r repository
gh api --method PATCH "repos/$repository/properties/values" --silent \
  -f 'properties[][property_name]=test-gate' -f "properties[][value]=$value"
