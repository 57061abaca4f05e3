import { globSync } from 'node:fs'
import { basename } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { VERSION } from '../../src/version.ts'
import { ROOT, read, readDocument } from './documents.ts'

const action = parse(read('action.yml'))

test('Node is the same major version for users, contributors and workflows', () => {
  const major = read('.node-version').trim()
  expect(action.runs.using).toBe(`node${major}`)
  expect(JSON.parse(read('package.json')).devDependencies.node).toMatch(new RegExp(`^\\^${major}\\.`))
})

test('the version in the code is that of package.json', () => {
  expect(VERSION).toBe(JSON.parse(read('package.json')).version)
})

test.each(
  globSync(['*.md', 'docs/*.md', 'bench/*.md', '.github/*.md'], { cwd: ROOT }),
)('the npm scripts that %s names exist', (page) => {
  const { scripts } = JSON.parse(read('package.json'))
  const named = [...read(page).matchAll(/npm run (?:--silent )?([a-z][\w-]*)/g)].map(([, name = '']) => name)
  expect(named.filter((name) => scripts[name] === undefined)).toEqual([])
})

test('the map names every folder and every entry of both products, and fits on one screen', () => {
  const [map] = readDocument('CONTRIBUTING.md').blocks.filter(({ section }) => section === 'The map')
  const names = ['src', 'local-service/src'].flatMap((product) => [
    ...globSync(`${product}/*/`, { cwd: ROOT }).map((folder) => `${basename(folder)}/`),
    ...globSync(`${product}/*.ts`, { cwd: ROOT }).map((file) => basename(file, '.ts')),
  ])
  expect(names).toContain('execution/')
  expect(names.filter((name) => !new RegExp(`(?<![\\w-])${name}(?![\\w-])`).test(map?.text ?? ''))).toEqual([])
  expect(map?.text.split('\n').length).toBeLessThan(50)
})

test("the recipe of the local service has the steps that the local service's page explains", () => {
  const { jobs } = parse(read('examples/workflows/local-service.yml'))
  const [block] = readDocument('local-service/README.md').blocks.filter(
    ({ section }) => section === 'The local service',
  )
  expect(jobs['test-run'].steps).toEqual(parse(block?.text ?? ''))
})
