// Node loads this before every script in TypeScript. It is JavaScript, because an older Node cannot load TypeScript.
import { readFileSync } from 'node:fs'

const wanted = readFileSync(new URL('../.node-version', import.meta.url), 'utf8').trim()
const found = process.versions.node
if (Number.parseInt(found, 10) < Number(wanted)) {
  console.error(
    `Use Node ${wanted} instead of Node ${found}, or run "npm rebuild node --ignore-scripts=false", which allows the one install script that brings Node ${wanted}.`,
  )
  process.exit(1)
}
