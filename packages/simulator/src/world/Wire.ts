import { AccountReads } from "@satrail/core/accounts/AccountReads"
import { Dns, DnsUnavailable } from "@satrail/core/base/Dns"
import { attemptMillis, Poster, type Posted } from "@satrail/core/nodes/Poster"
import { AuditStore } from "@satrail/core/ledger/Audit"
import { EventStore } from "@satrail/core/ledger/EventStore"
import { Journal, StoreUnavailable } from "@satrail/core/ledger/Journal"
import { LedgerReads } from "@satrail/core/ledger/LedgerReads"
import { NounReads } from "@satrail/core/ledger/NounReads"
import { Tasks } from "@satrail/core/ledger/Tasks"
import { ChainSource, ChainUnavailable } from "@satrail/core/nodes/ChainSource"
import { ChainWallet } from "@satrail/core/nodes/ChainWallet"
import { ExchangeRates, RateUnavailable } from "@satrail/core/nodes/ExchangeRates"
import { LightningReceiver, NodeUnavailable } from "@satrail/core/nodes/LightningReceiver"
import { LightningSender } from "@satrail/core/nodes/LightningSender"
import { OfferIssuer } from "@satrail/core/nodes/OfferIssuer"
import { OfferSender } from "@satrail/core/nodes/OfferSender"
import { RecipientUnreachable, Resolver } from "@satrail/core/nodes/Resolver"
import { Signer, SignerUnavailable } from "@satrail/core/nodes/Signer"
import { ReceivingReads } from "@satrail/core/receiving/ReceivingReads"
import { ReportReads } from "@satrail/core/reports/ReportReads"
import { all as features } from "@satrail/service/features/core"
import * as FeatureReads from "@satrail/core/service/FeatureReads"
import { SendingReads } from "@satrail/core/sending/SendingReads"
import type { Ports as Demanded } from "@satrail/service/core/Satrail"
import { Context, Effect, type Exit, Stream } from "effect"
import type { Fate, Port } from "./Fault.ts"
import type { Host } from "./Turns.ts"

/** The ports a process receives: all that the service requires, and a node that pays and issues offers. */
export type Ports = Demanded | OfferSender | OfferIssuer

type Call = Effect.Effect<unknown, unknown>

/** The connection between one process and everything else. */
export interface Wire {
  readonly host: Host
  /** Makes a call outside the process, so that the call continues whatever happens to the process. */
  readonly perform: (
    port: Port,
    call: Call,
    asking: number | null,
    done: (exit: Exit.Exit<unknown, unknown>) => void
  ) => void
  readonly after: (millis: number, wake: () => void) => void
  /** Returns the fault for this call, if any. `heard` receives the result of the call. */
  readonly fateOf: (
    port: Port,
    name: string
  ) => { readonly fate: Fate | undefined; readonly heard: (exit: Exit.Exit<unknown, unknown>) => void }
  /** Returns whether a port is unreachable. */
  readonly isAway: (port: Port) => boolean
  readonly die: (backAfterMillis: number) => void
  /** Records a call and its result. */
  readonly note: (name: string, exit: Exit.Exit<unknown, unknown> | string) => void
  /** Returns how many times a node's current notification is delivered. */
  readonly tells: () => number
}

/**
 * How long a payment call can still reach the node after the call was made or its process died.
 */
export const graceMillis = 20_000

/** The customer request for which the current work is done. */
export const Asking = Context.Reference<number | null>("@satrail/simulator/world/Wire/Asking", {
  defaultValue: () => null
})

const unanswered: Effect.Effect<Posted> = Effect.succeed({ _tag: "Unanswered", reason: "no answer" })

