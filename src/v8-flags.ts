import { setFlagsFromString } from 'node:v8'

/**
 * Keeps V8 from work in the background that the end of the process would have to wait for. To be called once the first
 * request is under way: after it, V8 no longer takes the prepared code of Node's own modules.
 */
export function setV8Flags(): void {
  // Node cannot exit while Maglev, V8's middle compiler, waits in the background for memory that only a collection
  // would free: each waits for the other, for ever (nodejs/node#54918). No step runs long enough to miss it.
  setFlagsFromString('--no-maglev')
  // undici's parser is WebAssembly: after two answers V8 would compile it once more, better and in the background, and
  // no process ends before that is done. The budget is what must run before.
  setFlagsFromString('--wasm-tiering-budget=1000000000')
}
