/** The reason why the service does not do what a client asked for. Nothing was changed. */
export class Refusal extends Error {
  readonly kind: 'invalid' | 'unauthorized' | 'not-found' | 'failed'

  constructor(kind: Refusal['kind'], message: string) {
    super(message)
    this.kind = kind
  }
}

export function refuse(kind: Refusal['kind'], message: string): never {
  throw new Refusal(kind, message)
}
