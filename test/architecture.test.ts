import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { codeOf, importsOf, ROOT, sourceFiles } from './support/imports.ts'

// Compares the import lines with the map in CONTRIBUTING.md, and finds the test of each file.

const FILES = sourceFiles('src')
const IMPORTS = new Map([...FILES, ...sourceFiles('local-service/src')].map((file) => [file, importsOf(file)]))
const ENTRIES = ['main', 'run-main', 'post', 'run-post', 'process'].map((name) => `src/${name}.ts`)

/** The layer of a file of src. It is the folder, `entry`, or the file's own name if every layer may use the file. */
function layerOf(file: string): string {
  if (ENTRIES.includes(file)) return 'entry'
  const [, folderOrFile = ''] = file.split('/')
  return folderOrFile.replace(/\.ts$/, '')
}

/** The tests of the files that have no test with their path. */
const TESTED_BY: Readonly<Record<string, readonly string[]>> = {
  'action/failures.test.ts': ['action/pauses'],
  'action/start-run.test.ts': ['action/abort'],
  'action/step.test.ts': ['action/world', 'model/outcome'],
  'documents/conventions.test.ts': ['version'],
  'github/outputs.test.ts': ['github/runner-file'],
  'handover/main-file.test.ts': ['handover/main-file-writer'],
  'inputs/inputs.test.ts': ['input-variable', 'inputs/input-reader', 'inputs/run-url', 'text/web-address'],
  'report/endings.test.ts': ['report/counts', 'report/ending', 'report/page-head'],
  'scenarios/cancel.test.ts': ['main'],
  'scenarios/main-file.test.ts': ['post'],
  'scenarios/live-output.test.ts': ['files/program-text'],
  'service/decode.test.ts': ['text/json'],
  'service/transport.test.ts': ['model/failure', 'service/requests'],
  'text/safe-text.test.ts': ['text/untrusted', 'text/visible-text'],
}

const filesMatching = (files: readonly string[], pattern: RegExp) => files.filter((file) => pattern.test(codeOf(file)))

describe('the layers', () => {
  /**
   * What each layer may load, and from what else it may import only types. The layers are in the order of the imports, so
   * a layer may list only itself and layers below it.
   */
  const LAYERS: Record<string, { readonly loads: readonly string[]; readonly types?: readonly string[] }> = {
    entry: {
      loads: [
        ...['entry', 'inputs', 'action', 'files', 'service', 'report', 'handover', 'github', 'model', 'text', 'clock'],
        'input-variable',
      ],
    },
    inputs: {
      loads: [
        'inputs',
        'service',
        'report',
        'github',
        'model',
        'text',
        'input-variable',
        '@actions',
        'node:fs',
        'node:path',
      ],
      types: ['action'],
    },
    action: {
      loads: ['action', 'report', 'model', 'text', 'clock'],
      types: ['files', 'service', 'handover', 'github'],
    },
    files: { loads: ['files', 'text', 'node:fs', 'node:path'] },
    service: {
      loads: ['service', 'model', 'text', 'clock', 'version', 'undici', 'node:http', 'node:https'],
      types: ['node:net'],
    },
    report: { loads: ['report', 'model', 'text', 'node:http'], types: ['github'] },
    handover: { loads: ['handover', 'github', 'text', 'input-variable', 'node'], types: ['model'] },
    github: { loads: ['github', 'model', 'text', 'version', '@actions', 'node'], types: ['clock'] },
    model: { loads: ['model', 'text'] },
    text: { loads: ['text'] },
    clock: { loads: ['node:timers/promises'] },
    version: { loads: [] },
    'input-variable': { loads: [] },
  }

  /** The names under which LAYERS may list an import: a layer, a module of Node, or the scope or the name of a package. */
  function homeOf(imported: string): string[] {
    if (imported.startsWith('src/')) return [layerOf(imported)]
    if (imported.startsWith('node:')) return [imported, 'node']
    return [imported.split('/')[0] ?? '']
  }

  it('include every layer of src', () => {
    expect(new Set(FILES.map(layerOf))).toEqual(new Set(Object.keys(LAYERS)))
  })

  it('import nothing from a layer above them', () => {
    const order = Object.keys(LAYERS)
    for (const [index, layer] of order.entries()) {
      const { loads = [], types = [] } = LAYERS[layer] ?? {}
      const above = order.slice(0, index)
      expect([...loads, ...types].filter((listed) => above.includes(listed))).toEqual([])
    }
  })

  it.each(Object.keys(LAYERS))('%s imports only what it may import', (layer) => {
    const { loads = [], types = [] } = LAYERS[layer] ?? {}
    const forbidden = FILES.filter((file) => layerOf(file) === layer).flatMap((file) =>
      (IMPORTS.get(file) ?? [])
        .filter(
          ({ of, kind }) => !homeOf(of).some((home) => (kind === 'type' ? [...loads, ...types] : loads).includes(home)),
        )
        .map(({ of }) => `${file} imports ${of}`),
    )
    expect(forbidden).toEqual([])
  })
})

