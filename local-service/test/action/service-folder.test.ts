import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ServiceFolder } from '../../src/action/service-folder.ts'
import { temporaryFolder } from '../support/a-local-service.ts'

it.each([
  ['all of it, if nothing was shown', 0, 14, 'one\ntwo\nthree\n', 0],
  ['what was not shown yet, and nothing of it counts as left out', 8, 6, 'three\n', 0],
  ['its end, if it is too long', 0, 6, 'three\n', 8],
  ['nothing, if all was shown', 14, 6, '', 0],
])('the output of a run for the log of post is %s', async (_, fromByte, limitBytes, text, leftOutBytes) => {
  const folder = ServiceFolder.create(await temporaryFolder())
  mkdirSync(join(folder.outputFolder, 'run-1'))
  writeFileSync(join(folder.outputFolder, 'run-1/output.txt'), 'one\ntwo\nthree\n')
  expect(folder.readOutput('run-1', 'output.txt', limitBytes, fromByte)).toEqual({ text, leftOutBytes })
})
