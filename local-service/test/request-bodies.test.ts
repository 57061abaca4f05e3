import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseStart, parseSuiteStart } from '../src/request-bodies.ts'

const bodyOf = (value: unknown) => JSON.stringify(value)

function start(body: object) {
  const parsed = parseStart(bodyOf(body))
  if (parsed.kind === 'invalid') throw new Error(parsed.error)
  return parsed.value
}

function startSuite(body: object) {
  const parsed = parseSuiteStart(bodyOf(body))
  if (parsed.kind === 'invalid') throw new Error(parsed.error)
  return parsed.value
}

describe('the body of a start', () => {
  it('has no variable that is larger than a process can get', () => {
    const overrides = (bytes: number) => ({ envOverrides: { NAME: `${'ä'.repeat(bytes / 2 - 3)}x` } })
    expect(parseStart(bodyOf(overrides(131_072)))).toEqual({
      kind: 'invalid',
      error: '"envOverrides.NAME" is too large: a variable can have 131071 bytes with its name, got 131072.',
    })
    expect(Object.keys(start(overrides(131_070)).envOverrides)).toEqual(['NAME'])
  })

  it('counts the characters of a branch as code points', () => {
    expect(start({ branch: '🐙'.repeat(255) }).branch).toBe('🐙'.repeat(255))
    expect(parseStart(bodyOf({ branch: '🐙'.repeat(256) }))).toEqual({
      kind: 'invalid',
      error: '"branch" must be 1 to 255 characters long, got 256.',
    })
  })

  it('ignores a deprecated name beside the new one, and says so', () => {
    const both = { environment: 'a', environmentName: 'b', frameworkProjectName: 'c', runGroupName: 'd' }
    expect(start(both)).toMatchObject({
      environment: 'a',
      frameworkProjectName: 'c',
      ignored: [
        'ignores "runGroupName", because "frameworkProjectName" replaces it',
        'ignores "environmentName", because "environment" replaces it',
      ],
    })
  })

  it('is refused if it selects projects and names none, which would run all', () => {
    for (const name of ['frameworkProjectName', 'runGroupName']) {
      const error = `"${name}" names no project. Leave the field out to run all.`
      expect(parseStart(bodyOf({ [name]: ' , ' }))).toEqual({ kind: 'invalid', error })
    }
  })

  it('names the unknown fields that it ignores, up to ten', () => {
    const unknown = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`field ${index}`, 1]))
    const { ignored } = start({ ...unknown, branch: 'main' })
    expect(ignored).toHaveLength(11)
    expect([ignored[0], ignored[10]]).toEqual(['ignores the unknown field "field 0"', 'ignores 2 more unknown fields'])
  })

  it('takes any name of a variable, those of object prototypes included', () => {
    const names = ['__proto__', 'constructor', 'prototype', 'toString', 'A.B', 'ä']
    const envOverrides = JSON.parse(`{${names.map((name) => `${bodyOf(name)}:1`).join()}}`)
    expect(Object.entries(start({ envOverrides }).envOverrides)).toEqual(names.map((name) => [name, '1']))
  })

  it('is refused in one line, whatever its fields are called', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 1 })), fc.string(), (variables, name) => {
        const parsed = parseStart(bodyOf({ envOverrides: { ...variables, [name]: null } }))
        expect(parsed).toEqual({ kind: 'invalid', error: expect.stringMatching(/^"envOverrides[^\r\n]*\.$/) })
      }),
      { examples: [[{}, 'A\nB']] },
    )
  })

  it('is refused without showing the value of a variable', () => {
    const parsed = parseStart(bodyOf({ envOverrides: { TOKEN: ['secret'], OTHER: 'secret\0' } }))
    expect(parsed).toMatchObject({ kind: 'invalid' })
    expect(bodyOf(parsed)).not.toContain('secret')
  })

  it('may be nested as deep as its size allows', () => {
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`
    expect(parseStart(`{"branch":${deep}}`)).toEqual({
      kind: 'invalid',
      error: '"branch" must be a string, got an array.',
    })
  })
})

describe("the body of a test suite's start", () => {
  it.each([
    ['branch', { branch: 'main' }],
    ['metadata.branch', { metadata: { branch: 'main' } }],
  ])('ignores a branch in "%s", and says where a suite takes it from', (path, body) => {
    expect(startSuite(body)).toMatchObject({
      branch: undefined,
      ignored: [`ignores "${path}": a test suite takes its branch from "metadata.git.branch"`],
    })
  })

  it('ignores other metadata without a word, and names other unknown fields', () => {
    const body = { metadata: { commit: 'c0ffee', git: { sha: 'c0ffee', branch: 'main' } }, autofix: true }
    expect(startSuite(body)).toMatchObject({ branch: 'main', ignored: ['ignores the unknown field "autofix"'] })
  })
})
