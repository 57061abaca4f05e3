import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface ActionFixture {
  /** A script in CommonJS, which runs after recordings/prelude.cjs. */
  readonly main: string
  readonly post?: string | undefined
  readonly inputs?: object | undefined
}

const PRELUDE = readFileSync(join(import.meta.dirname, 'recordings/prelude.cjs'), 'utf8')

export function writeAction(root: string, { main, post, inputs = {} }: ActionFixture): string {
  const folder = mkdtempSync(join(root, 'action-'))
  const runs = { using: 'node24', main: 'main.cjs', post: post === undefined ? undefined : 'post.cjs' }
  // JSON is YAML.
  writeFileSync(join(folder, 'action.yml'), JSON.stringify({ name: 'Fixture', inputs, runs }))
  writeFileSync(join(folder, 'main.cjs'), PRELUDE + main)
  if (post !== undefined) writeFileSync(join(folder, 'post.cjs'), PRELUDE + post)
  return folder
}

/** Logs each signal and goes on. Only SIGKILL ends it. */
export const STUBBORN = `for (const name of ['SIGINT', 'SIGTERM']) process.on(name, () => console.log('got ' + name))
console.log('ready'); hang()`

/** Starts a node that lives until it is killed, and logs its process id. */
export function spawning(options: object): string {
  return `const child = require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], ${JSON.stringify(options)})
console.log('child ' + child.pid)`
}

export function pidIn(line = ''): number {
  return Number(line.split(' ')[1])
}
