import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { aRepository, gitIn, writeFiles } from '../../../test/support/git-repository.ts'
import { startService, temporaryFolder } from '../support/a-local-service.ts'

it.each([
  ['a plain folder', '', [{}]],
  [
    'a repository, nor for a work tree, whose data folder is below them too',
    'packages/shop',
    [{}, { branch: 'other' }],
  ],
])('packages above the tested tree are not executed for %s', async (_, path, bodies) => {
  const above = temporaryFolder()
  const trace = join(above, 'was-executed')
  await writeFiles(above, {
    'node_modules/vitest/package.json': '{"bin":"planted.cjs"}',
    'node_modules/vitest/planted.cjs': `require('node:fs').writeFileSync(${JSON.stringify(trace)}, '')`,
  })
  const folder = join(above, 'project', path)
  if (path === '') await mkdir(folder)
  else await gitIn(above, 'clone', '--quiet', (await aRepository({ [`${path}/a.txt`]: '' })).folder, 'project')
  const projects = { shop: { folder, framework: 'vitest' } }
  const service = await startService({ projects, dataFolder: join(above, 'data/shop') })
  for (const body of bodies) {
    const message = expect.stringMatching(/^vitest is not installed in /)
    expect(await service.run(body)).toMatchObject({ status: 'INTERRUPTED', message, results: { testCases: [] } })
  }
  expect(existsSync(trace)).toBe(false)
})
