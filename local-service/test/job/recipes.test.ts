import { cpSync, existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inflateRawSync } from 'node:zlib'
import { describe, expect } from 'vitest'
import { read } from '../../../test/documents/documents.ts'
import { type PlayedJob, playJob } from '../../../tools/runner-emulator/job-player/job.ts'
import { type Files, type Jobs, PASSING, PLAYWRIGHT, test, VITEST } from '../support/a-job.ts'

// Plays the recipe in which several jobs share the tests. The tests of the projects really run.

/** What `npm ci` does was done before. */
const NPM = { npm: '#!/bin/sh\n' }

/** A folder with these commands, which the scripts of a job find before all others. */
function commands(jobs: Jobs, scripts: Files): string {
  const folder = jobs.folder()
  for (const [name, script] of Object.entries(scripts)) writeFileSync(join(folder, name), script, { mode: 0o755 })
  return folder
}

/** Playwright's HTML report contains a zip with a file for each test file, and the file `report.json`. */
function casesInHtml(report: string): Record<string, boolean> {
  const [, encoded = ''] =
    /data:application\/zip;base64,([^<"]+)</.exec(readFileSync(join(report, 'index.html'), 'utf8')) ?? []
  const zip = Buffer.from(encoded, 'base64')
  const files: Record<string, string> = {}
  // The zip ends with the position of its directory, and the length of a comment that is empty.
  for (let at = zip.readUInt32LE(zip.length - 6); zip.toString('latin1', at, at + 4) === 'PK\x01\x02'; ) {
    const [nameLength, extraLength] = [zip.readUInt16LE(at + 28), zip.readUInt16LE(at + 30)]
    const local = zip.readUInt32LE(at + 42)
    const content = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28)
    const name = zip.toString('utf8', at + 46, at + 46 + nameLength)
    files[name] = inflateRawSync(zip.subarray(content, content + zip.readUInt32LE(at + 20))).toString()
    at += 46 + nameLength + extraLength + zip.readUInt16LE(at + 32)
  }
  const { files: tested } = JSON.parse(files['report.json'] ?? '')
  const tests: readonly { title: string; ok: boolean }[] = tested.flatMap(({ tests }: { tests: unknown[] }) => tests)
  return Object.fromEntries(tests.map(({ title, ok }) => [title, ok]))
}

function casesInJunit(report: string): Record<string, boolean> {
  const cases = readFileSync(join(report, 'junit.xml'), 'utf8').matchAll(
    /<testcase [^>]*\bname="(\w+)"[^>]*>\s*(<failure)?/g,
  )
  return Object.fromEntries([...cases].map(([, title, failure]) => [title, failure === undefined]))
}

describe.concurrent('the recipe any-framework.yml', () => {
  const RECIPE = 'examples/workflows/any-framework.yml'
  const files = (text: string) => ({
    'cart.test.mjs': `import { test } from 'node:test'\ntest('adds', () => { ${text} })`,
  })

  test('passes with the tests', async ({ jobs }) => {
    const { folder } = await jobs.project(files(''))
    const { result, log } = await playJob(RECIPE, 'test-run', { workspace: folder, commands: commands(jobs, NPM) })
    expect(result, log).toBe('success')
    expect(log).toContain('finished as PASSED: 1 passed.')
  })

  test('fails with the tests, says why, and does not take the old report for a new one', async ({ jobs }) => {
    const { folder } = await jobs.project(files("throw new Error('rain')"))
    const play = (file: string) => playJob(file, 'test-run', { workspace: folder, commands: commands(jobs, NPM) })
    const { result, log } = await play(RECIPE)
    expect(result, log).toBe('failure')
    expect(log).toMatch(/^##\[error\]adds\nrain$/m)
    // A command that succeeds and writes nothing.
    const file = join(jobs.folder(), 'workflow.yml')
    writeFileSync(file, read(RECIPE).replace(/^( +)node$/m, '$1true'))
    const old = await play(file)
    expect(old.result, old.log).toBe('failure')
    expect(old.log).toContain('what matches "junit.xml" is older than this run')
  })
})

describe.concurrent('the recipe sharded.yml', () => {
  const RECIPE = read('examples/workflows/sharded.yml')

  interface Framework {
    readonly recipe: string
    /** A file of this name has one test. */
    readonly testFile: (name: string) => string
    readonly test: (title: string) => string
    readonly files: Files
    /** Whether each test passed, by its title, from the merged report. */
    readonly casesIn: (report: string) => Readonly<Record<string, boolean>>
  }

  const ofPlaywright: Framework = {
    recipe: RECIPE,
    testFile: (name) => `${name}.spec.ts`,
    test: (title) => PASSING.replace('vitest', '@playwright/test').replace('adds', title),
    files: { ...PLAYWRIGHT, 'playwright.config.ts': configuration('Playwright') },
    casesIn: casesInHtml,
  }
  const ofVitest: Framework = {
    recipe: recipeForVitest(),
    testFile: (name) => `${name}.test.ts`,
    test: (title) => PASSING.replace('adds', title),
    // The recipe's comment says that a project needs this for shards without tests.
    files: {
      ...VITEST,
      'vitest.config.ts': configuration('Vitest').replace('test: {', 'test: { passWithNoTests: true,'),
    },
    casesIn: casesInJunit,
  }

  /** The configuration that the recipe's comment gives. */
  function configuration(framework: string): string {
    const [, setting = ''] = new RegExp(`^#   ${framework}: (.*)$`, 'm').exec(RECIPE) ?? []
    expect(setting).toContain('blob')
    return framework === 'Vitest' ? `export default { test: { ${setting} } }` : `export default { ${setting} }`
  }

  /** The recipe with the lines for Vitest that its comment gives. */
  function recipeForVitest(): string {
    const [, merge = '', folder = ''] = /^# {3}(npx vitest .+)\n# {3}(.+)\n/m.exec(RECIPE) ?? []
    return replaceOnce(RECIPE, [
      [/- run: npx playwright merge-reports .*\n/, `- run: ${merge}\n`],
      ['path: playwright-report/\n', `path: ${folder}\n`],
    ])
  }

  function replaceOnce(text: string, changes: readonly (readonly [string | RegExp, string])[]): string {
    return changes.reduce((changed, [from, to]) => {
      expect(changed.split(from)).toHaveLength(2)
      return changed.replace(from, () => to)
    }, text)
  }

  /** Plays the jobs of a workflow for a project with these test files. The artifacts lie in a folder in place of GitHub. */
  async function prepare(jobs: Jobs, { recipe, testFile, test, files }: Framework, names: Files) {
    const tests = Object.entries(names).map(([name, body]) => [testFile(name), test(name).replace('{}', body)] as const)
    const { folder: workspace, git } = await jobs.project({ ...files, ...Object.fromEntries(tests) })
    const artifacts = jobs.folder()
    const options = {
      workspace,
      commands: commands(jobs, NPM),
      otherAction: (uses: string, inputs: Readonly<Record<string, string>>) => {
        const { name = '', path = '', pattern = '', 'merge-multiple': isMerged } = inputs
        const place = join(workspace, path)
        if (uses.startsWith('actions/upload-artifact@') && existsSync(place)) {
          if (existsSync(join(artifacts, name))) throw new Error(`There is an artifact ${name} already.`)
          cpSync(place, join(artifacts, name), { recursive: true })
        }
        if (uses.startsWith('actions/download-artifact@')) {
          for (const found of globSync(pattern, { cwd: artifacts }))
            cpSync(join(artifacts, found), isMerged === 'true' ? place : join(place, found), { recursive: true })
        }
      },
    }
    const file = join(jobs.folder(), 'workflow.yml')
    // Each job has the files of a new checkout. All jobs have the same path, as on GitHub's runners.
    const checkOut = () => git('clean', '--quiet', '-dfx', '--exclude=node_modules')
    return {
      report: join(artifacts, 'merged-report'),
      async shard(shard: number, text = recipe): Promise<PlayedJob> {
        writeFileSync(file, text)
        await checkOut()
        return playJob(file, 'tests', { ...options, contexts: { matrix: { shard } } })
      },
      async last(shards: readonly PlayedJob[]): Promise<PlayedJob> {
        await checkOut()
        const result = shards.every((one) => one.result === 'success') ? 'success' : 'failure'
        return playJob(file, 'test-run', { ...options, needs: { tests: { result } } })
      },
    }
  }

  const FRAMEWORKS = [
    ['Playwright', ofPlaywright],
    ['Vitest', ofVitest],
  ] as const

  test.for(
    FRAMEWORKS,
  )('divides the tests of %s, accepts a shard without tests only by `pass-with-no-tests`, and merges the reports', async ([
    ,
    framework,
  ], { jobs }) => {
    const gate = `branch: \${{ steps.service.outputs.commit }}\n`
    const lenient = replaceOnce(framework.recipe, [[gate, `${gate}          pass-with-no-tests: true\n`]])
    const names = { adds: '{}', ships: "{ throw new Error('rain') }" }
    const { report, shard, last } = await prepare(jobs, framework, names)
    // Each of the first two shards has one test, and the others have none.
    const played = [await shard(1), await shard(2)]
    expect(played.map(({ result }) => result).toSorted()).toEqual(['failure', 'success'])
    for (const { result, log } of played)
      expect(log).toContain(result === 'success' ? 'finished as PASSED: 1 passed.' : '1 of 1 test case failed')
    const refused = await shard(3)
    expect(refused.result, refused.log).toBe('failure')
    expect(refused.log).toContain('set the input pass-with-no-tests to true')
    const accepted = await shard(4, lenient)
    expect(accepted.result, accepted.log).toBe('success')

    const { result, log } = await last([...played, refused, accepted])
    expect(result, log).toBe('failure')
    expect(framework.casesIn(report)).toEqual({ adds: true, ships: false })
  })
})
