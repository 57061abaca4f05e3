import { readFile } from 'node:fs/promises'

/** The path from this file holds in the repository and in the package, which has a copy of `docs/openapi.yaml`. */
const FILE = new URL('../../../docs/openapi.yaml', import.meta.url)

/** The description of the interface that the service responds by, as OpenAPI 3.1. */
export function readOpenApiDocument(): Promise<string> {
  return readFile(FILE, 'utf8')
}
