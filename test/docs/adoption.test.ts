import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { read, readDocument } from './documents.ts'

test('dist/ can be built without install scripts, as the review page and the release do', () => {
  const { packages } = JSON.parse(read('package-lock.json')) as {
    packages: Record<string, { hasInstallScript?: true }>
  }
  const scripted = Object.entries(packages).filter(([, { hasInstallScript }]) => hasInstallScript)
  // This package installs Node 24 for people who have an older Node.
  expect(scripted.map(([place]) => place)).toEqual(['node_modules/node'])
  expect(read('docs/review.md')).toContain('npm ci --ignore-scripts && npm run build\n')
})

test("the recipe of the local service has the steps that the local service's page explains", () => {
  const { jobs } = parse(read('examples/workflows/local-service.yml'))
  const [block] = readDocument('local-service/README.md').blocks.filter(({ section }) => section === 'In a workflow')
  expect(jobs['test-run'].steps).toEqual(parse(block?.text ?? ''))
})
