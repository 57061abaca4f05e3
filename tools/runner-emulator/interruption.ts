import { setTimeout as delay } from 'node:timers/promises'
import type { Graces } from './process.ts'
import type { Step } from './runner.ts'
import type { RunningStage } from './stage.ts'

/** What happens to a running step. */
export interface Interruption extends Graces {
  /** When: a line of the log, so many milliseconds after the start, or once something else has happened. */
  readonly on: RegExp | number | Promise<unknown>
  readonly by:
    | 'cancel'
    /** The step's `timeout-minutes`: the same signals, but the step has failed. */
    | 'timeout'
    /** The workflow is cancelled, but the step's own `if` is still true: it learns nothing of it. */
    | 'cancel without signal'
    /** The runner is stopped: the signals, then no post. */
    | 'shutdown'
    /** The step's process alone is killed, as the kernel does when memory is short. */
    | 'kill'
    /** The machine is gone: the process ends and nothing comes after it. */
    | 'lost runner'
    /** The runner's end of standard output is closed; the step may go on. */
    | 'close stdout'
}

/** Lets it happen, once it is time; false where main was over before. */
export async function interrupt(step: Step, main: RunningStage, { on, by, ...graces }: Interruption): Promise<boolean> {
  const isOver = new AbortController()
  const over = main.ended().then(() => false)
  const happened = waitFor(main, on, isOver.signal).then(
    () => true,
    () => false,
  )
  const inTime = await Promise.race([happened, over])
  isOver.abort()
  if (!inTime) return false
  switch (by) {
    case 'cancel':
      await main.cancel(graces)
      break
    case 'timeout':
      await main.timeOut(graces)
      break
    case 'cancel without signal':
      step.cancelWithoutSignal()
      break
    case 'shutdown':
      await step.shutDown(graces)
      break
    case 'kill':
      main.signal('SIGKILL')
      break
    case 'lost runner':
      await step.loseRunner()
      break
    case 'close stdout':
      main.closePipe('stdout')
      break
  }
  return true
}

async function waitFor(main: RunningStage, on: Interruption['on'], signal: AbortSignal): Promise<void> {
  if (on instanceof RegExp) await main.waitForLine(on, signal)
  else if (typeof on === 'number') await delay(on, undefined, { signal })
  else await on
}
