import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import { writeProject } from '../table/project.ts'

const PROGRAM = join(import.meta.dirname, '../main.ts')

function run(args: readonly string[], cwd: string) {
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env
  const env = { PATH, HOME, NODE_COMPILE_CACHE, NO_COLOR: '1' }
  const ended = spawnSync(process.execPath, [PROGRAM, ...args], { cwd, env, encoding: 'utf8' })
  return { code: ended.status, output: ended.stdout, errors: ended.stderr }
}

/** A project whose test fails through the service only. */
async function projectThatDiffers(): Promise<string> {
  const folder = join(temporaryFolder(), 'shop')
  mkdirSync(folder)
  const files = {
    'a.test.js': `
      import { expect, it } from 'vitest'
      it('passes', () => {})
      it('runs by hand', () => expect(process.env.LOCAL_SERVICE_RUN_ID).toBe(undefined))`,
  }
  await writeProject({ name: 'shop', framework: 'vitest', files }, folder, 5)
  return folder
}

describe('npm run by-hand', () => {
  it('prints both results, and a sentence for each difference', async () => {
    const folder = await projectThatDiffers()
    const { code, output, errors } = run(['--framework=vitest', folder, '--bail=5'], folder)
    expect(errors).toBe('')
    expect(output).toContain(`in ${folder}, with the arguments "--bail=5"`)
    expect(output).toContain('\nby hand: exits with 0, 2 PASSED\nthrough the service: FAILED, 1 FAILED, 1 PASSED\n')
    expect(output).toContain('- By hand, "vitest run --bail=5" exits with 0, but the run is FAILED.\n')
    expect(output).toContain(
      '- The test "a.test.js > runs by hand" is PASSED by hand. The run has no such test with this result.\n',
    )
    expect(code).toBe(1)
  })

  it.each([
    [['nowhere'], /^There is no folder \S+nowhere\. Write the folder of the project first/],
    [['--bail'], /^The first argument is "--bail"\. Write the folder of the project first\.\n$/],
    [['--framework=mocha', '.'], /^The framework is "mocha"\. Write --framework=vitest or .* or --framework=jest\.\n$/],
    [['.'], /^\S+package\.json names none of the frameworks that this program compares\. Write --framework=vitest/],
    [
      ['--framework=vitest', '.'],
      /^vitest is not installed in .* or in a folder above it\. Install the packages first\.\n$/,
    ],
  ])('exits with 2 and a sentence if it is called with %j', (args, sentence) => {
    const { code, output, errors } = run(args, temporaryFolder())
    expect(errors).toMatch(sentence)
    expect({ code, output }).toEqual({ code: 2, output: '' })
  })

  it('prints a line for each row of the table', () => {
    const { code, output } = run(['--table', 'vitest 4: vitest run --retires=3 (shop)'], temporaryFolder())
    const line = '1/1 same vitest 4: vitest run --retires=3 (shop)'
    expect(output).toBe(`${line}\n1 rows: 1 are the same, 0 have a known difference.\n`)
    expect(code).toBe(0)
  })
})
