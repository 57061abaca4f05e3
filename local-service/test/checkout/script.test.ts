import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { writeFiles } from '../../../test/support/git-repository.ts'
import { whyScriptDiffers } from '../../src/checkout/script.ts'
import { temporaryFolder } from '../support/a-local-service.ts'

describe('the arguments of a script of package.json', () => {
  async function differenceOf(
    scripts: object,
    args: readonly string[] = [],
    framework: 'vitest' | 'playwright' = 'vitest',
  ) {
    const root = await temporaryFolder()
    await writeFiles(root, { 'shop/package.json': JSON.stringify({ scripts }) })
    return whyScriptDiffers(framework, join(root, 'shop'), args)
  }

  const CI = 'vitest run --config ci.config.ts --coverage --coverage.thresholds.lines=95'

  it('are named if a run does not have them', async () => {
    const what = 'the script "test" of package.json gives vitest arguments that this run does not have'
    expect(await differenceOf({ test: CI }, ['--coverage', '-u'])).toBe(
      `${what}: --config ci.config.ts --coverage.thresholds.lines=95. If the tests need them, set "args"`,
    )
    expect(await differenceOf({ test: `${CI} src/cart` }, CI.split(' ').slice(2))).toMatch(/: src\/cart\. /)
  })

  it('are not named if a run has them, as one argument or as two', async () => {
    const args = ['--config=ci.config.ts', '--coverage', '--coverage.thresholds.lines', '95']
    expect(await differenceOf({ test: CI }, args)).toBeUndefined()
    expect(
      await differenceOf({ test: 'npx playwright test --project=api' }, ['--project=api'], 'playwright'),
    ).toBeUndefined()
  })

  it.each([
    ['TZ=UTC ./node_modules/.bin/vitest --run --bail 1 > log.txt 2>&1', '--bail 1'],
    ['npm run lint && cross-env CI=1 vitest "src/my cart" | tee log', 'src/my cart'],
    ['vitest -t "adds two"', '-t adds two'],
    ['vitest', undefined],
    ['vitest run && vitest list --json', undefined],
    ['vitest bench --config b.ts', undefined],
    ['playwright test --shard=1/2', undefined],
    ['npm run test:unit', undefined],
    [7, undefined],
  ])('are found in the script %j', async (script, args) => {
    const difference = await differenceOf({ test: script })
    expect(/have: (.*)\. If/.exec(difference ?? '')?.[1]).toBe(args)
  })

  it('are those of the script "test", else of the only script that calls the framework', async () => {
    const others = { lint: 'biome check', 'test:ct': 'playwright test -c ct.ts', e2e: 'playwright install' }
    expect(await differenceOf(others, [], 'playwright')).toMatch(/^the script "test:ct" .*: -c ct\.ts\./)
    expect(await differenceOf({ ...others, slow: 'playwright test --workers=1' }, [], 'playwright')).toBeUndefined()
    const withTest = { ...others, test: 'playwright test --workers=2' }
    expect(await differenceOf(withTest, [], 'playwright')).toMatch(/^the script "test" .*: --workers=2\./)
  })

  it.each(['', '7', '{"scripts":7}', 'broken'])('are none if package.json is %j', async (text) => {
    const root = await temporaryFolder()
    expect(whyScriptDiffers('vitest', root, [])).toBeUndefined()
    await writeFiles(root, { 'package.json': text })
    expect(whyScriptDiffers('vitest', root, [])).toBeUndefined()
  })
})
