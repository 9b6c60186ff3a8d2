import * as ApiKeys from "@satrail/core/accounts/ApiKeys"
import * as Companies from "@satrail/core/accounts/Companies"
import { Entropy } from "@satrail/core/base/Entropy"
import * as Id from "@satrail/core/base/Id"
import * as Answer from "@satrail/core/ledger/Answer"
import { Effect, Option, Redacted } from "effect"
import * as DemoFile from "./DemoFile.ts"
import type { Environment } from "./Environment.ts"

/** The operator's credential, and its source. */
export type Operator =
  | { readonly _tag: "Configured"; readonly token: Redacted.Redacted }
  | { readonly _tag: "Made"; readonly token: Redacted.Redacted }
  /** There is no credential, so the operator's routes are closed. */
  | { readonly _tag: "Closed" }

const label = { label: "operator token" }

/**
 * Returns the configured token. Without one, returns the demo's token (stored or new) if there is a demo, and
 * otherwise none.
 */
export const operator = ({ dataDirectory, demo, operatorToken }: Environment): Effect.Effect<Operator> =>
  Effect.gen(function* () {
    if (operatorToken !== undefined) return { _tag: "Configured", token: operatorToken }
    if (!demo) return { _tag: "Closed" }
    const earlier = Option.getOrUndefined(
      yield* Effect.sync(() => DemoFile.read(dataDirectory))
    )?.operator_token
    if (earlier !== undefined) return { _tag: "Made", token: Redacted.make(earlier, label) }
    const entropy = yield* Entropy
    return { _tag: "Made", token: Redacted.make(`op_${Id.toHex(entropy(32))}`, label) }
  })

/**
 * Creates the demo company at the first start, and finds it again at later starts. `isNew` is set at the first
 * start.
 */
export const prepare = Effect.fnUntraced(function* (options: {
  readonly directory: string
  readonly baseUrl: string
  readonly operator: Operator
}) {
  const { baseUrl, directory, operator } = options
  const companies = yield* Companies.Companies
  const apiKeys = yield* ApiKeys.ApiKeys
  const keep = (company: Pick<DemoFile.Demo, "api_key" | "company_id">) =>
    Effect.sync(() => {
      const token = operator._tag === "Made" ? { operator_token: Redacted.value(operator.token) } : {}
      const demo: DemoFile.Demo = {
        base_url: baseUrl,
        api_key: company.api_key,
        company_id: company.company_id,
        ...token
      }
      DemoFile.write(directory, demo)
      return demo
    })

  const earlier = Option.getOrUndefined(DemoFile.read(directory))
  const isThere = ({ company_id }: DemoFile.Demo) =>
    companies.get(company_id).pipe(
      Effect.as(true),
      Effect.catchTag("NotFound", () => Effect.succeed(false))
    )
  if (earlier !== undefined && (yield* isThere(earlier))) return { demo: yield* keep(earlier), isNew: false }
  const company = yield* Effect.flatMap(companies.open({ name: "Demo", plan: "free" }), Answer.made)
  const asked = { companyId: company.id, name: "demo", scopes: ["admin"], expiresAtMillis: null } as const
  const { text } = yield* Effect.flatMap(apiKeys.issue(asked), Answer.made)
  return { demo: yield* keep({ api_key: Redacted.value(text), company_id: company.id }), isNew: true }
})
