import { FILE_COMMANDS, type FileCommand } from './environment.ts'
import type { SecretMasks } from './masks.ts'
import type { ProcessEnd } from './process.ts'
import type { Annotation, AnnotationLevel } from './workflow-commands.ts'

export type StageName = 'main' | 'post'

export type SkipReason = 'no post' | 'main never started' | 'post-if' | 'shutdown' | 'lost runner'

/** One process of the step, over. */
export interface Ended extends ProcessEnd {
  readonly stage: StageName
  readonly conclusion: 'success' | 'failure' | 'cancelled' | 'skipped'
  /** Set where the conclusion is `skipped`. */
  readonly skippedBecause?: SkipReason
  /** The step failed and the action said no error: nobody would learn why. */
  readonly failedSilently: boolean
  /** Of main alone: what post sets is dropped. */
  readonly outputs: Readonly<Record<string, string>>
  readonly state: Readonly<Record<string, string>>
  readonly env: Readonly<Record<string, string>>
  readonly path: readonly string[]
  /** The part of the job summary that GitHub shows: masked, and empty where GitHub drops it. */
  readonly summary: string
  /** What stood in the runner's files, before any masking. */
  readonly files: Readonly<Record<FileCommand, string>>
  /** As GitHub shows it. */
  readonly log: readonly string[]
  readonly rawLog: readonly RawLine[]
  /** The first ten of each level. */
  readonly annotations: readonly Annotation[]
  /** All of them, those that GitHub does not keep included. */
  readonly annotationCounts: Readonly<Record<AnnotationLevel, number>>
  /** The secrets that are masked by now. */
  readonly masks: readonly string[]
}

/** A line as the process wrote it. */
export interface RawLine {
  readonly stream: 'stdout' | 'stderr'
  readonly text: string
}

/** The end of a stage that a job does not run. */
export function skipped(stage: StageName, skippedBecause: SkipReason, masks: SecretMasks): Ended {
  return {
    stage,
    conclusion: 'skipped',
    skippedBecause,
    exitCode: null,
    signal: null,
    pipesClosed: true,
    durationMs: 0,
    signalsSent: [],
    failedSilently: false,
    outputs: {},
    state: {},
    env: {},
    path: [],
    summary: '',
    files: Object.fromEntries(FILE_COMMANDS.map((name) => [name, ''])) as Ended['files'],
    log: [],
    rawLog: [],
    annotations: [],
    annotationCounts: { error: 0, warning: 0, notice: 0 },
    masks: masks.secrets,
  }
}
