import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findPackageCommand } from '../../src/checkout/packages.ts'
import { temporaryFolder } from '../support/a-local-service.ts'

describe('the manifest of an installed package', () => {
  it.each([
    'null',
    '7',
    '"bin"',
    '{"bin": 7}',
    '{"bin": ["a", 7]}',
    '{"bin": {"a": {}}}',
  ])('names no command if it is %s', async (text) => {
    const root = await temporaryFolder()
    mkdirSync(join(root, 'node_modules/tool'), { recursive: true })
    writeFileSync(join(root, 'node_modules/tool/package.json'), text)
    expect(findPackageCommand('tool', { root, folder: '' })).toBeUndefined()
  })
})
