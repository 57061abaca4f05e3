import { spawnSync } from 'node:child_process'
import { mkdtempSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { argvOf, wordsOf } from '../../src/machine/script.ts'
import { PLAIN_ENV, temporaryFolder } from '../support/a-local-service.ts'

function start(command: string | readonly string[], added: readonly string[] = [], env: NodeJS.ProcessEnv = PLAIN_ENV) {
  const [program = '', ...args] = argvOf(command, added)
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', env })
  return { status, stdout, stderr }
}

describe('a command that is a script', () => {
  it('ends at the first command that fails, also in a pipe, and has its exit code', () => {
    expect(start('echo one\n(exit 3) | cat\necho two')).toEqual({ status: 3, stdout: 'one\n', stderr: '' })
  })

  it('knows the syntax of bash', () => {
    expect(start('[[ ab == a* ]] && echo yes').stdout).toBe('yes\n')
  })

  it('is run by sh if there is no bash', () => {
    const folder = mkdtempSync(join(temporaryFolder(), 'bin-'))
    symlinkSync('/bin/cat', join(folder, 'cat'))
    const env = { PATH: folder }
    expect(start('false; echo two', [], env)).toEqual({ status: 1, stdout: '', stderr: '' })
    expect(start('echo "[$BASH_VERSION]"', [], env).stdout).toBe('[]\n')
  })

  it('gets further arguments as they are', () => {
    const added = ['--grep=a b', '', "it's", '$HOME', '*']
    expect(start('printf "[%s]" x', added).stdout).toBe(`[x]${added.map((one) => `[${one}]`).join('')}`)
  })

  it('may have 100 KB', () => {
    expect(start(`${': comment;'.repeat(10_000)} echo end`).stdout).toBe('end\n')
  })

  it('is called "command" in what the shell says', () => {
    expect(start('yarnn vitest', ['run'])).toMatchObject({
      status: 127,
      stderr: expect.stringMatching(/^command: .*yarnn/),
    })
    expect(start("echo 'a")).toMatchObject({ status: 2, stderr: expect.stringMatching(/^command: .*matching/) })
  })
})

describe('the words of a script', () => {
  it.each([
    ['yarn vitest --config ci.ts', ['yarn', 'vitest', '--config', 'ci.ts']],
    [`npx jest -t 'a b'  "c \\"d\\"" e\\ f ""`, ['npx', 'jest', '-t', 'a b', 'c "d"', 'e f', '']],
    ['npx \\\n  vitest', ['npx', 'vitest']],
    ['a#b >log 2>&1', ['a#b', '>log', '2>&1']],
    ['CI=1 a $(b c) $D', ['CI=1', 'a', '$(b c)', '$D']],
  ])('%j has the words of a simple command', (script, words) => {
    expect(wordsOf(script)).toEqual({ words })
  })

  it.each([
    ['a | b', '|'],
    ['a && b', '&&'],
    ['a & b', '&'],
    ['a; b', ';'],
    ['a\nb', '\n'],
    ['(a)', '('],
    ['a <<END', '<<'],
    ['a # why', '#'],
    [`a "b c`, '"'],
    [`a 'b c`, "'"],
    ['a \\', '\\'],
  ])('%j is not one simple command', (script, found) => {
    expect(wordsOf(script).operator).toBe(found)
  })

  it('are those that the shell gives to a program', () => {
    const part = fc.constantFrom('a', ' ', '  ', "'", '"', '\\', '\\\n', "'b c'", '"d e"', '-', '=', '#', '\\"', '""')
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
        const script = parts.join('')
        const { words, operator } = wordsOf(script)
        if (operator !== undefined) return
        const { stdout } = start(`printf '<%s>' - ${script}`, ['end'])
        expect(stdout).toBe(['-', ...words, 'end'].map((word) => `<${word}>`).join(''))
      }),
      { numRuns: 100 },
    )
  })
})
