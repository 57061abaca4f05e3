// `npm run picture`: takes the README's picture, docs/summary.png, from the job summary of a real run of the demo.
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { chromium } from '@playwright/test'
import { runDemo } from './run-demo.ts'

const ROOT = resolve(import.meta.dirname, '..')
const PICTURE = join(ROOT, 'docs/summary.png')
/** As wide as a job's page leaves it beside its list of jobs, and twice as sharp. */
const VIEW = { viewport: { width: 800, height: 600 }, deviceScaleFactor: 2, colorScheme: 'light' } as const

/** Debian's, or the one that `CHROMIUM` names. */
function findChromium(): string {
  const path = process.env.CHROMIUM || '/usr/bin/chromium'
  if (existsSync(path)) return path
  throw new Error(`There is no Chromium at ${path}. Install it, or name another with CHROMIUM=/path/to/chromium.`)
}

async function takePicture(executablePath: string, page: string): Promise<void> {
  // The page is our own and runs nothing; in a container there is only root, whom Chromium gives no sandbox.
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--font-render-hinting=none'] })
  try {
    const tab = await browser.newPage(VIEW)
    await tab.goto(pathToFileURL(page).href)
    await tab.locator('main').screenshot({ path: PICTURE })
  } finally {
    await browser.close()
  }
}

async function main(): Promise<void> {
  const executablePath = findChromium()
  const folder = mkdtempSync(join(tmpdir(), 'picture-'))
  try {
    const inputs = {
      'env-overrides': 'WEB_SHOP_BUG=rounding',
      'run-url': 'https://app.example.com/{project}/runs/{run-id}',
    }
    const stop = new AbortController().signal
    const exitCode = await runDemo({ inputs }, { folder, print: () => {}, style: (_, text) => text, stop })
    if (exitCode !== 1) throw new Error(`The failing demo ended with ${exitCode}, not with 1: see npm start -- --fail.`)
    mkdirSync(dirname(PICTURE), { recursive: true })
    await takePicture(executablePath, join(folder, 'summary.html'))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  console.log(`Took ${PICTURE}.`)
}

try {
  await main()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
