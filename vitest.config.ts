import { defineConfig } from 'vitest/config'

/** The tests that run or read dist/. */
const OF_THE_BUILD = [
  'test/scenarios/**/*.test.ts',
  'test/scripts/demo.test.ts',
  'test/bundle.test.ts',
  'test/windows.test.ts',
]
const ALL = '{test,local-service/test,tools}/**/*.test.ts'

export default defineConfig({
  test: {
    projects: [
      { extends: true, test: { name: 'source', include: [ALL], exclude: OF_THE_BUILD } },
      { extends: true, test: { name: 'build', include: OF_THE_BUILD, globalSetup: 'test/setup/fresh-build.ts' } },
    ],
    setupFiles: 'test/setup/seed.ts',
    // Most tests of the build wait for processes.
    maxWorkers: '100%',
    maxConcurrency: 8,
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
})
