import { type Context, Deferred, Effect } from "effect"
import { AccountReads } from "../src/accounts/AccountReads.ts"
import { Journal, StoreUnavailable } from "../src/ledger/Journal.ts"
import { LedgerReads } from "../src/ledger/LedgerReads.ts"
import { Tasks } from "../src/ledger/Tasks.ts"
import { ChainSource, ChainUnavailable } from "../src/nodes/ChainSource.ts"
import { ChainWallet } from "../src/nodes/ChainWallet.ts"
import { LightningReceiver, NodeUnavailable } from "../src/nodes/LightningReceiver.ts"
import { LightningSender } from "../src/nodes/LightningSender.ts"
import { RecipientUnreachable, Resolver } from "../src/nodes/Resolver.ts"
import { Signer, SignerUnavailable } from "../src/nodes/Signer.ts"
import { ReceivingReads } from "../src/receiving/ReceivingReads.ts"
import { ReportReads } from "../src/reports/ReportReads.ts"
import { SendingReads } from "../src/sending/SendingReads.ts"
import { type Ports, replace } from "./World.ts"

/** What may befall a process in one of its calls: it dies, or goes on without an answer, and the call took effect or did not. */
export const fates = ["dies before", "dies after", "gets no answer before", "gets no answer after"] as const
export type Fate = (typeof fates)[number]

/** A process's ports, of which one call meets its fate. */
export interface Mortal {
  readonly ports: Context.Context<Ports>
  /** Every call so far, in order. */
  readonly calls: ReadonlyArray<string>
  /** Done when the process died. */
  readonly died: Deferred.Deferred<void>
  readonly isDead: () => boolean
}

type Call = Effect.Effect<unknown, unknown>

/** What a caller of each port is told when it gets no answer. */
const silence: { readonly [port: string]: (call: string) => Call } = {
  store: (operation) => Effect.fail(new StoreUnavailable({ operation, cause: "no answer" })),
  node: (operation) => Effect.fail(new NodeUnavailable({ operation, cause: "no answer" })),
  chain: (operation) => Effect.fail(new ChainUnavailable({ operation, cause: "no answer" })),
  signer: () => Effect.fail(new SignerUnavailable({ cause: "no answer" })),
  web: () => Effect.fail(new RecipientUnreachable({ reason: "no answer" })),
  unknown: () => Effect.succeed({ _tag: "unknown" })
}

/** Calls that have a value for not knowing. */
const knowsUnknown = new Set(["pay", "lookupPayment", "broadcast"])

/**
 * Every effect of every port is counted, and the one numbered `at` meets its fate. A process that died makes no other call, and nothing of
 * it runs any more: no clean-up, as when the power is cut.
 */
export const mortal = Effect.fnUntraced(function* (ports: Context.Context<Ports>, at: number, fate: Fate): Effect.fn.Return<Mortal> {
  const died = yield* Deferred.make<void>()
  const calls: Array<string> = []
  let dead = false
  const die = Effect.andThen(
    Effect.suspend(() => {
      dead = true
      return Deferred.succeed(died, undefined)
    }),
    Effect.never
  )
  const befall = (name: string, call: Call, quiet: Call): Call =>
    Effect.suspend(() => {
      if (dead) return Effect.never
      calls.push(name)
      if (calls.length !== at) return Effect.onExit(call, () => (dead ? Effect.never : Effect.void))
      switch (fate) {
        case "dies before":
          return die
        case "dies after":
          return Effect.andThen(Effect.exit(call), die)
        case "gets no answer before":
          return quiet
        case "gets no answer after":
          return Effect.andThen(Effect.exit(call), quiet)
      }
    })
  const wrap =
    (kind: string) =>
    <S extends object>(service: S): S => {
      const around = (name: string, call: Call) =>
        befall(name, call, (knowsUnknown.has(name) ? silence.unknown : silence[kind])?.(name) ?? Effect.die(kind))
      // Member by member the same type again, which no type can say of all services at once.
      return Object.fromEntries(
        Object.entries(service).map(([name, member]: [string, unknown]) => {
          if (Effect.isEffect(member)) return [name, around(name, member as Call)]
          if (typeof member !== "function") return [name, member]
          return [
            name,
            (...args: ReadonlyArray<unknown>) => {
              const result: unknown = member(...args)
              return Effect.isEffect(result) ? around(name === "commit" ? tagOf(args[0]) : name, result as Call) : result
            }
          ]
        })
      ) as S
    }
  return {
    calls,
    died,
    isDead: () => dead,
    ports: ports.pipe(
      replace(Journal, wrap("store")),
      replace(LedgerReads, wrap("store")),
      replace(AccountReads, wrap("store")),
      replace(ReceivingReads, wrap("store")),
      replace(SendingReads, wrap("store")),
      replace(ReportReads, wrap("store")),
      replace(Tasks, wrap("store")),
      replace(LightningReceiver, wrap("node")),
      replace(LightningSender, wrap("node")),
      replace(ChainSource, wrap("chain")),
      replace(ChainWallet, wrap("chain")),
      replace(Signer, wrap("signer")),
      replace(Resolver, wrap("web"))
    )
  }
})

/** Commits are told apart by what they commit. */
const tagOf = (change: unknown): string =>
  typeof change === "object" && change !== null && "_tag" in change && typeof change._tag === "string" ? change._tag : "commit"
