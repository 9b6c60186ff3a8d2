// `node packages/server/build/main.ts [APP]`: makes one file of the service and all that it imports, APP/bundle/main.mjs, from its compiled JavaScript. It is what
// `npm start` and the image run (docs/decisions/packages.md#0142). APP is packages/server, or a folder that it was deployed to.
import path from "node:path"
import { type Plugin, rolldown } from "rolldown"

const app = path.resolve(process.argv[2] ?? path.join(import.meta.dirname, ".."))
const folder = path.join(app, "bundle")

/** What a module reads beside itself is where it was, seen from the bundle: both may be moved, together. */
const places: Plugin = {
  name: "places",
  transform: (code, id) =>
    code.includes("import.meta.url")
      ? code.replaceAll("import.meta.url", `new URL(${JSON.stringify(path.relative(folder, id))}, import.meta.url).href`)
      : undefined
}

const bundle = await rolldown({
  input: { main: path.join(app, "dist/main.js") },
  platform: "node",
  resolve: { conditionNames: ["compiled"] },
  // The embedded database has files of its own, and is loaded where it is used.
  external: "@electric-sql/pglite",
  plugins: [places]
})
// A name without a hash: Node's compile cache has one entry for each name.
await bundle.write({ dir: folder, comments: false, entryFileNames: "[name].mjs", chunkFileNames: "[name].mjs", cleanDir: true })
await bundle.close()
