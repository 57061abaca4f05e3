import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

const ALL = '{test,local-service/test,tools}/**/*.test.ts'
/** The tests that run or read dist/. */
const OF_THE_BUILD = [
  'test/scenarios/**/*.test.ts',
  'local-service/test/job/**/*.test.ts',
  'test/scripts/demo.test.ts',
  'test/bundle.test.ts',
]
/** They send POSIX signals to process groups. CI runs the real action on Windows beside these tests. */
const POSIX_ONLY = ['test/scenarios/**', 'tools/**', 'local-service/**']
const excluded = process.platform === 'win32' ? POSIX_ONLY : []

export default defineConfig({
  test: {
    projects: [
      { extends: true, test: { name: 'source', include: [ALL], exclude: [...OF_THE_BUILD, ...excluded] } },
      {
        extends: true,
        test: { name: 'build', include: OF_THE_BUILD, exclude: excluded, globalSetup: 'test/setup/fresh-build.ts' },
      },
    ],
    // What tests bring about on purpose: TLS to an IP address, a SOCKS proxy, NODE_TLS_REJECT_UNAUTHORIZED=0.
    execArgv: ['DEP0123', 'ExperimentalWarning', 'Warning'].map((kind) => `--disable-warning=${kind}`),
    // One line for each file, without its slow tests.
    slowTestThreshold: 60_000,
    setupFiles: ['test/setup/own-node.ts', 'test/setup/seed.ts', 'test/setup/use-compile-cache.ts'],
    globalSetup: 'test/setup/compile-cache.ts',
    // Loading everything anew for each file costs a third of the time of most; no test leaves a global changed.
    isolate: false,
    // More than there are cores, because many tests wait for processes.
    maxWorkers: availableParallelism() + 2,
    // Each such test has processes of its own, and they share the cores.
    maxConcurrency: 6,
    // Far more than any test takes, also on a machine that is busy with other things.
    testTimeout: 240_000,
    hookTimeout: 240_000,
  },
})
