import path from "node:path"
import type { Plugin } from "rolldown"

/** A module that reads a file beside itself finds it where it was, seen from the folder of the bundle: both can be moved, together. */
export const places = (folder: string): Plugin => ({
  name: "places",
  transform: (code, id) =>
    code.includes("import.meta.url")
      ? code.replaceAll("import.meta.url", `new URL(${JSON.stringify(path.relative(folder, id))}, import.meta.url).href`)
      : undefined
})

/** Every name that a statement imports from a module of Node, as constants. */
const constants = (names: string, module: string): string =>
  names
    .split(/, (?=[*{])/)
    .map((one) => (one.startsWith("{") ? one.replaceAll(" as ", ": ") : one.replace("* as ", "")))
    .map((pattern) => `const ${pattern} = process.getBuiltinModule("${module}");`)
    .join(" ")

/**
 * Reads Node's modules without an import, because an import reads every export, and with them loads parts of Node
 * that the service never uses, such as its WebSocket client.
 */
export const builtins: Plugin = {
  name: "builtins",
  renderChunk: (code) => {
    // The imports come first. Later lines can look like one, such as an example in a text.
    const end = code.search(/^(?!import |#!)/m)
    const imports = code
      .slice(0, end)
      .replaceAll(/^import (.+) from "(node:[\w/]+)";$/gm, (_, names: string, module: string) => constants(names, module))
    return imports + code.slice(end)
  }
}

const escaped = (code: string): string => {
  if (/String\.raw`[^`]*[^\0-\x7f]|\\[^\0-\x7f]/.test(code)) throw new Error("A raw or escaped character is not ASCII")
  return code.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
}

/** Escapes what is not ASCII, because V8 would otherwise keep the source with two bytes for each character. */
export const ascii: Plugin = {
  name: "ascii",
  generateBundle: (_, files) => {
    for (const file of Object.values(files)) if (file.type === "chunk") file.code = escaped(file.code)
  }
}