/** The result that a caller receives if there is no response. */
const silence: { readonly [port in Port]: (call: string) => Call } = {
  store: (operation) => Effect.fail(new StoreUnavailable({ operation, cause: "no answer" })),
  node: (operation) => Effect.fail(new NodeUnavailable({ operation, cause: "no answer" })),
  chain: (operation) => Effect.fail(new ChainUnavailable({ operation, cause: "no answer" })),
  signer: () => Effect.fail(new SignerUnavailable({ cause: "no answer" })),
  web: (operation) => {
    if (operation === "txt" || operation === "validated")
      return Effect.fail(new DnsUnavailable({ name: "a name" }))
    if (operation === "post") return unanswered
    if (operation === "rate") return Effect.fail(new RateUnavailable({ currency: "usd" }))
    return Effect.fail(new RecipientUnreachable({ reason: "no answer" }))
  }
}

/** Calls that can return "unknown". */
const knowsUnknown = new Set(["pay", "lookupPayment", "payOffer", "lookupOffer", "broadcast"])
const silent = (port: Port, name: string): Call =>
  knowsUnknown.has(name) ? Effect.succeed({ _tag: "unknown" }) : silence[port](name)

/** For each call, the responses that a node may later contradict: earlier states and "unknown". */
const contradictions: { readonly [call: string]: ReadonlyArray<string> } = {
  pay: ["unknown", "pending"],
  lookupPayment: ["unknown", "pending", "notFound"],
  payOffer: ["unknown", "pending"],
  lookupOffer: ["unknown", "pending", "notFound"],
  lookupInvoice: ["unknown"],
  broadcast: ["unknown", "rejected"]
}
const contradicted = (port: Port, name: string, said: number): Call => {
  const words = contradictions[name]
  const word = words?.[said % words.length]
  return word === undefined
    ? silent(port, name)
    : Effect.succeed({ _tag: word, ...(word === "rejected" && { reason: "as a node may say" }) })
}

/**
 * Calls that pay. If the connection is refused, the payment was certainly not sent. Otherwise the call arrives
 * within its grace period or never.
 */
const pays = new Set(["pay", "payOffer"])

/** Makes one call over the simulated connection. The process receives the response in its turn. */
const carried = (wire: Wire, port: Port, name: string, call: Call): Call =>
  Effect.withFiber((fiber) =>
    Effect.callback<unknown, unknown>((resume) => {
      const { host } = wire
      if (host.isDead()) return
      const asking = Context.get(fiber.context, Asking)
      const answer = (said: Call) => host.give(() => resume(said))
      if (wire.isAway(port)) {
        wire.note(name, "away")
        // The connection is refused, so a payment was certainly not sent.
        return answer(pays.has(name) ? Effect.succeed({ _tag: "notSent" }) : silent(port, name))
      }
      const { fate, heard } = wire.fateOf(port, name)
      const perform = (done: (exit: Exit.Exit<unknown, unknown>) => void) =>
        wire.perform(port, call, asking, (exit) => {
          heard(exit)
          wire.note(name, exit)
          done(exit)
        })
      if (fate === undefined) return perform(answer)
      // A payment reaches the node within the adapter's grace period, or never.
      const arrives = (millis: number) => (pays.has(name) ? Math.min(millis, graceMillis) : millis)
      wire.note(name, `${fate._tag} ${"when" in fate ? fate.when : ""}`)
      const isBefore = "when" in fate && fate.when === "before"
      switch (fate._tag) {
        case "dies": {
          const die = () => wire.die(fate.backAfterMillis)
          return isBefore ? die() : perform(die)
        }
        case "orphaned":
          wire.die(fate.backAfterMillis)
          return wire.after(arrives(fate.millis), () => perform(() => {}))
        case "unanswered":
          return isBefore ? answer(silent(port, name)) : perform(() => answer(silent(port, name)))
        case "stray":
          wire.after(arrives(fate.millis), () => perform(() => {}))
          return answer(silent(port, name))
        case "late":
          return isBefore
            ? wire.after(arrives(fate.millis), () => perform(answer))
            : perform((exit) => wire.after(fate.millis, () => answer(exit)))
        case "frozen": {
          const freeze = () => {
            host.freeze()
            wire.after(fate.millis, host.wake)
          }
          if (!isBefore) {
            return perform((exit) => {
              freeze()
              answer(exit)
            })
          }
          freeze()
          // An adapter that wakes up after its grace period sends nothing.
          const isTooLate = arrives(fate.millis) < fate.millis
          return host.give(() => (isTooLate ? answer(silent(port, name)) : perform(answer)))
        }
        case "repeated":
          return perform(() => perform(answer))
        case "contradicted":
          return perform(() => answer(contradicted(port, name, fate.said)))
      }
    })
  )

