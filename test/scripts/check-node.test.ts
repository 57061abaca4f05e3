import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT, read } from '../documents/documents.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

test.each([
  ['an older Node gets one sentence instead of the script', '99', 1, '', /^Use Node 99 instead of Node \d[^\n]*\n$/],
  ['the right Node gets the script', process.versions.node, 0, 'ran\n', /^$/],
])('%s', (_, wanted, status, stdout, stderr) => {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'scripts'))
  cpSync(join(ROOT, 'scripts/check-node.js'), join(folder, 'scripts/check-node.js'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(folder, '.node-version'), `${Number.parseInt(wanted, 10)}\n`)
  writeFileSync(join(folder, 'script.ts'), 'console.log("ran" as string)\n')
  const args = ['--import', './scripts/check-node.js', 'script.ts']
  const ended = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
  expect(ended).toMatchObject({ status, stdout, stderr: expect.stringMatching(stderr) })
})

test('every npm script that runs TypeScript checks Node first', () => {
  const scripts: Record<string, string> = JSON.parse(read('package.json')).scripts
  const commands = Object.values(scripts).filter((command) => /\.ts\b|\bvitest\b/.test(command))
  expect(commands).not.toEqual([])
  expect(commands.filter((command) => !/^(exec )?node (--import \.\/)?scripts\/check-node\.js /.test(command))).toEqual(
    [],
  )
})
