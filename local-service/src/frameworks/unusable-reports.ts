/** A folder of blob reports that cannot be merged. The message is the rest of a sentence that begins with the folder. */
export class UnusableReports extends Error {
  readonly isOverLimit: boolean

  constructor(message: string, { isOverLimit = false } = {}) {
    super(message)
    this.isOverLimit = isOverLimit
  }
}
