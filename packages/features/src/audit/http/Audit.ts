import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Audit from "@satrail/core/ledger/Audit"
import * as Pages from "@satrail/core/ledger/Page"
import { AuditLog, idOf, type Query, type Row } from "../core/AuditLog.ts"
import { Effect, Option, Schema, Stream } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { companyId, Scopes } from "@satrail/http/api/Authentication"
import * as Errors from "@satrail/http/wire/Errors"
import { Example, type World } from "@satrail/http/wire/Examples"
import * as Page from "@satrail/http/wire/Page"
import * as Scalars from "@satrail/http/wire/Scalars"
import * as Section from "@satrail/http/api/Section"
import * as Sheet from "@satrail/http/wire/Sheet"
import * as Member from "@satrail/http/wire/Member"
import * as View from "@satrail/http/wire/View"

const Actor = Schema.Literals([...Audit.Actor.fields.actor.literals, "unknown"]).annotate({
  description:
    "`unknown` if the entry cannot be read because something other than the service wrote or changed it"
})

const changes = Schema.Array(Audit.Value).annotate({
  description:
    "Changed values of keys, tokens, companies, webhook endpoints and apps. A secret is shown as the SHA-256 of its stored form"
})

/** The fields whose values differ. The log also has fields that a change cleared although they were empty. */
const changed = ({ changes }: Row) => (changes ?? []).filter(({ before, after }) => before !== after)

/** An entry as the company sees it: without the operator's IP address. */
export const view = View.make<Row>()(
  { identifier: "AuditEntry" },
  {
    id: Member.uuid((row) => row.id),
    company_id: Member.uuid((row) => row.companyId),
    actor: [Actor, (row) => row.actor],
    actor_id: Member.text(
      (row) => row.actor_id,
      "Id of the key, token or person; `root` for the configured token"
    ),
    actor_name: Member.text((row) => row.actor_name),
    verb: [
      Schema.String.annotate({ description: "Operation, by its `operationId`", examples: ["send.confirm"] }),
      (row) => row.verb
    ],
    subject: Member.textOrNull(
      (row) => row.subject,
      "Record that the operation changed; null if the request was rejected"
    ),
    outcome: Member.text(
      (row) => row.outcome,
      "`done`, or the error code. If `unreadable`, run `satrail verify`"
    ),
    count: [
      Schema.Int.annotate({
        description:
          "Number of occurrences. Identical rejected requests within a minute are counted in one entry, written a minute after the first"
      }),
      (row) => row.count
    ],
    ip_address: Member.text(
      (row) => (row.actor === "operator" ? "" : row.address),
      "IP address of the caller (first half for IPv6). Empty if unknown or the operator's"
    ),
    request_id: Member.text((row) => row.request_id),
    changes: [
      changes,
      // A company sees the reason for its freeze in the console only, because programs can't act on it.
      (row) => changed(row).filter(({ field }) => field !== "frozen")
    ],
    seq: [
      Schema.NullOr(Schema.Int).annotate({
        description: "Position in the company's hash chain; null until the entry is chained"
      }),
      (row) => row.link?.seq ?? null
    ],
    hash: Member.textOrNull(
      (row) => row.link?.hash ?? null,
      "Hash of the company's audit log up to this entry"
    ),
    created_at: Member.instant((row) => row.createdAtMillis)
  }
)

const operators = View.make<Row>()(
  { identifier: "OperatorAuditEntry" },
  {
    ...view.members,
    ip_address: Member.text(
      (row) => row.address,
      "IP address of the caller (first half for IPv6). Empty if unknown"
    ),
    changes: [changes, changed],
    head: Member.textOrNull(
      (row) => (row.link === null ? null : `${row.link.entryId}:${row.link.whole}`),
      "Head of all chains at this entry, in the form that `satrail verify --audit-head` accepts"
    )
  }
)

const filters = {
  actor_id: Schema.optionalKey(
    Schema.String.annotate({ description: "Selects entries by this key, token or person" })
  ),
  verb: Schema.optionalKey(Schema.String.annotate({ description: "Selects entries of this operation" })),
  subject: Schema.optionalKey(Schema.String.annotate({ description: "Selects entries about this record" })),
  outcome: Schema.optionalKey(
    Schema.String.annotate({ description: "Selects entries with this outcome: `done` or an error code" })
  ),
  from: Schema.optionalKey(Scalars.GivenBound.annotate({ description: "Start time, inclusive" })),
  until: Schema.optionalKey(Scalars.GivenBound.annotate({ description: "End time, exclusive" }))
}

interface Asked {
  readonly limit?: number
  readonly cursor?: { readonly createdAtMillis: number; readonly id: string }
  readonly actor_id?: string
  readonly verb?: string
  readonly subject?: string
  readonly outcome?: string
  readonly from?: number
  readonly until?: number
}

const queryOf = ({
  actor_id: actorId,
  verb,
  subject,
  outcome,
  from: fromMillis,
  until: untilMillis,
  ...place
}: Asked): Query => ({
  ...Page.asked(place),
  actorId,
  verb,
  subject,
  outcome,
  fromMillis,
  untilMillis
})

/** Query parameters for the link to the next page. */
const parametersOf = (
  { cursor: _, from, until, limit, ...texts }: Asked,
  { limit: shown }: Query
): Readonly<Record<string, string>> => ({
  ...texts,
  ...(from !== undefined && { from: Scalars.instant(from) }),
  ...(until !== undefined && { until: Scalars.instant(until) }),
  limit: String(limit ?? shown)
})

