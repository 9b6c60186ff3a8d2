import { assert, describe, it } from "@effect/vitest"
import { readFileSync, readdirSync } from "node:fs"
import path from "node:path"
import * as Catalogue from "@satrail/service/core/Catalogue"
import { rolldown } from "rolldown"
import { client, type Client } from "../src/index.ts"
import * as Operator from "../src/operator.ts"
import { allRoutes } from "../src/OperatorRoutes.ts"
import { routes } from "../src/Routes.ts"
import { eventType, wireTypes } from "../src/Plain.ts"

const folder = path.dirname(import.meta.dirname)
const maxBytes = 15_000

describe("the package", () => {
  it("client: the bundle for browsers has no imports and is at most 15 kB minified", async () => {
    const bundle = await rolldown({
      input: path.join(folder, "src/index.ts"),
      platform: "browser",
      logLevel: "silent"
    })
    const { output } = await bundle.generate({ format: "esm", minify: true })
    const [{ code, imports, dynamicImports }] = output
    assert.lengthOf(output, 1)
    assert.deepStrictEqual([...imports, ...dynamicImports], [])
    assert.notMatch(code, /node:|\bBuffer\b|\bprocess\b/)
    const bytes = Buffer.byteLength(code)
    console.log(`@satrail/client: ${bytes} bytes minified`)
    assert.isAtMost(bytes, maxBytes)
  })

  it("client: the package has no dependencies, and its declarations use no types from other packages", () => {
    const { dependencies = {}, peerDependencies = {} } = JSON.parse(
      readFileSync(path.join(folder, "package.json"), "utf8")
    )
    assert.deepStrictEqual([dependencies, peerDependencies], [{}, {}])
    for (const file of readdirSync(path.join(folder, "src"))) {
      const source = readFileSync(path.join(folder, "src", file), "utf8")
      assert.notMatch(source, /from "[^.]|import\("|\/\/\/ <reference/, file)
    }
  })

  it("client: the client has a method for each route and no other methods", () => {
    const url = "http://service.example"
    const methodsOf = (noun: object) => Object.keys(noun).toSorted()
    const clients: ReadonlyArray<readonly [Client, typeof routes]> = [
      [client({ url }), routes],
      [Operator.client({ url }), allRoutes]
    ]
    for (const [pay, table] of clients) {
      assert.sameMembers(Object.keys(pay), [...Object.keys(table), "on", "close"])
      for (const [noun, verbs] of Object.entries(table)) {
        const others = noun === "webhooks" ? ["verify"] : noun === "withdrawals" ? ["settled"] : []
        assert.deepStrictEqual(
          methodsOf(pay[noun as keyof typeof pay]),
          [...Object.keys(verbs), ...others].toSorted(),
          noun
        )
      }
    }
  })

  it("client: event types match those of the service, in either naming style", () => {
    for (const type of Catalogue.types) assert.include(wireTypes(eventType(type)), type)
    for (const type of new Set(Catalogue.types.map(eventType)))
      assert.includeMembers([...Catalogue.types], [...wireTypes(type)])
    assert.deepStrictEqual(wireTypes("deposit.*"), ["deposit.*"])
  })
})
