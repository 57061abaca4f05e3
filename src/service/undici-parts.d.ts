// The published entry of undici loads all of it (fetch, mocks, caches), which doubles the action's start-up time.
// These are the parts that a step without a proxy needs. test/architecture.test.ts tests that it loads only them.
declare module 'undici/lib/dispatcher/pool.js' {
  import type { Pool } from 'undici'

  const PoolConstructor: typeof Pool
  export default PoolConstructor
}

declare module 'undici/lib/core/connect.js' {
  import { buildConnector } from 'undici'

  export default buildConnector
}
