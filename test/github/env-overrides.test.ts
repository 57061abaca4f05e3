import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readEnvOverrides } from '../../src/github/env-overrides.ts'
import { InputReader, type InvalidInputsError } from '../../src/github/input-reader.ts'
import { render } from '../../src/text/safe-text.ts'

function overridesOf(given: string): Readonly<Record<string, string>> | undefined {
  const inputs = new InputReader({ 'INPUT_ENV-OVERRIDES': given })
  const overrides = readEnvOverrides(inputs)
  inputs.orThrow('no problem')
  return overrides
}

function problemsOf(given: string): string[] {
  try {
    overridesOf(given)
    return []
  } catch (error) {
    return (error as InvalidInputsError).messages.map(render)
  }
}

const noName = (line: number) =>
  `Input env-overrides: line ${line} has no NAME= at its beginning (values are not shown). Give one NAME=value a line, or a JSON object.`
const noJson = (place: string) =>
  `Input env-overrides begins with { and is not valid JSON (${place}); values are not shown. Give a JSON object of names and values, or one NAME=value a line.`

describe('lines of NAME=value', () => {
  it.each([
    ['A=1', { A: '1' }],
    ['A=1\nB=two words \n\nC=', { A: '1', B: 'two words', C: '' }],
    ['A=1\r\nB=2', { A: '1', B: '2' }],
    ['A=1\r\n# a comment\r\nB="two\r\nlines"\r\n', { A: '1', B: 'two\nlines' }],
    ['  A = 1', { A: '1' }],
    ['export A=1', { A: '1' }],
    ['# a comment\nA=1 # another\n  # and a third', { A: '1' }],
    ['URL=https://example.com/?a=b&c=d', { URL: 'https://example.com/?a=b&c=d' }],
    ['A="with # and spaces "', { A: 'with # and spaces ' }],
    ["A='single \"quotes\"'\nB=`it's`", { A: 'single "quotes"', B: "it's" }],
    ['A="two\nlines"\nB=2', { A: 'two\nlines', B: '2' }],
    ['A= \t"two\nlines"\nB=2', { A: 'two\nlines', B: '2' }],
    [
      'KEY="-----BEGIN-----\nabc\nno name here\n-----END-----"',
      { KEY: '-----BEGIN-----\nabc\nno name here\n-----END-----' },
    ],
    ['A="x=\ny"\nB=\'z\n\'', { A: 'x=\ny', B: 'z\n' }],
    ["A=it's fine\nB=isn't it", { A: "it's fine", B: "isn't it" }],
    ['# an open quote ="\nA="two\nlines"', { A: 'two\nlines' }],
    ['A=1\nA=2', { A: '2' }],
  ])('%j are names and values', (given, overrides) => {
    expect(overridesOf(given)).toEqual(overrides)
  })

  it.each(['', '# nothing but a comment', '\n\n'])('%j are none', (given) => {
    expect(overridesOf(given)).toBeUndefined()
  })

  it.each([
    ['just words', 1],
    ['A: 1\nB=2', 1],
    ['A=1\nhunter2', 2],
    ['=hunter2', 1],
    ['A=1\n=hunter2', 2],
    ['A=x="begun\nhunter2"', 2],
    ['A="closed"\nhunter2"', 2],
    ['- A=1\nhunter2', 2],
    ['A="one\ntwo\nthree"\n\nhunter2', 5],
  ])('%j is refused at line %i, because the part without a name would be lost', (given, line) => {
    expect(problemsOf(given)).toEqual([noName(line)])
  })

  it('come back as they were written down, quoted', () => {
    const name = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,12}$/).filter((text) => text !== 'export' && !(text in {}))
    const value = fc.string({ unit: fc.constantFrom(...'ab =#"\'$\n,{}:é'), maxLength: 20 })
    fc.assert(
      fc.property(fc.dictionary(name, value, { noNullPrototype: true }), (overrides) => {
        const lines = Object.entries(overrides).map(([key, text]) => `${key}=\`${text}\``)
        expect(overridesOf(lines.join('\n')) ?? {}).toEqual(overrides)
      }),
      { numRuns: 300 },
    )
  })
})

describe('a JSON object', () => {
  it.each([
    ['{"A":"1","B":""}', { A: '1', B: '' }],
    ['{"A":true,"B":false}', { A: 'true', B: 'false' }],
    ['{"A":1,"B":1.0,"C":1e3,"D":-0}', { A: '1', B: '1.0', C: '1e3', D: '-0' }],
    ['{"BUILD":12345678901234567890}', { BUILD: '12345678901234567890' }],
    ['{\n  "A": "two\\nlines"\n}', { A: 'two\nlines' }],
    ['{"A":1,"A":2}', { A: '2' }],
  ])('%j is names and values as written', (given, overrides) => {
    expect(overridesOf(given)).toEqual(overrides)
  })

  it('that is empty is none', () => {
    expect(overridesOf('{}')).toBeUndefined()
  })

  it('may have any name for a key', () => {
    const sent = JSON.stringify(overridesOf('{"__proto__":"a","constructor":"b","two words":"c"}'))
    expect(sent).toBe('{"__proto__":"a","constructor":"b","two words":"c"}')
  })

  it.each([
    ['{', 'line 1 column 2'],
    ["{'A':'hunter2'}", 'line 1 column 2'],
    ['{\n"A":"hunter2",}', 'line 2 column 15'],
    ['{"A":"1"} {"B":"2"}', 'line 1 column 11'],
    ['{A=1}', 'line 1 column 2'],
  ])('%j is none, and the message names the place', (given, place) => {
    expect(problemsOf(given)).toEqual([noJson(place)])
  })

  it('is none, and no place is named if V8 does not name it', () => {
    expect(problemsOf('{"A":}')).toEqual([noJson('').replace(' ()', '')])
  })

  it.each([
    ['null', 'null'],
    ['["hunter2"]', 'an array'],
    ['{"B":"hunter2"}', 'an object'],
    ['{"B":1}', 'an object'],
    ['{"source":"hunter2"}', 'an object'],
  ])('cannot have %s for a value', (value, kind) => {
    const cause = kind === 'null' ? ' An output or a secret that does not exist is null in toJSON.' : ''
    const message = (name: string) =>
      `Input env-overrides: the value of "${name}" is ${kind}. Give strings, numbers, true or false.${cause}`
    expect(problemsOf(`{"OK":"1","A":${value},"B":${value}}`)).toEqual([message('A'), message('B')])
  })

  it('cannot have a value without a name', () => {
    expect(problemsOf('{"":"hunter2"}')).toEqual([
      'Input env-overrides: a name in the JSON object is empty. Give each value a name.',
    ])
  })

  it('comes back as it was written, for any names and texts', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ minLength: 1 }), fc.string()), (overrides) => {
        expect(Object.entries(overridesOf(JSON.stringify(overrides)) ?? {})).toEqual(Object.entries(overrides))
      }),
    )
  })

  it('is refused if it is nested deeper than a program can follow', () => {
    const depth = 100_000
    expect(problemsOf(`{"A":${'['.repeat(depth)}${']'.repeat(depth)}}`)).toHaveLength(1)
  })
})

it('says nothing of a value, whatever the problem is', () => {
  const around = fc.string({ unit: fc.constantFrom(...'A={}[]":,\n\'#'), maxLength: 8 })
  fc.assert(
    fc.property(around, around, (before, after) => {
      const messages = [...problemsOf(`${before}A=hunter2${after}`), ...problemsOf(`{"A":"hunter2${after}`)]
      for (const message of messages) expect(message).not.toContain('hunter2')
    }),
  )
})
