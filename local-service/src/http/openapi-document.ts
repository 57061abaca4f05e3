import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * The path from this file holds in the repository, in the package, which has a copy of `docs/openapi.yaml`, and from the bundle in
 * `dist/service`.
 */
const FILE = join(import.meta.dirname, '../../../docs/openapi.yaml')

/** The description of the interface that the service responds by, as OpenAPI 3.1. */
export function readOpenApiDocument(): Promise<string> {
  return readFile(FILE, 'utf8')
}
