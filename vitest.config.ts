import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['{test,local-service/test,tools}/**/*.test.ts'],
    // Scenarios run real processes and real signals beside each other.
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
})
