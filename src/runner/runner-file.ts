import { closeSync, constants, fstatSync, ftruncateSync, openSync, writeSync } from 'node:fs'

const { O_CREAT, O_NONBLOCK = 0, O_RDWR } = constants

/** Adds an entry to the runner's file of outputs or of state. */
export function appendEntry(path: string | undefined, name: string, value: string): void {
  if (/[\r\n]/.test(value)) throw new Error(`${name} has a line break in it`)
  append(path, 0, () => `${name}=${value}\n`)
}

/** Appends a text with one write. `build` receives the size of what the file already contains. */
export function appendText(path: string, build: (alreadyBytes: number) => string): void {
  append(path, O_CREAT, (file) => build(fstatSync(file).size))
}

/** Throws unless the path is a plain file. A named pipe could block main, which would then handle no signal. */
function append(path: string | undefined, flags: number, build: (file: number) => string): void {
  const file = openSync(path ?? '', O_RDWR | O_NONBLOCK | flags)
  try {
    if (!fstatSync(file).isFile()) throw new Error(`${path} is not a plain file`)
    writeWhole(file, build(file))
  } finally {
    closeSync(file)
  }
}

/**
 * Appends the whole text or nothing. If the disk takes only a part, that part is removed again. The file is not opened
 * with O_APPEND, because Windows does not truncate such a file.
 */
export function writeWhole(file: number, text: string): void {
  const bytes = Buffer.from(text)
  const { size } = fstatSync(file)
  if (writeSync(file, bytes, 0, bytes.length, size) === bytes.length) return
  ftruncateSync(file, size)
  throw new Error('no space left on the disk')
}
