import path from "node:path"
import { type Plugin, rolldown } from "rolldown"

/** A module that reads a file beside itself finds it where it was, seen from the folder of the bundle: both can be moved, together. */
export const places = (folder: string): Plugin => ({
  name: "places",
  transform: (code, id) =>
    code.includes("import.meta.url")
      ? code.replaceAll(
          "import.meta.url",
          `new URL(${JSON.stringify(path.relative(folder, id))}, import.meta.url).href`
        )
      : undefined
})

const escaped = (code: string): string => {
  if (/String\.raw`[^`]*[^\0-\x7f]|\\[^\0-\x7f]/.test(code))
    throw new Error("A raw or escaped character is not ASCII")
  return code.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
}

/** Escapes what is not ASCII, because V8 would otherwise keep the source with two bytes for each character. */
export const ascii: Plugin = {
  name: "ascii",
  generateBundle: (_, files) => {
    for (const file of Object.values(files)) if (file.type === "chunk") file.code = escaped(file.code)
  }
}

/** Makes `folder`/main.mjs, which runs the service.cjs beside it. `builtins` are the modules of Node that the service imports. */
export const loader = async (folder: string, builtins: ReadonlyArray<string>): Promise<void> => {
  const made = await rolldown({
    input: path.join(import.meta.dirname, "Load.ts"),
    platform: "node",
    transform: { define: { builtins: JSON.stringify(builtins) } }
  })
  await made.write({ file: path.join(folder, "main.mjs"), comments: false })
  await made.close()
}