/** Parameters of a file export, which contains all entries, newest first. */
const file = {
  format: Schema.optionalKey(
    Sheet.Format.annotate({
      description:
        "Streams all entries as one file instead of a page: `csv` (RFC 4180) or `jsonl`. Cannot be combined with `limit` and `cursor`"
    })
  )
}

const columnsOf = (
  members: Readonly<Record<string, View.Member<Row, Schema.Constraint>>>
): ReadonlyArray<Sheet.Column<Row>> =>
  Object.entries(members).map(([name, [, of]]) => ({
    name,
    of: (row) => {
      const value: unknown = of(row)
      return typeof value === "string" || typeof value === "number"
        ? value
        : Array.isArray(value)
          ? { json: value }
          : null
    }
  }))

const columns = columnsOf(view.members)
const operatorColumns = columnsOf(operators.members)

const all = (log: AuditLog["Service"], of: CompanyId.CompanyId | null, query: Query) =>
  Stream.paginate(
    null,
    Effect.fnUntraced(function* (before: string | null) {
      const { rows, next } = yield* log.list(of, { ...query, limit: Pages.limit.maximum, before })
      return [rows, Option.map(Option.fromUndefinedOr(next), ({ id }): string | null => id)] as const
    })
  )

const whole = ({ limit, cursor }: Asked) =>
  limit === undefined && cursor === undefined
    ? Effect.void
    : Effect.fail(
        Errors.malformedRequest([
          {
            path: "format",
            message: "must be json when limit or cursor is set, because a file contains every entry"
          }
        ])
      )

const example = ({ id, millis, companyId, apiKey }: World): Row => ({
  id: idOf(3_461_120n),
  companyId,
  actor: "key",
  actor_id: apiKey.id,
  actor_name: "till 3",
  verb: "send.confirm",
  subject: id("withdrawal"),
  outcome: "done",
  count: 1,
  address: "203.0.113.7",
  request_id: "5f0c7d0e-3b1f-4a53-9d0e-0a2b6f1f7c11",
  createdAtMillis: millis(),
  link: { entryId: 3_461_120n, companyId, seq: 1, hash: Audit.origin, whole: Audit.origin }
})

const about =
  "Returns who did what, newest first: changes to keys, companies, settings and webhook endpoints, withdrawals, vouchers, every action of the operator, and rejected requests. Entries are linked in a hash chain, so `satrail verify` detects changed or missing ones. The next page is in the `Link` header. With filters, a page can be short although more entries follow."
const errors = Errors.of("malformed", "overloaded", "store_unavailable")

const path = "/v1/audit"
const page = Page.of(view, "Audit log", path)

const list = Section.company(
  HttpApiEndpoint.get("listAudit", path, {
    query: { ...Page.place(), ...filters, ...file },
    success: [page.success, ...Sheet.success],
    error: errors
  })
    .annotate(Scopes, ["read"])
    .annotate(OpenApi.Summary, "List the audit log")
    .annotate(OpenApi.Description, `${about} Requires the \`read\` scope.`)
    .annotate(Example, (world) => ({ message: "Audit log", data: [view.of(example(world))] })),
  Effect.all([AuditLog, Sheet.Places]),
  ([log, places]) =>
    Effect.fnUntraced(function* ({ query: { format, ...query } }) {
      const [id, asked] = [yield* companyId, queryOf(query)]
      if (format !== undefined) {
        yield* whole(query)
        yield* places(id)
        return Sheet.answer(all(log, id, asked), { columns, format, name: `audit-${id}` })
      }
      const { rows, next } = yield* Errors.answered(log.list(id, asked))
      return page.answer(rows, parametersOf(query, asked), next)
    })
)

const operatorPath = "/operator/audit"
const operatorPage = Page.of(operators, "Audit log", operatorPath)

const operatorList = Section.operator(
  HttpApiEndpoint.get("listOperatorAudit", operatorPath, {
    query: {
      ...Page.place(),
      ...filters,
      ...file,
      company_id: Schema.optionalKey(
        Scalars.GivenUuid.annotate({ description: "Selects entries of one company" })
      )
    },
    success: [operatorPage.success, ...Sheet.success],
    error: errors
  })
    .annotate(OpenApi.Summary, "List the audit log of all companies")
    .annotate(OpenApi.Description, about)
    .annotate(Example, (world) => ({ message: "Audit log", data: [operators.of(example(world))] })),
  Effect.all([AuditLog, Sheet.Places]),
  ([log, places]) =>
    Effect.fnUntraced(function* ({ query: { company_id, format, ...query } }) {
      const asked = queryOf(query)
      const of = company_id === undefined ? null : CompanyId.make(company_id)
      if (format !== undefined) {
        yield* whole(query)
        yield* places("operator")
        return Sheet.answer(all(log, of, asked), {
          columns: operatorColumns,
          format,
          name: of === null ? "audit" : `audit-${of}`
        })
      }
      const { rows, next } = yield* Errors.answered(log.list(of, asked))
      return operatorPage.answer(
        rows,
        { ...parametersOf(query, asked), ...(of !== null && { company_id: of }) },
        next
      )
    })
)

export const section = Section.make("audit", { title: "Audit", description: "Record of who did what" }, [
  list
])

export const operatorSection = Section.make(
  "operatorAudit",
  { title: "Audit of all companies", description: "Record of who did what, for all companies" },
  [operatorList]
)
