import { readFileSync } from "node:fs"
import path from "node:path"

/** A command block of the guide and the output it must print, if the guide shows one. */
export interface Block {
  /** The heading above the block. */
  readonly step: string
  readonly text: string
  readonly output: string | undefined
}

const file = path.resolve(import.meta.dirname, "../../../../docs/guides/mainnet.md")

/** The blocks of "Mainnet in an afternoon" that start with ```sh run, in order. */
export const blocks = (): ReadonlyArray<Block> => {
  const found: Array<Block> = []
  let step = ""
  for (const [, heading, kind, text = ""] of readFileSync(file, "utf8").matchAll(
    /^## (.*)$|^```\w+ (run|output)\n([^]*?)^```$/gm
  )) {
    if (heading !== undefined) step = heading
    else if (kind === "run") found.push({ step, text, output: undefined })
    else {
      const last = found.pop()
      if (last === undefined || last.output !== undefined)
        throw new Error("the guide has an output block without a command")
      found.push({ ...last, output: text })
    }
  }
  return found
}

/** Returns whether the expected text was printed. An ellipsis (…) matches any text within its line. */
export const isPrinted = (expected: string, printed: string): boolean => {
  const parts = expected
    .trimEnd()
    .split("…")
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"))
  return new RegExp(`^${parts.join("[^\\n]*?")}$`).test(printed.trim())
}
