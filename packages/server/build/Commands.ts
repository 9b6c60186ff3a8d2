import path from "node:path"
import { type Plugin, rolldown } from "rolldown"
import { ascii, places } from "./Bundle.ts"

/** What is loaded only for commands that run here stays outside, at its place in `dist`. */
const outside = (dist: string, folder: string): Plugin => ({
  name: "outside",
  resolveId: {
    order: "pre",
    handler: (source, importer, { kind }) => {
      if (importer === undefined || kind !== "dynamic-import") return undefined
      const target = path.resolve(path.dirname(importer), source)
      if (!/\/(?:LocalCommands|Spelling)\.js$/.test(importer) && target !== path.join(dist, "run.js"))
        return undefined
      const file = path.relative(folder, target)
      return { id: file.startsWith(".") ? file : `./${file}`, external: true }
    }
  }
})

/**
 * Makes one file of the command line, without the commands that run here, from the compiled modules in `dist`. It is written to `file` and works in the
 * folder `from`, by default its own (docs/decisions/packages.md#0142).
 */
export const bundle = async (dist: string, file: string, from = path.dirname(file)): Promise<void> => {
  const made = await rolldown({
    input: path.join(dist, "cli.js"),
    platform: "node",
    resolve: { conditionNames: ["compiled"] },
    plugins: [outside(dist, from), places(from), ascii]
  })
  await made.write({ file, comments: false, codeSplitting: false })
  await made.close()
}
