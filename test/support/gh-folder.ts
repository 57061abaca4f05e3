import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { readDocument } from '../docs/documents.ts'

// Runs the commands of a page with a `gh` that records how it is called, has the responses of a test, and fails if the test says so.

/** A call of `gh`, or of another recorded command. The input is that of `--input` or of the standard input. */
export interface Call {
  readonly args: string
  readonly input: string
}

export interface GhFolder {
  /** Runs commands in the folder, as a person does in a terminal. */
  run(commands: string): { readonly status: number | null; readonly stdout: string; readonly stderr: string }
  /** The calls since the last look. */
  calls(): readonly Call[]
  read(file: string): string
  write(file: string, text: string): void
  /** Lets calls fail whose arguments contain the part. A message that begins with "once" does so for one call. */
  fail(failures: Readonly<Record<string, string>>): void
}

const RECORDER = `#!/bin/bash
input=
for ((i = 1; i <= $#; i++)); do
  if [[ \${!i} = --input ]]; then next=$((i + 1)); file=\${!next}; fi
done
if [[ $file = - || $1 = secret ]]; then input=$(cat); elif [[ -n $file ]]; then input=$(cat "$file"); fi
jq --null-input --compact-output --arg args "$*" --arg input "$input" '{ $args, $input }' >> "$HERE/calls"
while IFS= read -r failure; do
  message=\${failure#*:} part=\${failure%%:*}
  if [[ -n $part && "$*" = *"$part"* ]]; then
    if [[ $message = once* ]]; then
      grep --invert-match --line-regexp --fixed-strings "$failure" "$HERE/failures" > "$HERE/left"
      mv "$HERE/left" "$HERE/failures"
    fi
    echo "$message" >&2
    exit 1
  fi
done < "$HERE/failures"
filter=
for ((i = 1; i <= $#; i++)); do
  if [[ \${!i} = --jq ]]; then next=$((i + 1)); filter=\${!next}; fi
done
response=$(jq --arg args "$*" 'first(to_entries[] | select(.key as $part | $args | contains($part)) | .value)' "$HERE/responses.json")
test -z "$response" || jq --raw-output "\${filter:-.}" <<< "$response"
`

/** A new folder. Each response is for calls whose arguments contain the key. */
export function ghFolder(responses: Readonly<Record<string, unknown>> = {}): GhFolder {
  const folder = mkdtempSync(join(tmpdir(), 'gh-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const name of ['calls', 'failures']) writeFileSync(join(folder, name), '')
  writeFileSync(join(folder, 'responses.json'), JSON.stringify(responses))
  writeFileSync(join(folder, 'gh'), RECORDER, { mode: 0o755 })
  const path = (file: string) => join(folder, file)
  return {
    run(script) {
      const env = {
        ...process.env,
        PATH: `${folder}:${process.env.PATH}`,
        HERE: folder,
        PAUSE: '0',
        RATE_LIMIT_PAUSE: '0',
      }
      const args = ['-e', '-o', 'pipefail', '-c', script]
      const { status, stdout, stderr } = spawnSync('bash', args, { cwd: folder, env, encoding: 'utf8' })
      return { status, stdout, stderr }
    },
    calls() {
      const lines = readFileSync(path('calls'), 'utf8').split('\n')
      writeFileSync(path('calls'), '')
      return lines.filter((line) => line !== '').map((line): Call => JSON.parse(line))
    },
    read: (file) => readFileSync(path(file), 'utf8'),
    write: (file, text) => writeFileSync(path(file), text),
    fail(failures) {
      const lines = Object.entries(failures).map(([part, message]) => `${part}:${message}\n`)
      writeFileSync(path('failures'), lines.join(''))
    },
  }
}

/** The shell commands below a heading of a page. */
export function commandsOf(page: string, heading: string): readonly string[] {
  const blocks = readDocument(page).blocks.filter(({ section, language }) => section === heading && language === 'sh')
  if (blocks.length === 0) throw new Error(`${page} has no commands below "${heading}"`)
  return blocks.map(({ text }) => text)
}
