import * as Answer from "@satrail/core/Answer"
import * as ApiKeys from "@satrail/core/ApiKeys"
import * as Companies from "@satrail/core/Companies"
import { Entropy } from "@satrail/core/Entropy"
import * as Id from "@satrail/core/Id"
import { Effect, Option, Redacted, Schema } from "effect"
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import path from "node:path"

/** What a person needs to try the service: written to `demo.json`, readable by its owner alone. */
export const Demo = Schema.Struct({
  base_url: Schema.String,
  api_key: Schema.String,
  company_id: Schema.String,
  operator_token: Schema.String
})
export interface Demo extends Schema.Schema.Type<typeof Demo> {}

const fileIn = (directory: string) => path.join(directory, "demo.json")
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

/** Written beside and moved into place, so that nobody ever reads half of it. */
const write = (directory: string, demo: Demo): void => {
  mkdirSync(directory, { recursive: true })
  const beside = `${fileIn(directory)}.new`
  writeFileSync(beside, `${JSON.stringify(demo, null, 2)}\n`, { mode: 0o600 })
  chmodSync(beside, 0o600) // a file left over by a crash keeps the mode it had
  renameSync(beside, fileIn(directory))
}

/** The token that opens the operator's routes: the configured one, the one of an earlier start, or a new one. */
export const operatorToken = (directory: string, configured: Redacted.Redacted | undefined) =>
  Effect.gen(function* () {
    if (configured !== undefined) return configured
    const earlier = read(directory)
    if (Option.isSome(earlier)) return Redacted.make(earlier.value.operator_token, { label: "operator token" })
    const entropy = yield* Entropy
    return Redacted.make(`op_${Id.toHex(entropy(32))}`, { label: "operator token" })
  })

/** The demo company, made at the first start and found again at every later one. `isNew` says which. */
export const prepare = Effect.fnUntraced(function* (options: {
  readonly directory: string
  readonly baseUrl: string
  readonly operatorToken: Redacted.Redacted
}) {
  const companies = yield* Companies.Companies
  const apiKeys = yield* ApiKeys.ApiKeys
  const current = { base_url: options.baseUrl, operator_token: Redacted.value(options.operatorToken) }

  const earlier = read(options.directory)
  if (Option.isSome(earlier)) {
    const known = yield* Effect.option(companies.get(earlier.value.company_id))
    if (Option.isSome(known)) {
      const demo = { ...earlier.value, ...current }
      yield* Effect.sync(() => write(options.directory, demo))
      return { demo, isNew: false }
    }
  }
  const company = yield* Effect.flatMap(companies.open({ name: "Demo", plan: "free" }), Answer.made)
  const { text } = yield* apiKeys.issue({ companyId: company.id, name: "demo", scopes: ["admin"], expiresAtMillis: null })
  const demo = { ...current, api_key: Redacted.value(text), company_id: company.id }
  yield* Effect.sync(() => write(options.directory, demo))
  return { demo, isNew: true }
})

/**
 * What is printed when the service is ready: at the first start with the key, and with three things to try. `node` is the real node that
 * it runs on; undefined on a pretend network.
 */
export const banner = (demo: Demo, isNew: boolean, directory: string, node?: string): string => {
  const call = (method: string, route: string, body?: string) =>
    `  curl -s ${method === "GET" ? "" : `-X ${method} `}${demo.base_url}${route} -H "Authorization: Bearer $KEY"${body === undefined ? "" : ` -H "Content-Type: application/json" -d '${body}'`}`
  const lines = [
    "",
    `satrail is running at ${demo.base_url}, ${node === undefined ? "on a pretend network: nothing here is real money" : `on ${node}`}.`,
    `  documentation   ${demo.base_url}/docs`,
    `  operator token  in ${fileIn(directory)}`,
    ...(isNew
      ? [
          `  API key         ${demo.api_key}`,
          "",
          "Try it, in another terminal:",
          `  KEY=${demo.api_key}`,
          call("POST", "/v1/bitcoin/deposit/lightning-invoice", `{"amount":1000,"currency":"sats","description":"coffee"}`),
          ...(node === undefined
            ? [call("POST", "/sandbox/pay", `{"payment_request":"<the payment_request from above>"}`)]
            : ["  # pay its payment_request from another wallet"]),
          call("GET", "/v1/transactions/balance")
        ]
      : [`  API key         the same as before, in ${fileIn(directory)}`]),
    "",
    "Ctrl-C stops it.",
    ""
  ]
  return lines.join("\n")
}
