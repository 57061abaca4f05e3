import { readFileSync, writeFileSync } from 'node:fs'
import { messageOf } from '../../../src/text/untrusted.ts'
import { readRunsAtEnd } from '../runs/store.ts'

// The process that reads for post what the runs left. Node starts while the service stops. The store is free when the service has
// ended, and post then ends the input of this process. The streams of Node take 5 ms to load, so none is used.

const [STDIN, STDOUT, STDERR] = [0, 1, 2]

readFileSync(STDIN)
try {
  writeFileSync(STDOUT, JSON.stringify(readRunsAtEnd(process.argv[2] ?? '')))
} catch (error) {
  writeFileSync(STDERR, messageOf(error))
  process.exitCode = 1
}
