import { assert, it } from "@effect/vitest"
import { readdirSync } from "node:fs"
import path from "node:path"
import { rolldown } from "rolldown"

const folder = path.join(import.meta.dirname, "../src")

/** The modules of a bundle of this layer of every feature. */
const modulesOf = async (layer: string): Promise<ReadonlyArray<string>> => {
  const input = readdirSync(folder).map((name) => path.join(folder, name, layer, "index.ts"))
  const bundle = await rolldown({
    input,
    platform: "node",
    external: /^effect(?:\/|$)/,
    logLevel: "silent",
    treeshake: false
  })
  const { output } = await bundle.generate()
  await bundle.close()
  return output.flatMap((one) => (one.type === "chunk" ? one.moduleIds : []))
}

it("features: the core of a feature loads no routes, statements or pages", async () => {
  const modules = await modulesOf("core")
  assert.isAbove(modules.filter((id) => id.includes("packages/core/src/")).length, 50)
  assert.deepStrictEqual(
    modules.filter((id) => /packages\/(?:http|memory|postgres|service|ui)\//.test(id)),
    []
  )
})
