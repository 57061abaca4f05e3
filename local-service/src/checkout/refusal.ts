// local-service/test/interface/start-parameters.test.ts tests this file.

/** Statuses of HTTP, as docs/openapi.yaml has them. */
type RefusalStatus = 400 | 401 | 404 | 500

/** The reason why the service does not do what a client asked for. Nothing was changed. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly status: RefusalStatus

  constructor(status: RefusalStatus, message: string) {
    super(message)
    this.status = status
  }
}

export function refuse(status: RefusalStatus, message: string): never {
  throw new Refusal(status, message)
}
