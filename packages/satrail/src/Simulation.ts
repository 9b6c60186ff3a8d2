import type { ReceivingReads } from "@satrail/core/receiving/ReceivingReads"
import type { Paid } from "@satrail/sandbox/Payer"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import type * as Time from "@satrail/sandbox/Time"
import * as BitcoinAddress from "@satrail/bitcoin/BitcoinAddress"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Destination from "@satrail/core/sending/Destination"
import * as Network from "@satrail/bitcoin/Network"
import { RecipientType } from "@satrail/core/ledger/Rail"
import * as Confirmations from "@satrail/core/receiving/Confirmations"
import { Data, Effect, Option, Result, Schema } from "effect"
import { type Parameter, fields, flag, maybe, named, number, sats, text } from "./Fields.ts"
import { checking } from "./KnownOptions.ts"
import type { Surroundings } from "./Methods.ts"
import * as Methods from "./Methods.ts"
import { Invalid } from "@satrail/core/base/Invalid"
import * as Money from "./Money.ts"
import type { Clock, Outside, PayOptions, Span } from "./Pay.ts"

/** Thrown if a payment reached the node but the service did not credit it in time. */
export class NotCredited extends Data.TaggedError("NotCredited")<{ readonly paid: string }> {
  override readonly message = `the payment ${this.paid} arrived but was not credited within 10 seconds`
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
  return {
    now,
    advance: async (span) => run(Effect.asVoid(Effect.flatMap(millisOf(span), time.advance))).then(now)
  }
}

const payment = fields({ address: text, amount: sats })
const part = [named("part", Schema.Literals(["node", "chain", "web", "index"]))] as const

/** The parameters of each method of the simulated network, as in Verbs.ts. */
export const parameters = {
  destination: [
    fields({
      type: RecipientType,
      ...maybe({
        amount: sats,
        behaviour: Sandbox.Behaviour,
        expirySeconds: number,
        kind: BitcoinAddress.Kind,
        minFinalCltvExpiry: number
      }),
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

type Controls = Sandbox.Sandbox["Service"]
type Reads = ReceivingReads["Service"]

const untilCredited = <A, E>(read: Effect.Effect<A, E>, isDone: (found: A) => boolean, paid: string) =>
  read.pipe(
    Effect.delay("20 millis"),
    Effect.repeat({ until: isDone }),
    Effect.timeoutOrElse({ duration: "10 seconds", orElse: () => Effect.fail(new NotCredited({ paid })) })
  )

/** Waits until the service has recorded the payment, if the service issued the invoice. */
const credited = Effect.fnUntraced(function* ({ invoiceByHash }: Reads, { paymentHash, preimage }: Paid) {
  const isDone = (found: Effect.Success<ReturnType<typeof invoiceByHash>>) =>
    Option.isNone(found) ||
    found.value.status === "settled" ||
    (preimage === null && found.value.status !== "pending")
  yield* untilCredited(invoiceByHash(paymentHash), isDone, paymentHash)
})

/** The number of confirmations that the service requires of the largest deposit. */
const confirmations = Confirmations.neededFor(Confirmations.defaults, Msat.max)

/** Pays an address, confirms the payment, and waits until the service has credited it, if it issued the address. */
const paidOnChain = Effect.fnUntraced(function* (
  { send, mine }: Controls,
  reads: Reads,
  address: string,
  given: unknown
) {
  const txId = yield* send({ address, amount: yield* Effect.fromResult(Money.msat(given)) })
  yield* mine(confirmations)
  const scripts = Network.all.flatMap((network) => {
    const decoded = Destination.addressIn(address, network)
    return Result.isSuccess(decoded) ? [decoded.success.scriptPubKey] : []
  })
  if ((yield* reads.onChainAddresses(scripts)).length > 0) {
    // The other output is the payer's change.
    const outputs = Effect.all([reads.depositByOutpoint(txId, 0), reads.depositByOutpoint(txId, 1)])
    yield* untilCredited(
      outputs,
      (found) => found.some((one) => Option.isSome(one) && one.value.status === "settled"),
      txId
    )
  }
  return { txId }
})

const check = checking("outside.pay", [
  fields({ amount: Schema.optional(sats), hold: Schema.optional(flag) })
])

export const outside = <M>(sandbox: Controls, reads: Reads, surroundings: Surroundings): Outside<M> => {
  const { pay, state: _, ...others } = sandbox
  const derived = Object.entries(others).map(([name, member]) => [
    name,
    Methods.simulated(name, member, taken[name] ?? [], surroundings)
  ])
  return {
    // oxlint-disable-next-line typescript/consistent-type-assertions -- derived from the service like the type
    ...(Object.fromEntries(derived) as Omit<Outside<M>, "pay">),
    // oxlint-disable-next-line typescript/consistent-type-assertions -- the second argument decides, as in the type
    pay: (async (to: unknown, options: unknown = {}) => {
      const isAmount = typeof options !== "object" || Money.isMoney(options)
      const text: unknown = typeof to === "string" ? to : Object(to)[isAmount ? "address" : "paymentRequest"]
      const ask = Effect.gen(function* () {
        if (typeof text !== "string")
          return yield* new Invalid({
            path: isAmount ? "address" : "paymentRequest",
            message: "must be text"
          })
        if (isAmount) return yield* paidOnChain(sandbox, reads, text, options)
        yield* check([options])
        const { amount, hold }: PayOptions = Object(options)
        const given = amount === undefined ? undefined : yield* Effect.fromResult(Money.msat(amount))
        const paid = yield* pay({ paymentRequest: text, amount: given, hold })
        yield* credited(reads, paid)
        return paid
      })
      return surroundings.run(ask)
    }) as Outside<M>["pay"]
  }
}