describe('effects', () => {
  it('of the process are used only by the clock, the entries, what main leaves for post, and the comment', () => {
    // It is an import that does not slow down each start.
    const withoutImports = (code: string) => code.replaceAll('process.getBuiltinModule', '')
    const pattern = /\bprocess\s*[.[]|[=(]\s*process\b|node:process/
    const files = FILES.filter((file) => pattern.test(withoutImports(codeOf(file))))
    expect(files).toContain('src/main.ts')
    expect(files.filter((file) => !['clock', 'entry', 'handover', 'github'].includes(layerOf(file)))).toEqual([])
  })

  it('of HTTP are not used by reports, which take only the names of the statuses from Node', () => {
    const fromHttp = FILES.filter((file) => layerOf(file) === 'report').flatMap(
      (file) => codeOf(file).match(/^import .* from 'node:http'$/gm) ?? [],
    )
    expect(fromHttp).toEqual(["import { STATUS_CODES } from 'node:http'"])
  })

  it('of time are used only by the clock, and by main at its beginning and its end', () => {
    const time =
      /\bDate\.now\b|\bnew Date\(\s*\)|\bperformance\s*\.|\bset(Timeout|Interval|Immediate)\b|\bAbortSignal\.timeout\b|\bhrtime\b|\buptime\b|node:timers/
    expect(filesMatching(FILES, time).toSorted()).toEqual(['src/clock.ts', 'src/main.ts', 'src/process.ts'])
  })
})

describe('the local service', () => {
  it('shares no code with the action but src/text', () => {
    for (const [file, imports] of IMPORTS) {
      const homes = file.startsWith('src/') ? ['src/'] : ['local-service/', 'src/text/']
      const files = imports.filter(({ of }) => of.includes('/') && of.endsWith('.ts'))
      const strangers = files.filter(({ of }) => !homes.some((home) => of.startsWith(home)))
      expect(strangers, file).toEqual([])
    }
  })

  it('is used over its interface: nothing outside it imports its files', () => {
    const files = ['src', 'test', 'tools', 'scripts', 'bench', 'examples'].flatMap(sourceFiles)
    const importers = files.filter((file) => importsOf(file).some(({ of }) => of.startsWith('local-service/')))
    expect(importers).toEqual([])
  })
})

describe('the tests', () => {
  it('mock no module', () => {
    const tests = ['test', 'local-service/test', 'tools'].flatMap(sourceFiles)
    expect(filesMatching(tests, /\bvi\.(do)?[mM]ock\(/)).toEqual([])
  })

  it('have the path of the file that they test, or are in the list', () => {
    const withoutTest = FILES.filter((file) => !existsSync(join(ROOT, testOf(file))))
    const listed = Object.values(TESTED_BY).flatMap((names) => names.map((name) => `src/${name}.ts`))
    expect(withoutTest.toSorted()).toEqual(listed.toSorted())
    expect(Object.keys(TESTED_BY).filter((test) => !existsSync(join(ROOT, 'test', test)))).toEqual([])
  })

  function testOf(file: string): string {
    return file.replace(/^src\//, 'test/').replace(/\.ts$/, '.test.ts')
  }
})
