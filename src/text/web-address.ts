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
  const at = address.lastIndexOf('@')
  const scheme = /^https?:\/*/i.exec(address.slice(0, at))?.[0] ?? ''
  const shown = at === -1 ? address : `${scheme}***${address.slice(at)}`
  const query = shown.search(/[?#]/)
  return query === -1 ? shown : `${shown.slice(0, query + 1)}***`
}

export function parseAddress(given: string): URL | undefined {
  return /[\s\p{Cc}\\]/u.test(given) ? undefined : (URL.parse(given) ?? undefined)
}

/** Only the text shows an empty user name. Only the parsed URL shows a user name without slashes before it. */
export function hasCredentials(given: string, { username, password }: URL): boolean {
  return /\/\/[^/?#]*@/.test(given) || username !== '' || password !== ''
}
