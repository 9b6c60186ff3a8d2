import * as Msat from "@satrail/bitcoin/Msat"
import * as Network from "@satrail/bitcoin/Network"
import { isObject, mapped, wire, withJson } from "@satrail/client/Plain"
import * as Amounts from "@satrail/core/base/Amount"
import * as Decimal from "@satrail/core/base/Decimal"
import * as Confirmations from "@satrail/core/receiving/Confirmations"
import type { ReceivingReads } from "@satrail/core/receiving/ReceivingReads"
import * as Destination from "@satrail/core/sending/Destination"
import type { Paid } from "@satrail/sandbox/Payer"
import type * as Sandbox from "@satrail/sandbox/Sandbox"
import type * as Time from "@satrail/sandbox/Time"
import { Data, Effect, Option, Result } from "effect"
import { checkNames } from "./KnownOptions.ts"
import type { Clock, Outside, PayOptions, Span } from "./Pay.ts"
import { invalid } from "./Refusals.ts"

/** Thrown if a payment reached the node but the service did not credit it in time. */
export class NotCredited extends Data.TaggedError("NotCredited")<{ readonly paid: string }> {
  override readonly message = `the payment ${this.paid} arrived but was not credited within 10 seconds`
}

type Run = <A, E>(effect: Effect.Effect<A, E>) => Promise<A>

const units: ReadonlyMap<string, number> = new Map([
  ["second", 1000],
  ["minute", 60_000],
  ["hour", 3_600_000],
  ["day", 86_400_000]
])

const millisOf = (span: Span): number => {
  const [, count, unit = ""] = /^([\d.]+) (second|minute|hour|day)s?$/.exec(String(span)) ?? []
  const millis = typeof span === "number" ? span : Number(count) * (units.get(unit) ?? NaN)
  if (Number.isInteger(millis) && millis >= 0) return millis
  throw invalid("span", 'must be milliseconds or a string such as "1 hour"')
}

export const clock = (time: Time.Time["Service"], run: Run): Clock => {
  const now = () => new Date(time.clock.currentTimeMillisUnsafe())
  return {
    now,
    advance: async (span) => run(Effect.asVoid(time.advance(millisOf(span)))).then(now)
  }
}

type Controls = Sandbox.Sandbox["Service"]
type Reads = ReceivingReads["Service"]

/** Reads an amount of bitcoin. */
const msatOf = (given: unknown): Msat.Msat => {
  if (isObject(given) && typeof given["msat"] === "bigint") return Msat.make(given["msat"])
  const { amount, currency } = wire({ amount: given })
  const read = Result.flatMap(
    Result.all([Amounts.parseCurrency(String(currency)), Decimal.parse(String(amount))]),
    ([currency, decimal]): Result.Result<Msat.Msat, { readonly message: string }> =>
      Amounts.isFiat(currency)
        ? Result.fail({ message: "must be in sats or btc" })
        : Amounts.toMsat(decimal, currency)
  )
  if (Result.isSuccess(read)) return read.success
  throw invalid("amount", read.failure.message.replace(/^amount /, ""))
}

/** The amounts of the sandbox's requests. */
const amounts: ReadonlySet<string> = new Set(["amount", "min", "max"])

const asked = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(asked)
  if (!isObject(value)) return value
  return mapped(value, ([name, one]) => [
    [name, amounts.has(name) && one !== undefined ? msatOf(one) : asked(one)]
  ])
}

const shown = (value: unknown): unknown => {
  if (typeof value === "bigint") return withJson({ msat: value, sats: Msat.toSats(Msat.make(value)) })
  if (Array.isArray(value)) return value.map(shown)
  return isObject(value) ? mapped(value, ([name, one]) => [[name, shown(one)]]) : value
}

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
  amount: Msat.Msat
) {
  const txId = yield* send({ address, amount })
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

const isMoney = (value: unknown): boolean => isObject(value) && "msat" in value

export const outside = (sandbox: Controls, reads: Reads, run: Run): Outside => {
  const { pay, state: _, ...others } = sandbox
  const derived = Object.entries(others).map(([name, member]: readonly [string, unknown]) => [
    name,
    async (...given: ReadonlyArray<unknown>) => {
      const called: unknown =
        typeof member === "function" ? Reflect.apply(member, undefined, given.map(asked)) : member
      // oxlint-disable-next-line typescript/consistent-type-assertions -- every member of the sandbox is an effect or returns one
      return shown(await run(called as Effect.Effect<unknown, unknown>))
    }
  ])
  return {
    // oxlint-disable-next-line typescript/consistent-type-assertions -- derived from the service like the type
    ...(Object.fromEntries(derived) as Omit<Outside, "pay">),
    // oxlint-disable-next-line typescript/consistent-type-assertions -- the second argument decides, as in the type
    pay: (async (to: unknown, options: unknown = {}) => {
      const isAmount = typeof options !== "object" || isMoney(options)
      const field = isAmount ? "address" : "paymentRequest"
      const text: unknown = typeof to === "string" ? to : Object(to)[field]
      if (typeof text !== "string") throw invalid(field, "must be text")
      if (isAmount) return run(paidOnChain(sandbox, reads, text, msatOf(options)))
      checkNames<PayOptions>("outside.pay", Object(options), { amount: true, hold: true })
      const { amount, hold }: PayOptions = Object(options)
      const paying = pay({
        paymentRequest: text,
        amount: amount === undefined ? undefined : msatOf(amount),
        hold
      })
      return run(Effect.tap(paying, (paid) => credited(reads, paid)))
    }) as Outside["pay"]
  }
}
