// `node build.mjs ENTRY OUT [--external]`: bundles a program for Node with each bundler, as described in
// docs/guides/embed.md: completely, or without effect, satrail and its packages.
import { build } from "esbuild"
import path from "node:path"
import { promisify } from "node:util"
import { rolldown } from "rolldown"
import TerserPlugin from "terser-webpack-plugin"
import webpack from "webpack"

const [entry = "host.mjs", folder = "out", flag] = process.argv.slice(2)
const out = path.resolve(folder)
const isOurs = /^(?:effect|satrail|@satrail\/[^/]+)(?:\/|$)/
const isExternal = flag === "--external"

// An import of `createRequire` would have the name of one in a bundled module.
const banner = {
  js: `const require = process.getBuiltinModule("module").createRequire(import.meta.url)`
}
for (const [format, name] of [
  ["esm", "esbuild.mjs"],
  ["cjs", "esbuild.cjs"]
])
  await build({
    entryPoints: [entry],
    bundle: true,
    platform: "node",
    format,
    outfile: path.join(out, name),
    logLevel: "error",
    external: isExternal ? ["effect", "satrail", "@satrail/*"] : [],
    ...(format === "esm" && { banner })
  })

const bundle = await rolldown({ input: entry, platform: "node", external: isExternal ? isOurs : [] })
await bundle.write({ file: path.join(out, "rolldown.mjs"), codeSplitting: false })
await bundle.close()

// terser moves a `yield` into a function that is called with it, which then does not parse
// (docs/decisions/packages.md#0163).
const minimizer = [new TerserPlugin({ terserOptions: { compress: { collapse_vars: false } } })]
const stats = await promisify(webpack)({
  mode: "production",
  target: "node22",
  entry: path.resolve(entry),
  // Otherwise, webpack replaces both, and packages look for their files where the bundle was built.
  module: { parser: { javascript: { createRequire: false, importMeta: false } } },
  experiments: { outputModule: true },
  externalsType: "module",
  externals: isExternal
    ? [({ request }, found) => (isOurs.test(request) ? found(null, request) : found())]
    : [],
  output: { path: out, filename: "webpack.mjs", module: true },
  plugins: [new webpack.optimize.LimitChunkCountPlugin({ maxChunks: 1 })],
  // To minimize the whole service takes minutes, and shows no more.
  optimization: { minimize: entry === "host.mjs", minimizer }
})
if (stats.hasErrors()) throw new Error(stats.toString("errors-only"))
