import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readEnd, serviceFolder, wasNeverUsed } from '../../src/action/service-folder.ts'
import { removeResources, resourcesOf } from '../../src/execution/resources.ts'
import { temporaryFolder } from '../support/a-local-service.ts'

const LEFT_OUT = '… 0.0 MiB before this line are left out.\n'

it.each([
  ['all of it, if nothing was shown', 0, 14, 'one\ntwo\nthree\n'],
  ['what was not shown yet, and nothing of it counts as left out', 8, 6, 'three\n'],
  ['its end in whole lines, if it is too long', 0, 8, `${LEFT_OUT}three\n`],
  ['the end of what was not shown yet, if that is too long', 4, 8, `${LEFT_OUT}three\n`],
  ['only how much is left out, if the last line is too long', 0, 3, LEFT_OUT],
  ['how much is left out, if there is no room', 0, 0, LEFT_OUT],
  ['nothing, if all was shown', 14, 6, ''],
])('the output of a run for the log of post is %s', async (_, fromByte, limitBytes, text) => {
  const file = join(temporaryFolder(), 'output.txt')
  writeFileSync(file, 'one\ntwo\nthree\n')
  expect(readEnd(file, limitBytes, fromByte)).toBe(text)
})

it('the end of a long log says how much is left out', async () => {
  const log = join(temporaryFolder(), 'log')
  writeFileSync(log, `${'x'.repeat(99)}\n`.repeat(36_000))
  expect(readEnd(log)).toMatch(/^… 3\.2 MiB before this line are left out\.\n(x{99}\n)+$/)
})

it('a service counts as used from the start of its first run, also if somebody has moved the output of all runs away', async () => {
  const folder = serviceFolder(temporaryFolder())
  for (const path of [folder.dataFolder, folder.outputFolder]) mkdirSync(path, { recursive: true })
  writeFileSync(folder.log, '')
  expect(wasNeverUsed(folder)).toBe(true)
  const resources = resourcesOf('service-folder', folder.dataFolder)
  mkdirSync(resources.homeFolder, { recursive: true })
  expect(wasNeverUsed(folder)).toBe(false)
  await removeResources('service-folder', resources, { serviceEnv: {}, logError: expect.unreachable })
  expect(wasNeverUsed(folder)).toBe(false)
  rmSync(folder.privateFolder, { recursive: true })
  expect(wasNeverUsed(folder)).toBe(false)
})
