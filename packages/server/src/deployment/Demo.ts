import * as ApiKeys from "@satrail/core/accounts/ApiKeys"
import * as Companies from "@satrail/core/accounts/Companies"
import * as CompanyId from "@satrail/core/base/CompanyId"
import { Entropy } from "@satrail/core/base/Entropy"
import * as Id from "@satrail/core/base/Id"
import * as Answer from "@satrail/core/ledger/Answer"
import { Effect, Option, Redacted, Schema } from "effect"
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import path from "node:path"
import type { Environment } from "./Environment.ts"

/** What a person needs to try the service: written to `demo.json`, readable by its owner alone. */
export const Demo = Schema.Struct({
  base_url: Schema.String,
  api_key: Schema.String,
  company_id: CompanyId.CompanyId,
  /** Only where a start made it: one from the environment is not written down. */
  operator_token: Schema.optionalKey(Schema.String)
})
export interface Demo extends Schema.Schema.Type<typeof Demo> {}

export const fileIn = (directory: string) => path.join(directory, "demo.json")
const Json = Schema.fromJsonString(Demo)

/** What an earlier start wrote. A file that cannot be read is an error: to write over it would lose a key. */
export const read = (directory: string): Option.Option<Demo> => {
  const file = fileIn(directory)
  if (!existsSync(file)) return Option.none()
  try {
    return Option.some(Schema.decodeSync(Json)(readFileSync(file, "utf8")))
  } catch (cause) {
    throw new Error(`${file} is not what a start wrote. Repair it, or move it away to begin with a new company and key.`, { cause })
  }
}

/** Written beside and moved into place, so that it is never read half written. */
const write = (directory: string, demo: Demo): void => {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const beside = `${fileIn(directory)}.new`
  writeFileSync(beside, `${JSON.stringify(demo, null, 2)}\n`, { mode: 0o600 })
  chmodSync(beside, 0o600) // a file left over by a crash keeps the mode it had
  renameSync(beside, fileIn(directory))
}

/** What opens the operator's routes, and where it comes from. */
export type Operator =
  | { readonly _tag: "Configured"; readonly token: Redacted.Redacted }
  | { readonly _tag: "Made"; readonly token: Redacted.Redacted }
  /** Nothing does. */
  | { readonly _tag: "Closed" }

const label = { label: "operator token" }

/** The configured token; where there is a demo, the one of an earlier start or a new one; otherwise none. */
export const operator = ({ dataDirectory, demo, operatorToken }: Environment): Effect.Effect<Operator> =>
  Effect.gen(function* () {
    if (operatorToken !== undefined) return { _tag: "Configured", token: operatorToken }
    if (!demo) return { _tag: "Closed" }
    const earlier = Option.getOrUndefined(yield* Effect.sync(() => read(dataDirectory)))?.operator_token
    if (earlier !== undefined) return { _tag: "Made", token: Redacted.make(earlier, label) }
    const entropy = yield* Entropy
    return { _tag: "Made", token: Redacted.make(`op_${Id.toHex(entropy(32))}`, label) }
  })

/** The demo company, made at the first start and found again at every later one. `isNew` says which. */
export const prepare = Effect.fnUntraced(function* (options: {
  readonly directory: string
  readonly baseUrl: string
  readonly operator: Operator
}) {
  const { baseUrl, directory, operator } = options
  const companies = yield* Companies.Companies
  const apiKeys = yield* ApiKeys.ApiKeys
  const keep = (company: Pick<Demo, "api_key" | "company_id">) =>
    Effect.sync(() => {
      const token = operator._tag === "Made" ? { operator_token: Redacted.value(operator.token) } : {}
      const demo: Demo = { base_url: baseUrl, api_key: company.api_key, company_id: company.company_id, ...token }
      write(directory, demo)
      return demo
    })

  const earlier = Option.getOrUndefined(read(directory))
  if (earlier !== undefined && Option.isSome(yield* Effect.option(companies.get(earlier.company_id))))
    return { demo: yield* keep(earlier), isNew: false }
  const company = yield* Effect.flatMap(companies.open({ name: "Demo", plan: "free" }), Answer.made)
  const asked = { companyId: company.id, name: "demo", scopes: ["admin"], expiresAtMillis: null } as const
  const { text } = yield* Effect.flatMap(apiKeys.issue(asked), Answer.made)
  return { demo: yield* keep({ api_key: Redacted.value(text), company_id: company.id }), isNew: true }
})
