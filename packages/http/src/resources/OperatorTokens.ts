import * as OperatorToken from "@satrail/core/accounts/OperatorToken"
import { type Issued, OperatorTokens, scopesIssue } from "@satrail/core/accounts/OperatorTokens"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as SecretHash from "@satrail/core/base/SecretHash"
import { Effect, Redacted, Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { OperatorScopes } from "../api/Authentication.ts"
import * as Envelope from "../wire/Envelope.ts"
import * as Errors from "../wire/Errors.ts"
import { Example, type World } from "../wire/Examples.ts"
import * as Idempotency from "../wire/Idempotency.ts"
import * as Scalars from "../wire/Scalars.ts"
import { Seal } from "../wire/Seal.ts"
import * as Resource from "../api/Resource.ts"
import * as Section from "../api/Section.ts"
import * as Member from "../wire/Member.ts"
import * as View from "../wire/View.ts"
import * as Companies from "./Companies.ts"

const path = "/operator/tokens"

const Body = Schema.Struct({
  name: Companies.Name,
  scopes: Schema.Array(OperatorToken.Scope).check(
    Schema.isMaxLength(OperatorToken.Scope.literals.length),
    Scalars.stated(scopesIssue, { minItems: 1 })
  )
}).annotate({ identifier: "IssueOperatorToken" })

const view = View.make<OperatorToken.OperatorToken>()(
  { identifier: "OperatorToken" },
  {
    id: Member.uuid((row) => row.id),
    name: Member.text((row) => row.name, "Owner of the token, recorded in the audit log"),
    scopes: [Schema.Array(OperatorToken.Scope), (row) => row.scopes],
    created_at: Member.instant((row) => row.createdAtMillis),
    revoked_at: Member.instantOrNull((row) => row.revokedAtMillis)
  }
)

const issued = View.make<Issued>()(
  { identifier: "IssuedOperatorToken" },
  {
    ...View.within(view.members, ({ token }: Issued) => token),
    token: Member.text(
      ({ text }) => Redacted.value(text),
      "The operator token itself. Only this response contains it"
    )
  }
)

const example = ({ id, millis, operatorToken }: World): OperatorToken.OperatorToken => ({
  id: id("operator token"),
  companyId: CompanyId.operator,
  name: "on call",
  secretHash: SecretHash.of(operatorToken),
  scopes: ["read", "stop"],
  createdAtMillis: millis(),
  revokedAtMillis: null
})

const issue = Section.operator(
  HttpApiEndpoint.post("issueOperatorToken", path, {
    headers: Idempotency.headers,
    payload: Body,
    success: Envelope.success(201, issued.schema),
    error: Errors.of("malformed", ...Idempotency.sealedErrors, "store_unavailable")
  })
    .annotate(OperatorScopes, ["all"])
    .annotate(OpenApi.Summary, "Issue an operator token")
    .annotate(
      OpenApi.Description,
      "Issues a token for one person or program that operates the service. Scopes: `read`; `stop` (only tightens: pause, freeze, revoke keys, lower limits); `loosen` (resume, unfreeze, raise or remove limits); `mend` (operator equity, suspense, adjustments, lost and waiting withdrawals, deliveries); `companies` (companies, people, keys, plans, fees, domains); `all`, which can also manage tokens. Only this response contains the token."
    )
    .annotate(Example, (world) => {
      const token = example(world)
      const text = Redacted.make(world.operatorToken)
      return {
        body: { name: token.name, scopes: token.scopes },
        message: "Operator token issued",
        data: issued.of({ token, text })
      }
    }),
  Effect.all([OperatorTokens, Seal]),
  ([tokens, sealer]) => {
    const creation = Idempotency.sealedCreation(path, "Operator token issued", issued.of, sealer)
    return Effect.fnUntraced(function* ({ payload, headers, request }) {
      const asked = { ...payload, scopes: new Set(payload.scopes) }
      const once = yield* creation.once(request, headers["idempotency-key"], asked, CompanyId.operator)
      return yield* creation.answer(
        yield* Errors.answered(tokens.issue({ ...payload, ...once })),
        CompanyId.operator
      )
    })
  }
)

const resource = Resource.make({ path, names: ["Operator token", "Operator tokens"], view, example })

const list = Section.operator(
  resource.list("listOperatorTokens", {
    summary: "List operator tokens",
    description: "Returns operator tokens without their secrets, newest first, including revoked ones."
  }),
  OperatorTokens,
  (tokens) => resource.lists(tokens.list)
)

const revoke = Section.operator(
  HttpApiEndpoint.delete("revokeOperatorToken", `${path}/:id`, {
    params: resource.one.params,
    success: Envelope.success(200, Schema.Struct({ id: Scalars.Uuid, revoked: Schema.Literal(true) })),
    error: Errors.of("not_found", "store_unavailable")
  })
    .annotate(OperatorScopes, ["all"])
    .annotate(OpenApi.Summary, "Revoke an operator token")
    .annotate(
      OpenApi.Description,
      "Revokes an operator token immediately. Revoking twice has no further effect. The root token is changed in the configuration."
    )
    .annotate(Example, (world) => {
      const { id } = example(world)
      return { params: { id }, message: "Operator token revoked", data: { id, revoked: true } }
    }),
  OperatorTokens,
  (tokens) =>
    Effect.fnUntraced(function* ({ params }) {
      const { id } = params
      yield* Errors.answered(tokens.revoke(id))
      return Envelope.ok("Operator token revoked", { id, revoked: true as const })
    })
)

export const section = Section.make(
  "operatorTokens",
  { title: "Operators", description: "Tokens of the operators, each with a name and scopes" },
  [issue, list, revoke]
)
