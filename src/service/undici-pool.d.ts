// The published entry of undici loads all of it (fetch, mocks, caches), which doubles the action's start-up time.
// This is the one part that a step without a proxy needs.
declare module 'undici/lib/dispatcher/pool.js' {
  import type { Pool } from 'undici'

  const PoolConstructor: typeof Pool
  export default PoolConstructor
}
