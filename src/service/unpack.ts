import type { Failure } from '../model/failure.ts'
import { messageOf, untrusted } from '../text/untrusted.ts'

// test/service/transport.test.ts tests it with real responses.

const ENCODINGS = ['gzip', 'br', 'deflate'] as const

/**
 * Unpacks a body. The action asks for bodies that are not packed, but some servers pack them all the same. A small body may become
 * very large, so unpacking stops at the limit.
 */
export function unpack(
  body: Buffer,
  contentEncoding: string,
  { limitBytes, mayBeIncomplete }: { readonly limitBytes: number; readonly mayBeIncomplete: boolean },
): Buffer | Failure {
  const encoding = contentEncoding.trim().toLowerCase()
  if (encoding === '' || encoding === 'identity') return body
  const known = ENCODINGS.find((name) => name === encoding)
  if (known === undefined) {
    const expected = `a body that is not packed, or the Content-Encoding ${ENCODINGS.join(', ')}`
    return { kind: 'invalid-response', expected, got: { sent: untrusted(contentEncoding) } }
  }
  // Not an import, because nearly no service packs its bodies.
  const zlib = process.getBuiltinModule('node:zlib')
  const { Z_SYNC_FLUSH, Z_FINISH, BROTLI_OPERATION_FLUSH, BROTLI_OPERATION_FINISH } = zlib.constants
  const options = { maxOutputLength: limitBytes, finishFlush: mayBeIncomplete ? Z_SYNC_FLUSH : Z_FINISH }
  try {
    switch (known) {
      case 'gzip':
        return zlib.gunzipSync(body, options)
      case 'br':
        return zlib.brotliDecompressSync(body, {
          maxOutputLength: limitBytes,
          finishFlush: mayBeIncomplete ? BROTLI_OPERATION_FLUSH : BROTLI_OPERATION_FINISH,
        })
      case 'deflate':
        // Some servers leave out the header of two bytes.
        return ((body[0] ?? 0) & 0x0f) === 0x08 ? zlib.inflateSync(body, options) : zlib.inflateRawSync(body, options)
    }
  } catch (cause) {
    const isTooLarge = cause instanceof Error && 'code' in cause && cause.code === 'ERR_BUFFER_TOO_LARGE'
    return isTooLarge ? largerThan(limitBytes) : invalid(`a complete body, packed with ${known}`, messageOf(cause))
  }
}

export function largerThan(limitBytes: number): Failure {
  return invalid(`a body of at most ${limitBytes} bytes`, 'a larger body')
}

function invalid(expected: string, words: string): Failure {
  return { kind: 'invalid-response', expected, got: { words } }
}
