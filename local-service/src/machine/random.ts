// Node's cryptography is loaded at the first call, because it would take 5 ms of the start of the service.

export function newId(): string {
  return process.getBuiltinModule('node:crypto').randomUUID()
}

export function newKey(): string {
  return process.getBuiltinModule('node:crypto').randomBytes(24).toString('base64url')
}
