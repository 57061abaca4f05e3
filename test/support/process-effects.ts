import { join } from 'node:path'
import { inputVariable, readManifest } from '../../tools/runner-emulator/step-runner/manifest.ts'

/** The lines that the task writes to standard output. They are not written. */
export function linesWrittenBy(task: () => void): string[] {
  const { write } = process.stdout
  let text = ''
  process.stdout.write = (chunk: string | Uint8Array) => {
    text += chunk
    return true
  }
  try {
    task()
  } finally {
    process.stdout.write = write
  }
  return text.split(/\r?\n/).slice(0, -1)
}

const DECLARED = Object.keys(readManifest(join(import.meta.dirname, '../..')).defaults)

/** The variables that the runner makes of a step's inputs. Every declared input has a variable, empty if it is not given. */
export function inputVariables(given: Readonly<Record<string, string>>): Record<string, string> {
  const values = { ...Object.fromEntries(DECLARED.map((name) => [name, ''])), ...given }
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [inputVariable(name), value]))
}
