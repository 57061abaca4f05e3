import { type LeftToDo, lastLine, type MainFile } from '../../src/handover/main-file.ts'

/** Main's file in memory, with the file by which post asks main to stop. */
export class MemoryFile implements MainFile {
  readonly path = '/tmp/test-run-action-1'
  /** Undefined if the file was removed. */
  text: string | undefined
  isStopRequested = false
  isDiskFull = () => false
  /** Called when main would see something new at its next look. */
  onNews = () => {}

  constructor(...lines: readonly LeftToDo[]) {
    this.text = lines.map((left) => JSON.stringify(left)).join('\n')
  }

  append(left: LeftToDo): void {
    if (this.text === undefined) throw new Error('there is no file')
    const line = JSON.stringify(left)
    // If the disk is full, a part of the line is left.
    this.text += `\n${this.isDiskFull() ? line.slice(0, 9) : line}`
    if (this.isDiskFull()) throw new Error('the disk is full')
  }

  exists(): boolean {
    return this.text !== undefined
  }

  read(): LeftToDo {
    const left = lastLine(this.text ?? '')
    if (left === undefined) throw new Error('no whole line')
    return left
  }

  remove(): void {
    this.text = undefined
    this.onNews()
  }

  removeAll(): void {
    this.isStopRequested = false
    this.remove()
  }

  askToStop(): boolean {
    this.isStopRequested = true
    this.onNews()
    return true
  }

  isStopAnswered(): boolean {
    return !this.isStopRequested
  }

  answerStopRequest(): boolean {
    const wasRequested = this.isStopRequested
    this.isStopRequested = false
    return wasRequested
  }
}
