import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseStart, parseSuiteStart } from '../../src/http/request-bodies.ts'

const bodyOf = (value: unknown) => JSON.stringify(value)
/** The error of a body that is refused. */
const refusal = (message: unknown) => expect.objectContaining({ status: 400, message })

const start = (body: object) => parseStart(bodyOf(body))

describe('the body of a start', () => {
  it('counts the characters of a branch as code points', () => {
    expect(start({ branch: '🐙'.repeat(255) }).branch).toBe('🐙'.repeat(255))
    expect(() => start({ branch: '🐙'.repeat(256) })).toThrow(refusal('"branch": It is longer than 255 characters.'))
  })

  it('may have a field that the interface does not know', () => {
    expect(start({ branch: 'main', commit: 'e' })).toMatchObject({ branch: 'main' })
  })

  it('is refused in one line, whatever its fields are called', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 1 })), fc.string(), (variables, name) => {
        const error = expect.stringMatching(/^"envOverrides[^\r\n]*\.$/)
        expect(() => start({ envOverrides: { ...variables, [name]: null } })).toThrow(refusal(error))
      }),
      { examples: [[{}, 'A\nB']] },
    )
  })

  it('is refused without showing the value of a variable', () => {
    const error = expect.not.stringContaining('secret')
    expect(() => start({ envOverrides: { TOKEN: ['secret'], OTHER: 'secret\0' } })).toThrow(refusal(error))
  })
})

it("the body of a test suite's start may have other fields", () => {
  const body = {
    metadata: { commit: 'c0ffee', git: { sha: 'c0ffee', branch: 'main' } },
    autofix: true,
    branch: 'other',
    environment: 'staging',
    variableOverrides: { A: 1 },
  }
  expect(parseSuiteStart(bodyOf(body))).toMatchObject({
    branch: 'main',
    autofix: false,
    environment: 'staging',
    variables: new Map([['A', '1']]),
  })
})
