import fc from 'fast-check'

/** A fixed seed, so that no change fails by chance. `SEED=…` sets another seed, as the workflow Nightly does. */
export const SEED = Number(process.env.SEED ?? 20_261_121)

fc.configureGlobal({ seed: SEED })

/** How often a slow property is tried. `RANDOM_RUNS` is a factor, which the workflow Nightly sets. */
export const randomRuns = (count: number) => ({ numRuns: count * Number(process.env.RANDOM_RUNS ?? 1) })
