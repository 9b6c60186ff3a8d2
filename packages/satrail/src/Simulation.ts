import type { ReceivingReads } from "@satrail/core/receiving/ReceivingReads"
import type { Paid } from "@satrail/sandbox/Payer"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import type * as Time from "@satrail/sandbox/Time"
import { Kind } from "@satrail/bitcoin/BitcoinAddress"
import { RecipientType } from "@satrail/core/ledger/Rail"
import { Data, Effect, Option, Schema } from "effect"
import { type Parameter, fields, maybe, named, number, sats, text } from "./Fields.ts"
import { checkNames } from "./KnownOptions.ts"
import type { Surroundings } from "./Methods.ts"
import * as Methods from "./Methods.ts"
import { Invalid } from "@satrail/core/base/Invalid"
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

const millisOf = (span: Span): Effect.Effect<number, Invalid> => {
  const [, count, unit = ""] = /^([\d.]+) (second|minute|hour|day)s?$/.exec(String(span)) ?? []
  const millis = typeof span === "number" ? span : Number(count) * (units.get(unit) ?? NaN)
  return Number.isInteger(millis) && millis >= 0
    ? Effect.succeed(millis)
    : Effect.fail(new Invalid({ path: "span", message: 'must be milliseconds or a string such as "1 hour"' }))
}

export const clock = (time: Time.Time["Service"], { run }: Surroundings): Clock => {
  const now = () => new Date(time.clock.currentTimeMillisUnsafe())
  return { now, advance: async (span) => run(Effect.asVoid(Effect.flatMap(millisOf(span), time.advance))).then(now) }
}

const payment = fields({ address: text, amount: sats })
const part = [named("part", Schema.Literals(["node", "chain", "web", "index"]))] as const

/** The parameters of each method of the simulated network, as in Verbs.ts. */
export const parameters = {
  destination: [
    fields({
      type: RecipientType,
      ...maybe({ amount: sats, behaviour: Sandbox.Behaviour, expirySeconds: number, kind: Kind, minFinalCltvExpiry: number }),
      ...maybe({ payee: text, takes: fields({ max: sats, min: sats }) })
    })
  ],
  release: [fields({ outcome: Schema.Literals(["fail", "settle"]), paymentHash: text })],
  send: [payment],
  sendMany: [named("payments", Schema.Array(payment))],
  mine: [named("blocks", number)],
  reorg: [named("depth", number)],
  setFeeRate: [named("feeRate", number)],
  doubleSpend: [named("txId", text)],
  loseNextNotice: [],
  pause: part,
  resume: part,
  payments: [],
  outputsTo: [named("scriptPubKey", text)],
  localBalance: [],
  survey: []
} as const
const taken: Readonly<Record<string, ReadonlyArray<Parameter>>> = parameters

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
  const derived = Object.entries(others).map(([name, member]) => [name, Methods.simulated(name, member, taken[name] ?? [], surroundings)])
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
