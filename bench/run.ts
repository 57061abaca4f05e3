// Measures what a step costs. `--write` puts the results into README.md beside this file. No test checks them.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { arch, availableParallelism, cpus, loadavg, platform, totalmem } from 'node:os'
import { join } from 'node:path'
import { noticing } from './noticing.ts'
import { scale } from './scale.ts'
import { startUp } from './start-up.ts'
import { type Part, table } from './table.ts'

const [OPENING, CLOSING] = ['<!-- results -->', '<!-- /results -->']

function machine(): string {
  const [load = 0] = loadavg()
  const facts = [
    `${availableParallelism()} × ${cpus()[0]?.model.trim() ?? 'unknown processor'}`,
    `${(totalmem() / 2 ** 30).toFixed(0)} GiB of memory`,
    `${platform()} ${arch()}`,
    `Node ${process.versions.node}`,
    `load ${load.toFixed(1)} at the beginning`,
  ]
  return `Measured by \`npm run bench\` on: ${facts.join(', ')}.`
}

function report(facts: string, parts: readonly Part[]): string {
  const findings = parts.flatMap((part) => part.findings)
  const rows = findings.map(({ what, goal, result, isReached }) => [what, goal, `${isReached ? '✅' : '❌'} ${result}`])
  const details = parts.map((part) => `### ${part.title}\n\n${part.details}`)
  return [facts, table(['What', 'Goal', 'Result'], rows), ...details].join('\n\n')
}

function writeReadme(text: string): void {
  const path = join(import.meta.dirname, 'README.md')
  const readme = readFileSync(path, 'utf8')
  const [from, to] = [readme.indexOf(OPENING), readme.indexOf(CLOSING)]
  if (from === -1 || to < from) throw new Error(`bench/README.md has no place for the results: ${OPENING} … ${CLOSING}`)
  writeFileSync(path, `${readme.slice(0, from + OPENING.length)}\n\n${text}\n\n${readme.slice(to)}`)
}

const isWriting = process.argv.includes('--write')
const facts = machine()
// What is measured is the committed bundle: it has to be what the source says.
execFileSync(process.execPath, [join(import.meta.dirname, '../scripts/build.ts'), '--check'], { stdio: 'inherit' })
const parts: Part[] = []
for (const measure of [startUp, scale, noticing]) {
  const part = await measure()
  parts.push(part)
  console.log(`\n${part.title}`)
  for (const { what, goal, result, isReached } of part.findings) {
    console.log(`  ${isReached ? '✅' : '❌'} ${what}: ${result} (goal: ${goal})`)
  }
}
if (isWriting) writeReadme(report(facts, parts))
else console.log('\nTo put these results and their details into bench/README.md: npm run bench -- --write')
