import { describe, expect, it } from 'vitest'
import { readEnvOverrides } from '../../src/inputs/env-overrides.ts'
import { InputReader, type InvalidInputsError } from '../../src/inputs/input-reader.ts'
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

const ADVICE =
  'Write NAME=value in one line, without white space in the name. For a value of several lines, give a JSON object.'
const noName = (line: number) =>
  `Input env-overrides: line ${line} does not begin with a name and =. Values are not shown. ${ADVICE}`
const noJson = (place: string) =>
  `Input env-overrides begins with { and is not valid JSON (${place}); values are not shown. Give a JSON object of names and values, or one NAME=value a line.`

describe('lines of NAME=value', () => {
  it.each([
    ['A=1\nB=two words \n\nC=', { A: '1', B: 'two words ', C: '' }],
    ['A=1\r\nB=2', { A: '1', B: '2' }],
    ['A=1\rB=2', { A: '1\rB=2' }],
    ['\ufeffA=1\n  B= 2\n \t\n\t# indented\n# a comment', { A: '1', B: ' 2' }],
    ['PASSWORD=p#ss\nCOLOR=#fff', { PASSWORD: 'p#ss', COLOR: '#fff' }],
    ['A="p"ss\nB=\\n\nC=it\'s', { A: '"p"ss', B: '\\n', C: "it's" }],
    ['A=x<<END', { A: 'x<<END' }],
    ['A=1\nA=2', { A: '2' }],
    ['__proto__=1', JSON.parse('{"__proto__":"1"}')],
  ])('%j are names and values as written', (given, overrides) => {
    expect(overridesOf(given)).toEqual(overrides)
  })

  it.each(['', '# nothing but a comment', '\n \n', '\ufeff'])('%j contain no override', (given) => {
    expect(overridesOf(given)).toBeUndefined()
  })

  it.each([
    ['just words', 1],
    ['A=1\r\nhunter2', 2],
    ['=hunter2', 1],
    ['A=1\nB =hunter2', 2],
    ['A<<END\nhunter2\nEND', 1],
  ])('%j is refused at line %i', (given, line) => {
    expect(problemsOf(given)).toEqual([noName(line)])
  })
})

describe('a JSON object', () => {
  it.each([
    ['{"A":true,"B":false}', { A: 'true', B: 'false' }],
    ['{"A":1,"B":1.0,"C":1e3,"D":"1.0"}', { A: '1', B: '1', C: '1000', D: '1.0' }],
    ['{"A":1,"A":2}', { A: '2' }],
  ])('%j is names and values, and JavaScript writes the numbers', (given, overrides) => {
    expect(overridesOf(given)).toEqual(overrides)
  })

  it('may have any text as a name', () => {
    expect(overridesOf('{}')).toBeUndefined()
    const written = '{"__proto__":"a","constructor":"b","two words":"c"}'
    expect(JSON.stringify(overridesOf(written))).toBe(written)
  })

  it.each([
    ["{'A':'hunter2'}", 'line 1 column 2'],
    ['{\n"A":"hunter2",}', 'line 2 column 15'],
    ['{"A":"1"} {"B":"2"}', 'line 1 column 11'],
  ])('%j is not parsed, and the message names the place', (given, place) => {
    expect(problemsOf(given)).toEqual([noJson(place)])
  })

  it('is not parsed, and the message says so if V8 names no place', () => {
    expect(problemsOf('{"A":}')).toEqual([noJson('at an unknown place')])
  })

  it.each(['null', '["hunter2"]', '{"B":1}'])('cannot have %s as a value', (value) => {
    const message = (name: string) =>
      `Input env-overrides: the value of "${name}" is null, an array or an object. Give strings, numbers, true or false. An output or a secret that does not exist is null in toJSON.`
    expect(problemsOf(`{"OK":"1","A":${value},"B":${value}}`)).toEqual([message('A'), message('B')])
  })

  it('cannot have a value without a name', () => {
    expect(problemsOf('{"":"hunter2"}')).toEqual([
      'Input env-overrides: a name in the JSON object is empty. Give each value a name.',
    ])
  })
})
