import {
  lastRecord,
  type MainFile,
  type MainRecord,
  type ReadRecord,
  type TakenFile,
} from '../../src/handover/main-file.ts'

/** Main's file in memory, with the file by which post asks main to stop. */
export class MemoryFile implements MainFile {
  readonly path = '/tmp/test-run-action-1'
  /** Undefined if the file was removed. */
  text: string | undefined
  isStopRequested = false
  stopRequests = 0
  isDiskFull = () => false
  /** Called when main would see something new at its next look. */
  onNews = () => {}

  constructor(...records: readonly MainRecord[]) {
    this.text = records.map((record) => JSON.stringify(record)).join('\n')
  }

  append(record: MainRecord): void {
    if (this.isDiskFull()) {
      // A part of the line is left.
      if (this.text !== undefined) this.text += `\n${JSON.stringify(record).slice(0, 9)}`
      throw new Error('the disk is full')
    }
    if (this.text === undefined) throw new Error('the file was removed')
    this.text += `\n${JSON.stringify(record)}`
  }

  isOfAnotherUser(): boolean {
    return false
  }

  isRemoved(): boolean {
    return this.text === undefined
  }

  read(): ReadRecord | undefined {
    return this.text === undefined ? undefined : (lastRecord(this.text) ?? { phase: 'unknown' })
  }

  take(): TakenFile | undefined {
    const record = this.read()
    this.remove()
    return record && { record }
  }

  remove(): void {
    this.text = undefined
    this.onNews()
  }

  askToStop(): boolean {
    this.isStopRequested = true
    this.stopRequests++
    this.onNews()
    return true
  }

  isStopAnswered(): boolean {
    return !this.isStopRequested
  }

  withdrawStop(): void {
    this.isStopRequested = false
  }

  answerStop(): boolean {
    const wasRequested = this.isStopRequested
    this.isStopRequested = false
    return wasRequested
  }
}
