// `node build.mjs OUT`: bundles host.mjs for Node with each bundler, as described in docs/guides/embed.md.
import { build } from "esbuild"
import path from "node:path"
import { promisify } from "node:util"
import { rolldown } from "rolldown"
import TerserPlugin from "terser-webpack-plugin"
import webpack from "webpack"

const out = path.resolve(process.argv[2] ?? "out")
for (const [format, name] of [
  ["esm", "esbuild.mjs"],
  ["cjs", "esbuild.cjs"]
])
  await build({
    entryPoints: ["host.mjs"],
    bundle: true,
    platform: "node",
    format,
    outfile: path.join(out, name),
    logLevel: "error"
  })

const bundle = await rolldown({ input: "host.mjs", platform: "node" })
await bundle.write({ file: path.join(out, "rolldown.mjs") })
await bundle.close()

// terser moves a `yield` into a function that is called with it, which then does not parse
// (docs/decisions/packages.md#0163).
const minimizer = [new TerserPlugin({ terserOptions: { compress: { collapse_vars: false } } })]
const stats = await promisify(webpack)({
  mode: "production",
  target: "node22",
  entry: "./host.mjs",
  // Otherwise, webpack replaces both, and packages look for their files where the bundle was built.
  module: { parser: { javascript: { createRequire: false, importMeta: false } } },
  experiments: { outputModule: true },
  output: { path: out, filename: "webpack.mjs", module: true },
  optimization: { minimizer }
})
if (stats.hasErrors()) throw new Error(stats.toString("errors-only"))
