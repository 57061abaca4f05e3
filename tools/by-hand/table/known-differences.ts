import type { KnownDifference } from './describe-table.ts'

const REFUSED = 'but the service refuses it'

/** The differences that stay, each with its reason. local-service/README.md has them too, in the table of refused arguments. */
export const KNOWN_DIFFERENCES: readonly KnownDifference[] = [
  {
    framework: 'vitest',
    args: [['--help'], ['--version']],
    says: REFUSED,
    reason: 'No test would run, and the run would pass.',
  },
  {
    framework: 'vitest',
    // Vitest 3 has no such option.
    versions: [4, 5],
    args: [['--clearCache']],
    says: REFUSED,
    reason: 'No test would run, and the run would pass.',
  },
  {
    framework: 'playwright',
    args: [['--help'], ['--version'], ['--list']],
    says: REFUSED,
    reason: 'No test would run, and the run would pass.',
  },
  {
    framework: 'playwright',
    args: [['--debug']],
    says: REFUSED,
    reason: 'With a browser, the run would wait for a person.',
  },
  {
    framework: 'vitest',
    args: [['related', 'cart.test.js']],
    says: REFUSED,
    reason:
      'The first argument is probably meant as a command. Vitest would take it for a part of the path of a test file.',
  },
  {
    framework: 'playwright',
    args: [['test']],
    says: REFUSED,
    reason:
      'The first argument is probably meant as a command. Playwright would take it for a part of the path of a test file.',
  },
  {
    framework: 'vitest',
    args: [['--testNamePattern="smoke"'], ["--testNamePattern='smoke'"], ['--exclude="**/money*"'], ['--shard="1/2"']],
    says: REFUSED,
    reason:
      'Vitest removes quotes, but not from each option, and Playwright removes none. So the service refuses them all.',
  },
]
