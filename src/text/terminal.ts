/** Whole sequences for a terminal: colours, cursor movements, titles and links (CSI, OSC), and shorter ones. */
export const TERMINAL_SEQUENCE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
  /(?:\u001B\[|\u009B)[0-?]*[ -/]*[@-~]|\u001B\][^\u0007\u001B]*(?:\u0007|\u001B\\)|\u001B(?:[ -/]+[0-~]|[0-Z\\^-~])/g

/** For example without colours. The time is linear in the length of the text, unlike that of Node's own function. */
export function withoutTerminalSequences(text: string): string {
  return text.replace(TERMINAL_SEQUENCE, '')
}
