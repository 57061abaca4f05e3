import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    projects: [
      { test: { name: 'unit', include: ['tests/unit/**/*.test.ts'] } },
      { test: { name: 'checkout', include: ['tests/checkout/**/*.test.ts'] } },
    ],
  },
})
