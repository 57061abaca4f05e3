import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { ROOT } from '../../test/documents/documents.ts'

const README = await readFile(join(ROOT, 'local-service/README.md'), 'utf8')

it('lists the inputs and outputs of the action', () => {
  const { inputs, outputs } = parse(readFileSync(join(ROOT, 'local-service/action.yml'), 'utf8'))
  const section = README.slice(README.indexOf('## Inputs and outputs')).split('\n## ')[0] ?? ''
  const listed = [...section.matchAll(/^\| `([\w-]+)`/gm)].map(([, name]) => name)
  expect(listed).toEqual([...Object.keys(inputs), ...Object.keys(outputs)])
})
