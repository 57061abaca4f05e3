import { inject } from 'vitest'

// Only the processes that tests start use it. A worker of Vitest could still write to it after the end of all tests.
process.env.NODE_COMPILE_CACHE = inject('compileCache')
