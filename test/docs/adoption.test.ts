import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { read, readDocument } from './documents.ts'

test('dist/ can be built without install scripts, as the review page and the release do', () => {
  const { packages } = JSON.parse(read('package-lock.json')) as {
    packages: Record<string, { hasInstallScript?: true }>
  }
  const scripted = Object.entries(packages).filter(([, { hasInstallScript }]) => hasInstallScript)
  // It brings Node 24 to those who have an older one.
  expect(scripted.map(([place]) => place)).toEqual(['node_modules/node'])
  expect(read('docs/review.md')).toContain('npm ci --ignore-scripts && npm run build\n')
})

test("the recipe without a service of one's own has the steps that the local service's page explains", () => {
  const { jobs } = parse(read('examples/workflows/local-service.yml'))
  const [block] = readDocument('local-service/README.md').blocks.filter(({ section }) => section === 'In a workflow')
  expect(jobs['test-run'].steps).toEqual(parse(block?.text ?? ''))
})
