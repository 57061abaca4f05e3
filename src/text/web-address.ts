/** The only addresses that are used or shown: https, and http on this machine. */
export function isSecure({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname))
}

/** An address for a message: credentials, and tokens in a query, must not be shown. */
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

/** An empty user name shows in the text alone, one without slashes before it in the parsed address alone. */
export function hasCredentials(given: string, { username, password }: URL): boolean {
  return /\/\/[^/?#]*@/.test(given) || username !== '' || password !== ''
}
