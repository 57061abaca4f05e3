import fc from 'fast-check'

/** The same for every run of the gate, so that nobody's change fails by chance; `SEED=…` tries others, as at night. */
export const SEED = Number(process.env.SEED ?? 20_261_121)

fc.configureGlobal({ seed: SEED })

/** How often a property is tried that costs much: by this factor more often at night. */
export const randomRuns = (count: number) => ({ numRuns: count * Number(process.env.RANDOM_RUNS ?? 1) })
