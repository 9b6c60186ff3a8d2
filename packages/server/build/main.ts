// `node packages/server/build/main.ts [APP]`: makes one file of the service and all that it imports, APP/bundle/service.cjs, from its compiled JavaScript, and
// APP/bundle/main.mjs, which runs it. This is what `npm start` and the image run (docs/decisions/packages.md#0142). APP is packages/server, or a folder that it was
// deployed to. The command line is one file too, but for the commands that run here: bundle/cli.mjs, and APP/dist/cli.js of a folder that it was deployed to,
// where nothing is compiled again.
import { isBuiltin } from "node:module"
import path from "node:path"
import { rolldown } from "rolldown"
import { ascii, loader, places } from "./Bundle.ts"
import * as Commands from "./Commands.ts"

const app = path.resolve(process.argv[2] ?? path.join(import.meta.dirname, ".."))
const folder = path.join(app, "bundle")

const service = await rolldown({
  input: { service: path.join(app, "dist/bundled.js") },
  platform: "node",
  resolve: { conditionNames: ["compiled"] },
  // Only browser bundlers define it. Effect checks whether it exists.
  transform: { define: { "import.meta.env": "undefined" } },
  // The embedded database has files of its own, and is loaded where it is used.
  external: "@electric-sql/pglite",
  plugins: [places(folder), ascii]
})
// Names without a hash: Node's compile cache has one entry for each name.
const { output } = await service.write({
  dir: folder,
  format: "cjs",
  strict: true, // as in the modules that it was made from
  // Node calls an import() in code that it did not load itself experimental.
  dynamicImportInCjs: false,
  comments: false,
  entryFileNames: "[name].cjs",
  chunkFileNames: "[name].cjs",
  cleanDir: true
})
await service.close()

await loader(
  folder,
  output.flatMap((file) => (file.type === "chunk" && file.isEntry ? file.imports.filter(isBuiltin) : []))
)

const dist = path.join(app, "dist")
await Commands.bundle(
  dist,
  process.argv[2] === undefined ? path.join(folder, "cli.mjs") : path.join(dist, "cli.js")
)