/** Commits are named after the Change they commit. */
const nameOf = (member: string, [first]: ReadonlyArray<unknown>): string =>
  member === "commit" && typeof first === "object" && first !== null && "_tag" in first
    ? String(first._tag)
    : member

/** Sends each call to a service over the simulated connection. */
const wired =
  (wire: Wire, port: Port) =>
  <S extends object>(service: S): S => {
    const told = (stream: Stream.Stream<unknown, unknown>) =>
      stream.pipe(
        Stream.flatMap((one) => Stream.fromIterable(Array.from({ length: wire.tells() }, () => one))),
        // The stream's items arrive outside the process, so deliver each one in the process's turn.
        Stream.mapEffect((one) => carried(wire, port, "notice", Effect.succeed(one)))
      )
    const members = Object.entries(service).map(([name, member]: [string, unknown]) => {
      // oxlint-disable-next-line typescript/consistent-type-assertions -- the stream is only passed on, so its types don't matter
      if (Stream.isStream(member)) return [name, told(member as Stream.Stream<unknown, unknown>)]
      // oxlint-disable-next-line typescript/consistent-type-assertions -- as above, for an effect
      if (Effect.isEffect(member)) return [name, carried(wire, port, name, member as Call)]
      if (typeof member !== "function") return [name, member]
      return [
        name,
        (...args: ReadonlyArray<unknown>) => {
          const result: unknown = member(...args)
          // oxlint-disable-next-line typescript/consistent-type-assertions -- as above
          if (Effect.isEffect(result)) return carried(wire, port, nameOf(name, args), result as Call)
          // oxlint-disable-next-line typescript/consistent-type-assertions -- as above, for a stream
          return Stream.isStream(result) ? told(result as Stream.Stream<unknown, unknown>) : result
        }
      ] as const
    })
    // oxlint-disable-next-line typescript/consistent-type-assertions -- each member keeps its type, which cannot be expressed for all services together
    return Object.fromEntries(members) as S
  }

/** Limits how long a caller waits for the response to a webhook. */
const patient = (poster: Poster): Poster => ({
  ...poster,
  post: (ask) => Effect.timeoutOrElse(poster.post(ask), { duration: attemptMillis, orElse: () => unanswered })
})

/**
 * Returns all ports as one process sees them. The type requires all ports, because a port that bypasses the
 * connection could be queried while its store is busy.
 */
export const ports = (wire: Wire, outlasting: Context.Context<Ports>): Context.Context<Ports> => {
  const over = <I extends Ports, S extends object>(key: Context.Key<I, S>, port: Port): Context.Context<I> =>
    Context.make(key, wired(wire, port)(Context.get(outlasting, key)))
  return Context.mergeAll(
    over(Journal, "store"),
    over(NounReads, "store"),
    over(LedgerReads, "store"),
    over(AuditStore, "store"),
    over(EventStore, "store"),
    over(AccountReads, "store"),
    over(ReceivingReads, "store"),
    over(SendingReads, "store"),
    over(ReportReads, "store"),
    over(Tasks, "store"),
    FeatureReads.from(
      features,
      wired(wire, "store")(Effect.runSync(Effect.provideContext(FeatureReads.all, outlasting)))
    ),
    over(LightningReceiver, "node"),
    over(LightningSender, "node"),
    over(OfferSender, "node"),
    over(OfferIssuer, "node"),
    over(ChainSource, "chain"),
    over(ChainWallet, "chain"),
    over(Signer, "signer"),
    over(ExchangeRates, "web"),
    over(Resolver, "web"),
    over(Dns, "web"),
    Context.make(Poster, patient(wired(wire, "web")(Context.get(outlasting, Poster))))
  )
}
