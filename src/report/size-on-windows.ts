const LINE_FEED = 0x0a

/** The size in bytes with each line end as two, which it becomes on Windows once GitHub has counted. */
export function sizeOnWindows(text: Buffer): number {
  let size = text.length
  for (let at = text.indexOf(LINE_FEED); at !== -1; at = text.indexOf(LINE_FEED, at + 1)) size++
  return size
}
