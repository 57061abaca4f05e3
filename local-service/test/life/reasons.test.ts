import { execFileSync } from 'node:child_process'
import { mkdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { installPackages } from '../../../test/support/git-repository.ts'
import { puppetProject, startService, temporaryFolder } from '../support/a-local-service.ts'

// What a person reads who asks why something did not happen.

describe('a start that is refused', () => {
  it('is a line in the log, and a response to a client that only reads is not', async () => {
    const service = await startService({ projects: { shop: puppetProject() } })
    const before = service.log.length
    const { status, body } = await service.start({ branch: 'no\nsuch branch' })
    await service.get('no such run')
    const runs = '/v1/projects/shop/runs'
    const refused = `refused POST "${runs}" with 400: `
    expect(service.log.slice(before)).toEqual([
      expect.stringContaining(`Z ${refused}Project "shop" has no branch "no\\nsuch branch". Fetch or create it in `),
    ])
    expect([status, service.log.at(-1)]).toEqual([400, expect.stringContaining(body.error)])
    await service.send('POST', runs, [])
    expect(service.log.at(-1)).toContain(`${refused}The body is not a JSON object`)
    await service.send('POST', '/v1/testSuite/none/run')
    expect(service.log.at(-1)).toContain(
      'refused POST "/v1/testSuite/none/run" with 404: There is no test suite "none". The test suites of this service: none.',
    )
  })

  it("says that the project's folder is not there any more, and has started nothing", async () => {
    const folder = join(temporaryFolder(), 'shop')
    await mkdir(folder)
    const service = await startService({ projects: { shop: puppetProject(folder) } })
    await rename(folder, `${folder}-moved`)
    const error = `Project "shop" has no folder any more: ${folder} was moved or removed. Put it back, or start the service again for another folder.`
    expect(await service.start()).toEqual({ status: 404, body: { error } })
  })
})

describe('the start of the service', () => {
  it('warns of a project whose framework is not installed, if nothing else could run or install it', async () => {
    const [without, withIt, unreadable] = [temporaryFolder(), temporaryFolder(), temporaryFolder()]
    await installPackages(withIt)
    await mkdir(join(unreadable, 'node_modules/vitest'), { recursive: true })
    execFileSync('mkfifo', [join(unreadable, 'node_modules/vitest/package.json')])
    const vitest = (folder: string) => ({ folder, framework: 'vitest' }) as const
    const service = await startService({
      projects: {
        without: vitest(without),
        'with-it': vitest(withIt),
        unreadable: vitest(unreadable),
        'with-setup': { ...vitest(without), setup: ['npm', 'ci'] },
        'with-command': puppetProject(without),
      },
    })
    const next = 'Install the packages first, for example with "npm ci", or set "command".'
    const warnings = service.log.filter((line) => line.includes('is not installed'))
    expect(warnings.map((line) => line.replace(/^\S+ /, ''))).toEqual([
      `warning: no run of project "without" can pass. vitest is not installed in ${without}. ${next}`,
      `warning: no run of project "unreadable" can pass. vitest is not installed in ${unreadable}. ${next}`,
    ])
  })

  it('logs for each run of the folder itself that its setup does not run', async () => {
    const service = await startService({ projects: { shop: { ...puppetProject(), setup: ['false'] } } })
    expect(await service.run()).toMatchObject({ status: 'PASSED' })
    expect(service.log).toContainEqual(expect.stringContaining('the folder itself, without its "setup"'))
  })
})
