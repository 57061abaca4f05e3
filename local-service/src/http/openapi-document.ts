import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * This path is valid in the repository, in the bundle in `dist/service`, and in the package. The package has a copy of
 * `docs/openapi.yaml`.
 */
const FILE = join(import.meta.dirname, '../../../docs/openapi.yaml')

/** The OpenAPI 3.1 description of the service's interface. */
export function readOpenApiDocument(): Promise<string> {
  return readFile(FILE, 'utf8')
}
