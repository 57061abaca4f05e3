import { closeSync, constants, fstatSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs'

const { O_CREAT, O_NONBLOCK = 0, O_RDWR } = constants

/** Adds an entry to the runner's file of outputs or of state. The runner reads the file even if it has killed main. */
export function appendEntry(path: string | undefined, name: string, value: string): void {
  if (/[\r\n]/.test(value)) throw new Error(`${name} has a line break in it`)
  append(path, 0, () => `${name}=${value}\n`)
}

/** Appends a text with one write. `build` receives what the file already contains. */
export function appendText(path: string, build: (already: Buffer) => string): void {
  append(path, O_CREAT, (file) => build(readFileSync(file)))
}

/** Throws unless the path is a plain file. Main would wait for the reader of a named pipe and handle no signal. */
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
