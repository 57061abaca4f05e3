import { basename } from 'node:path'

/** Says which of the two an engine is. It may be a command such as `sudo podman`. */
export function engineName(engine: readonly string[]): 'docker' | 'podman' {
  return engine.some((part) => basename(part) === 'podman') ? 'podman' : 'docker'
}
