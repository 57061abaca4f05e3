#!/usr/bin/env node
// Plain JavaScript that any Node can read, so that one that is too old can say so.
const NEEDED = 24

if (Number.parseInt(process.versions.node, 10) < NEEDED) {
  console.error(`test-run-service needs Node ${NEEDED} or newer; this is Node ${process.versions.node}.`)
  process.exitCode = 1
} else {
  import('../build/src/main.js')
}
