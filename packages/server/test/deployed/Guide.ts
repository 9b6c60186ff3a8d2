import { readFileSync } from "node:fs"
import path from "node:path"

/** A block of the guide that is run, and what it must print, where that is shown. */
export interface Block {
  /** The heading that it stands under. */
  readonly step: string
  readonly text: string
  readonly output: string | undefined
}

const file = path.resolve(import.meta.dirname, "../../../../docs/guides/mainnet.md")

/** The blocks of "Mainnet in an afternoon" that open with ```sh run, in order. */
export const blocks = (): ReadonlyArray<Block> => {
  const found: Array<Block> = []
  let step = ""
  for (const [, heading, kind, text = ""] of readFileSync(file, "utf8").matchAll(/^## (.*)$|^```\w+ (run|output)\n([^]*?)^```$/gm)) {
    if (heading !== undefined) step = heading
    else if (kind === "run") found.push({ step, text, output: undefined })
    else {
      const last = found.pop()
      if (last === undefined || last.output !== undefined) throw new Error("the guide has an output block that belongs to no command")
      found.push({ ...last, output: text })
    }
  }
  return found
}

/** Whether it was printed; … stands for anything on its line. */
export const isPrinted = (expected: string, printed: string): boolean => {
  const parts = expected
    .trimEnd()
    .split("…")
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"))
  return new RegExp(`^${parts.join("[^\\n]*?")}$`).test(printed.trim())
}
