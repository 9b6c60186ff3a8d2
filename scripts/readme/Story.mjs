// Parses the README's blocks of commands and their output.

/**
 * @typedef {object} Block
 * @property {string} caption the first sentence before the block
 * @property {string} command
 * @property {string | undefined} output the expected output
 */

/**
 * Returns the first sentence of a paragraph, without its formatting.
 * @param {string} text
 */
const firstSentence = (text) =>
  (/^[^]*?[.:](?=\s|$)/.exec(text) ?? [text])[0]
    .replaceAll(/\s+/g, " ")
    .replace(/[.:]$/, "")
    .replaceAll("`", "")

/**
 * Returns the blocks of a page. A block that starts with "sh run" contains commands. If the next block starts
 * with a language and "output", it contains the expected output.
 * @param {string} markdown
 * @returns {ReadonlyArray<Block>}
 */
export const blocksOf = (markdown) => {
  const fences = [
    ...markdown.matchAll(/(?:^(\S[^\n]*(?:\n[^\n]+)*)\n\n)?^```(\w+) (run|output)\n([\s\S]*?)^```$/gm)
  ]
  /** @type {Array<Block>} */
  const blocks = []
  for (const [, before = "", , kind, text = ""] of fences) {
    const last = blocks.at(-1)
    const caption = before.endsWith("```") ? "" : firstSentence(before)
    if (kind === "run") blocks.push({ caption, command: text, output: undefined })
    else if (last !== undefined && last.output === undefined) last.output = text
    else throw new Error("the README has an output block without a command")
  }
  return blocks
}

/**
 * Returns whether a block printed the expected output, in which … stands for varying text on one line.
 * @param {string} expected
 * @param {string} actual
 * @param {boolean} isExact whether numbers must be equal; balances differ after earlier runs
 */
export const matches = (expected, actual, isExact) => {
  const pattern = expected
    .trimEnd()
    .split("…")
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
    .map((part) => (isExact ? part : part.replace(/\d+/g, "\\d+")))
    .join("[^\\n]*?")
  return new RegExp(`^${pattern}$`).test(actual.trimEnd())
}

/**
 * Returns the commands of a block in order. An indented line continues the previous one.
 * @param {string} command
 * @returns {ReadonlyArray<string>}
 */
export const commandsOf = (command) => command.trimEnd().split(/\n(?=\S)/)
