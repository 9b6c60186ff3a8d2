// The story that the README tells in blocks of commands and what they print.

/**
 * @typedef {object} Block
 * @property {string} caption the first sentence of what stands before the block
 * @property {string} command
 * @property {string | undefined} output what it must print
 */

/**
 * The first sentence of a paragraph, without its marks.
 * @param {string} text
 */
const firstSentence = (text) =>
  (/^[^]*?[.:](?=\s|$)/.exec(text) ?? [text])[0].replaceAll(/\s+/g, " ").replace(/[.:]$/, "").replaceAll("`", "")

/**
 * The blocks of a page. One that opens with "sh run" is run; one that opens with a language and "output" right after it is what it must print.
 * @param {string} markdown
 * @returns {ReadonlyArray<Block>}
 */
export const blocksOf = (markdown) => {
  const fences = [...markdown.matchAll(/(?:^(\S[^\n]*(?:\n[^\n]+)*)\n\n)?^```(\w+) (run|output)\n([\s\S]*?)^```$/gm)]
  /** @type {Array<Block>} */
  const blocks = []
  for (const [, before = "", , kind, text = ""] of fences) {
    const last = blocks.at(-1)
    const caption = before.endsWith("```") ? "" : firstSentence(before)
    if (kind === "run") blocks.push({ caption, command: text, output: undefined })
    else if (last !== undefined && last.output === undefined) last.output = text
    else throw new Error("the README has an output block that belongs to no command")
  }
  return blocks
}

/**
 * Whether a block printed what it must: … stands for any text on that line that differs from run to run.
 * @param {string} expected
 * @param {string} actual
 * @param {boolean} isExact whether numbers must be the same; where something was done before, balances are others
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
 * The commands of a block, one after the other: a line that is indented belongs to the one before.
 * @param {string} command
 * @returns {ReadonlyArray<string>}
 */
export const commandsOf = (command) => command.trimEnd().split(/\n(?=\S)/)
