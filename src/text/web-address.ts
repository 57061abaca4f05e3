/** The action uses and shows an address only if it is https, or http on this machine. */
export function isSecure(url: URL): boolean {
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url))
}

/** Whether the host is this machine. */
export function isLoopback({ hostname }: URL): boolean {
  return /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)
}

/** The address for a message. Hides credentials, and a query or fragment, which may contain a token. */
export function withoutSecrets(address: string): string {
  const withoutCredentials = address.replace(/^(https?:\/*)?.*@/is, '$1***@')
  return withoutCredentials.replace(/([?#]).*$/s, '$1***')
}

export function parseAddress(given: string): URL | undefined {
  return /[\s\p{Cc}\\]/u.test(given) ? undefined : (URL.parse(given) ?? undefined)
}

/** `https://@host` has credentials in the text only, and `https:user@host` in the parsed URL only. */
export function hasCredentials(given: string, { username, password }: URL): boolean {
  return /^[^/?#]*\/*[^/?#]*@/.test(given) || username !== '' || password !== ''
}
