import { Console, Effect, Schema } from "effect"
import { read } from "@satrail/http/commands/Client"
import * as Names from "../client/Names.ts"
import * as Operator from "../client/Operator.ts"
import * as Output from "../client/Output.ts"

const Text = Schema.NullOr(Schema.String)

/** Pending work by kind, as returned by the operator's routes. */
export const Kinds = Schema.Record(
  Schema.String,
  Schema.Struct({
    count: Schema.Int,
    oldest_at: Text,
    amount_sats: Schema.Finite,
    oldest: Schema.Array(
      Schema.Struct({
        id: Schema.String,
        company_id: Schema.String,
        since: Schema.String,
        amount_sats: Schema.Finite,
        attempts: Schema.NullOr(Schema.Int),
        next_look_at: Text,
        waits_for: Schema.String
      })
    )
  })
)

/** Returns the names of the companies that the oldest records belong to, by id. */
export const namesOf = (kinds: typeof Kinds.Type) =>
  Names.namesOf(
    Object.values(kinds).flatMap(({ oldest }) => oldest),
    (route) => Operator.ask("GET", route)
  )

/** Formats the counts, then the oldest records of each kind and what each waits for. */
export const forPeople = (kinds: typeof Kinds.Type, names: ReadonlyMap<string, string>): string => {
  const all = Object.entries(kinds)
  const counts = all.map(([kind, { count, oldest_at, amount_sats }]) => [
    kind,
    String(count),
    Output.sats(amount_sats),
    oldest_at ?? "-"
  ])
  const named = all.flatMap(([kind, { oldest }]) =>
    oldest.map((one) => [
      kind,
      one.id,
      names.get(one.company_id) ?? one.company_id,
      one.since,
      Output.sats(one.amount_sats),
      String(one.attempts ?? "-"),
      one.next_look_at ?? "-",
      one.waits_for
    ])
  )
  const columns = ["waiting", "id", "company", "since", "sats", "attempts", "next look", "waits for"]
  return [
    Output.table([["waiting", "count", "sats", "oldest"], ...counts]),
    ...(named.length === 0 ? [] : [Output.table([columns, ...named])])
  ].join("\n\n")
}

export const backlog = Effect.fnUntraced(function* ({ json }: { readonly json: boolean }) {
  const { message, data } = yield* Operator.ask("GET", "/operator/backlog")
  const kinds = yield* read(Kinds, data)
  yield* Console.log(json ? JSON.stringify(data) : `${message}\n\n${forPeople(kinds, yield* namesOf(kinds))}`)
})
