import { Console, Effect, Schema } from "effect"
import { read } from "@satrail/http/commands/Client"
import * as Operator from "../client/Operator.ts"
import * as Output from "../client/Output.ts"

const Text = Schema.NullOr(Schema.String)

/** The lists in the status, as returned by the operator's route. The other members are printed as they are. */
const Lists = Schema.Struct({
  checks: Schema.Array(Schema.Struct({ name: Schema.String, reason: Text })),
  warnings: Schema.Array(Schema.Struct({ code: Schema.String, message: Schema.String })),
  roles: Schema.Array(Schema.Struct({ role: Schema.String, held_until: Text, claims: Schema.Int }))
})
const Status = Schema.StructWithRest(Lists, [Schema.Record(Schema.String, Schema.Unknown)])

/** Formats the backends in use, then the checks, the warnings and the leader roles. */
export const forPeople = ({ checks, warnings, roles, ...rest }: typeof Status.Type): string =>
  [
    Output.table(
      Object.entries(rest).map(([name, value]) => [name, value === null ? "-" : Output.cell(value)])
    ),
    Output.table([["check", "is"], ...checks.map(({ name, reason }) => [name, reason ?? "ready"])]),
    ...(warnings.length === 0
      ? []
      : [Output.table([["warning", "is"], ...warnings.map(({ code, message }) => [code, message])])]),
    Output.table([
      ["role", "held until", "claims"],
      ...roles.map(({ role, held_until, claims }) => [role, held_until ?? "no leader", String(claims)])
    ])
  ].join("\n\n")

export const status = Effect.fnUntraced(function* ({ json }: { readonly json: boolean }) {
  const { message, data } = yield* Operator.ask("GET", "/operator/status")
  const found = yield* read(Status, data)
  yield* Console.log(json ? JSON.stringify(data) : `${message}\n\n${forPeople(found)}`)
})
