// Draws every picture in docs/assets from the data that it shows. `npm run docs` writes the pictures along with
// the reference pages.
import { readFileSync } from "node:fs"
import path from "node:path"
import { blocksOf } from "../readme/Story.mjs"
import { badges } from "./Badges.ts"
import * as Deployment from "./Deployment.ts"
import * as Diagram from "./Diagram.ts"
import { palettes } from "./Drawing.ts"
import * as Payments from "./Payments.ts"
import * as Terminal from "./Terminal.ts"

const root = path.join(import.meta.dirname, "../..")
export const directory = path.join(root, "docs/assets")

export interface Story {
  /** The line that the service prints when it starts. */
  readonly started: string
  /** The README's blocks, each with its commands and their recorded output. */
  readonly blocks: ReadonlyArray<ReadonlyArray<{ readonly command: string; readonly output: string }>>
}

export const readStory = (): Story => JSON.parse(readFileSync(path.join(directory, "story.json"), "utf8"))

const linesIn = (kind: Terminal.Line["kind"], text: string): ReadonlyArray<Terminal.Line> =>
  text.trim() === ""
    ? []
    : text
        .trimEnd()
        .split("\n")
        .map((text) => ({ kind, text }))

/** Returns the lines to show: each block that prints something, preceded by the README's sentence about it. */
const linesOf = ({ started, blocks }: Story): ReadonlyArray<Terminal.Line> => {
  const told = blocksOf(readFileSync(path.join(root, "README.md"), "utf8"))
  const scenes = blocks.map((commands, index): ReadonlyArray<Terminal.Line> => {
    const lines = commands.flatMap(({ command, output }) => [
      ...linesIn("command", command).map((line, i) => ({
        ...line,
        text: i === 0 ? `$ ${line.text}` : line.text
      })),
      ...linesIn("output", output)
    ])
    const caption = told[index]?.caption ?? ""
    const isShown = lines.some(({ kind }) => kind === "output")
    return isShown ? [{ kind: "output", text: "" }, { kind: "caption", text: `# ${caption}` }, ...lines] : []
  })
  return [{ kind: "command", text: "$ npm start" }, { kind: "output", text: started }, ...scenes.flat()]
}

const title =
  "A terminal: the service starts, an invoice is paid, part of it is sent on, and a payment with an unknown outcome stays held"

/** Returns every picture by its file name in docs/assets. */
export const pictures = (): Readonly<Record<string, string>> => {
  const lines = linesOf(readStory())
  return {
    ...badges(),
    "diagram-light.svg": Diagram.draw(palettes.light),
    "diagram-dark.svg": Diagram.draw(palettes.dark),
    "payments-light.svg": Payments.draw(palettes.light),
    "payments-dark.svg": Payments.draw(palettes.dark),
    "deployment-light.svg": Deployment.draw(palettes.light),
    "deployment-dark.svg": Deployment.draw(palettes.dark),
    "story-light.svg": Terminal.draw(lines, title, Terminal.palettes.light),
    "story-dark.svg": Terminal.draw(lines, title, Terminal.palettes.dark)
  }
}
