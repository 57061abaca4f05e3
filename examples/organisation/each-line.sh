#!/usr/bin/env bash
# Runs a command once for each line of a file, with the line as its standard input:
#
#     bash each-line.sh keys.tsv bash store-key.sh
#
# The first column of a line is its name, and each line needs a name of its own. The script prints the names for which the
# command succeeded. At the end it lists the names for which the command failed, and its exit code is 1. A second run repeats
# only these. The file LIST.done remembers the last command of each name. It has names and hashes, and no keys.
set -uo pipefail
: "${PAUSE:=3}" "${RATE_LIMIT_PAUSE:=60}" # seconds

list=$1
shift
done=$list.done
output=$(mktemp)
trap 'rm -f "$output"' EXIT

# GitHub asks for a minute's pause after its rate limits, and for longer pauses if that is not enough.
run() {
  local line=$1 pause=$RATE_LIMIT_PAUSE
  shift
  for _ in 1 2 3; do
    if "$@" <<< "$line" > "$output" 2>&1; then return; fi
    grep --quiet --ignore-case 'rate limit' "$output" || break
    sleep "$pause"
    pause=$((pause * 2))
  done
  return 1
}

# If a file of the command has changed, the command is another one.
command=$(for word in "$@"; do printf '%s\n' "$word"; test ! -f "$word" || cat "$word"; done | git hash-object --stdin)
touch "$done"
failed=()
while IFS= read -r line || test -n "$line"; do
  line=${line%$'\r'} # of a file from Windows
  test -n "$line" || continue
  name=${line%%$'\t'*}
  entry=$name$'\t'$(printf '%s\n' "$command" "$line" | git hash-object --stdin)
  last=$(awk -F '\t' -v name="$name" '$1 == name { last = $0 } END { print last }' "$done")
  if test "$last" = "$entry"; then continue; fi
  if run "$line" "$@"; then
    printf '%s\n' "$entry" >> "$done"
    printf '%s\n' "$name"
  else
    printf '%s: %s\n' "$name" "$(cat "$output")" >&2
    failed+=("$name")
  fi
  sleep "$PAUSE"
done < "$list"

if test "${#failed[@]}" -gt 0; then
  printf 'The command failed for these. Run it again to repeat only them:\n' >&2
  printf '%s\n' "${failed[@]}" >&2
  exit 1
fi
