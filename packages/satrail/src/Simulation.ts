import type { ReceivingReads } from "@satrail/core/receiving/ReceivingReads"
import type { Paid } from "@satrail/sandbox/Payer"
import type * as Sandbox from "@satrail/sandbox/Sandbox"
import type * as Time from "@satrail/sandbox/Time"
import { Data, Effect, Option } from "effect"
import { checkNames } from "./KnownOptions.ts"
import type { Surroundings } from "./Methods.ts"
import * as Methods from "./Methods.ts"
import * as Money from "./Money.ts"
import type { Clock, Outside, PayOptions, Span } from "./Pay.ts"

/** Thrown if a payment reached the node but the service did not credit it in time. */
export class NotCredited extends Data.TaggedError("NotCredited")<{ readonly paymentHash: string }> {
  override readonly message = `the payment ${this.paymentHash} arrived but was not credited within 10 seconds`
}

const units: ReadonlyMap<string, number> = new Map([
  ["second", 1000],
  ["minute", 60_000],
  ["hour", 3_600_000],
  ["day", 86_400_000]
])

const millisOf = (span: Span): number => {
  if (typeof span === "number") return span
  const [, count, unit = ""] = /^([\d.]+) (second|minute|hour|day)s?$/.exec(span) ?? []
  const millis = Number(count) * (units.get(unit) ?? NaN)
  if (!Number.isInteger(millis))
    throw new TypeError(`duration must be milliseconds or a string such as "1 hour" (got ${JSON.stringify(span)})`)
  return millis
}

export const clock = (time: Time.Time["Service"], { run }: Surroundings): Clock => {
  const now = () => new Date(time.clock.currentTimeMillisUnsafe())
  return { now, advance: async (span) => run(Effect.as(time.advance(millisOf(span)), undefined)).then(now) }
}

type Reads = ReceivingReads["Service"]

/** Waits until the service has recorded the payment, if the service issued the invoice. */
const credited = Effect.fnUntraced(function* ({ invoiceByHash }: Reads, { paymentHash, preimage }: Paid) {
  const isDone = (found: Effect.Success<ReturnType<typeof invoiceByHash>>) =>
    Option.isNone(found) || found.value.status === "settled" || (preimage === null && found.value.status !== "pending")
  yield* invoiceByHash(paymentHash).pipe(
    Effect.delay("20 millis"),
    Effect.repeat({ until: isDone }),
    Effect.timeoutOrElse({ duration: "10 seconds", orElse: () => Effect.fail(new NotCredited({ paymentHash })) })
  )
})

export const outside = <M>(sandbox: Sandbox.Sandbox["Service"], reads: Reads, surroundings: Surroundings): Outside<M> => {
  const { pay, state: _, ...others } = sandbox
  const derived = Object.entries(others).map(([name, member]) => [name, Methods.simulated(name, member, surroundings)])
  return {
    // oxlint-disable-next-line typescript/consistent-type-assertions -- derived from the service like the type
    ...(Object.fromEntries(derived) as Omit<Outside<M>, "pay">),
    pay: async (invoice, options = {}) => {
      checkNames<PayOptions>("outside.pay", options, { amount: true, hold: true })
      const { amount, hold } = options
      return surroundings.run(
        Effect.gen(function* () {
          const paymentRequest = typeof invoice === "string" ? invoice : invoice.paymentRequest
          const given = amount === undefined ? undefined : yield* Effect.fromResult(Money.msat(amount))
          const paid = yield* pay({ paymentRequest, amount: given, hold })
          yield* credited(reads, paid)
          return paid
        })
      )
    }
  }
}
