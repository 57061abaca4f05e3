import { TestOutput } from '../src/action/test-output.ts'
import { waitForRun } from '../src/action/wait-for-run.ts'
import { untrusted } from '../src/text/untrusted.ts'
import { FakeClock } from '../test/support/fake-clock.ts'
import { FakeService, giving, PASSED, RUNNING } from '../test/support/fake-service.ts'
import { FakeWorld } from '../test/support/fake-world.ts'

const HOUR_MS = 3_600_000
/** As much as a test framework writes that prints one line for each test. */
const BYTES_PER_SECOND = 200

/** How many requests a run of one hour costs after its start, on a clock that does not wait. */
export async function requestsOfAnHour(showOutput: boolean): Promise<number> {
  const clock = new FakeClock()
  const bytes = () => Math.floor((clock.now() / 1_000) * BYTES_PER_SECOND)
  const service = new FakeService(clock, {
    get: () => giving(() => ({ ...(clock.now() < HOUR_MS ? RUNNING : PASSED), outputBytes: bytes() })),
    output: (from) => giving(() => ({ text: untrusted('x'.repeat(bytes() - from)), next: bytes() })),
  })
  const world = new FakeWorld(clock, service)
  const output = new TestOutput('run-1', showOutput, world)
  const handle = { id: 'run-1', knownSinceMs: 0 }
  const [waitLimitMs, deadlineMs] = [2 * HOUR_MS, 2 * HOUR_MS]
  await clock.run(waitForRun({ handle, waitLimitMs, deadlineMs, output }, world))
  return service.requests.length
}
