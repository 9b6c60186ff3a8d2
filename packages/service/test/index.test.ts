import { assert, it } from "@effect/vitest"
import { globSync, readFileSync } from "node:fs"
import path from "node:path"
import * as features from "../src/exports.ts"
import * as root from "../src/index.ts"
import * as ports from "@satrail/core/ports"
import * as records from "../src/records.ts"
import * as services from "../src/services.ts"

const entries = [root, services, records, ports]
const promised = new Set<unknown>(
  entries.flatMap((entry) => Object.values(entry).flatMap((module) => Object.values(module)))
)

const repository = path.join(import.meta.dirname, "../../..")
const sources = globSync("packages/{core/src,features/src/*/core,service/src/core}/**/*.ts", {
  cwd: repository
})
const read = (file: string) => readFileSync(path.join(repository, file), "utf8")

it("interface: the root exports the features and at most 19 other namespaces, and no namespace is in two entry points", () => {
  const own = (entry: object) => Object.keys(entry).filter((name) => !Object.hasOwn(features, name))
  assert.isAtMost(own(root).length, 19)
  const names = entries.flatMap(own)
  assert.deepStrictEqual(names.toSorted(), [...new Set(names)].toSorted())
})

it("interface: every error can be imported from one of the package's entry points", async () => {
  const missing: Array<string> = []
  for (const file of sources) {
    const names = Array.from(
      read(file).matchAll(/^export class (\w+) extends Schema\.TaggedError/gm),
      ([, name = ""]) => name
    )
    if (names.length === 0) continue
    const module: Readonly<Record<string, unknown>> = await import(path.join(repository, file))
    missing.push(...names.filter((name) => !promised.has(module[name])))
  }
  // An embedding application never receives KeyRangeTaken, because none of the services that it calls makes the
  // Change that fails with this error.
  assert.deepStrictEqual(missing, ["KeyRangeTaken"])
})

/** Maps the class name of each of core's ports to the port's module. */
const declared = new Map(
  sources.flatMap((file) =>
    Array.from(
      read(file).matchAll(/^export class (\w+) extends Context\.Service</gm),
      ([, name = ""]) => [name, file] as const
    )
  )
)

/** The types tested by contract suites. */
const held = globSync("packages/contracts/src/*.ts", { cwd: repository }).flatMap((file) =>
  Array.from(read(file).matchAll(/Contract\.suite<([^,>]+),/g)).flatMap(
    ([, types = ""]) => types.match(/\w+/g) ?? []
  )
)
/** The names mentioned in guides. */
const told = [
  "add-a-lightning-node",
  "serve-a-lightning-node",
  "extend",
  "embed",
  "embed-database",
  "embed-server"
].flatMap((guide) =>
  Array.from(read(`docs/guides/${guide}.md`).matchAll(/`(?:\w+\.)?(\w+)`/g), ([, name = ""]) => name)
)

it("interface: every port that a contract or a guide names can be imported from one of the package's entry points", async () => {
  const named = [...new Set([...held, ...told])].filter((name) => declared.has(name)).toSorted()
  assert.includeMembers(named, ["LightningReceiver", "OfferIssuer", "ExchangeRates"])
  const missing: Array<string> = []
  for (const name of named) {
    const module: Readonly<Record<string, unknown>> = await import(
      path.join(repository, declared.get(name) ?? "")
    )
    if (!promised.has(module[name])) missing.push(name)
  }
  assert.deepStrictEqual(missing, [])
})
