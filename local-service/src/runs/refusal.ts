import { HTTPException } from 'hono/http-exception'

/** Refuses what a client asked for, with a status of the interface. Nothing was changed. */
export function refuse(status: 400 | 401 | 404 | 500, message: string): never {
  throw new HTTPException(status, { message })
}
