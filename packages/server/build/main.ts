// `node packages/server/build/main.ts [APP]`: makes one file of the service and all that it imports, APP/bundle/main.mjs, from its compiled JavaScript. It is what
// `npm start` and the image run (docs/decisions/packages.md#0142). APP is packages/server, or a folder that it was deployed to. The command line is one file
// too, but for the commands that run here: bundle/cli.mjs, and APP/dist/cli.js of a folder that it was deployed to, where nothing is compiled again.
import path from "node:path"
import { rolldown } from "rolldown"
import { ascii, builtins, places } from "./Bundle.ts"
import * as Commands from "./Commands.ts"

const app = path.resolve(process.argv[2] ?? path.join(import.meta.dirname, ".."))
const folder = path.join(app, "bundle")

const bundle = await rolldown({
  input: { main: path.join(app, "dist/main.js") },
  platform: "node",
  resolve: { conditionNames: ["compiled"] },
  // The embedded database has files of its own, and is loaded where it is used.
  external: "@electric-sql/pglite",
  plugins: [places(folder), builtins, ascii]
})
// A name without a hash: Node's compile cache has one entry for each name.
await bundle.write({ dir: folder, comments: false, entryFileNames: "[name].mjs", chunkFileNames: "[name].mjs", cleanDir: true })
await bundle.close()

const dist = path.join(app, "dist")
await Commands.bundle(dist, process.argv[2] === undefined ? path.join(folder, "cli.mjs") : path.join(dist, "cli.js"))
