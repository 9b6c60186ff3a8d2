import { Console, Effect, Schema } from "effect"
import { read } from "@satrail/http/commands/Client"
import * as Operator from "../client/Operator.ts"
import * as Output from "../client/Output.ts"

const Text = Schema.NullOr(Schema.String)

/** The progress of a withdrawal or deposit, which the operator's routes return with the record. */
const Progress = Schema.Struct({
  waits_for: Text,
  attempts: Schema.NullOr(Schema.Int),
  next_look_at: Text,
  answer: Text,
  timeline: Schema.Array(Schema.Struct({ at: Schema.String, what: Schema.String, detail: Text }))
})

const units = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1000, "s"]
] as const

/** Formats a duration in the largest unit that it fills at least once. */
const later = (millis: number): string => {
  const [size, unit] = units.find(([size]) => millis >= size) ?? [1, "ms"]
  return `+${Math.floor(millis / size)} ${unit}`
}

const time = (instant: string): string => `${instant.slice(0, 10)} ${instant.slice(11, 19)}`

/** Formats one step per line with the time since the previous step, then what the record waits for. */
const timelineOf = ({
  answer,
  attempts,
  next_look_at,
  timeline,
  waits_for
}: typeof Progress.Type): string => {
  const steps = timeline.map(({ at, what, detail }, n) => {
    const before = timeline[n - 1]
    return [
      time(at),
      before === undefined ? "" : later(Date.parse(at) - Date.parse(before.at)),
      what,
      detail ?? ""
    ]
  })
  return [
    "Timeline (UTC)",
    Output.table(steps),
    ...(waits_for === null ? [] : [`  waits for: ${waits_for}`]),
    ...(attempts === null ? [] : [`  attempts: ${attempts}`]),
    ...(next_look_at === null ? [] : [`  next check: ${time(next_look_at)}`]),
    ...(answer === null ? [] : [`  node or chain: ${answer}`])
  ].join("\n")
}

export const show = Effect.fnUntraced(function* ({
  json,
  route
}: {
  readonly json: boolean
  readonly route: string
}) {
  const { message, data } = yield* Operator.ask("GET", route)
  if (json) return yield* Console.log(JSON.stringify(data))
  const progress = yield* read(Progress, data)
  const record = Object.entries(Object(data)).filter(([name]) => !Object.hasOwn(progress, name))
  const shown = yield* Operator.named(Object.fromEntries(record))
  yield* Console.log(`${Output.forPeople(message, shown)}\n\n${timelineOf(progress)}`)
})
