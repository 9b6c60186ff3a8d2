import { sha256 } from "@noble/hashes/sha2.js"
import type * as Msat from "@satrail/bitcoin/Msat"
import { RecipientRefused, RecipientUnreachable, Resolver } from "@satrail/core/nodes/Resolver"
import { hex } from "@scure/base"
import { Effect, Result } from "effect"
import * as Payee from "./Payee.ts"
import * as Web from "./Web.ts"
import * as World from "./World.ts"

type Given = Effect.Success<ReturnType<Resolver["Service"]["invoice"]>>

/** Lifetime of invoices that names return. */
const expirySeconds = 600

const refuse = (reason: string) => Result.fail(new RecipientRefused({ reason }))

/** Don't repeat the rest of the request, which may be a misplaced secret. */
const nobody = (url: string) =>
  `there is no such address at ${new URL(url).host} on the sandbox's web. Addresses that work include settle@${Web.domain}`

/** The simulated web, from a payer's point of view. */
export const make = (world: World.World): Resolver["Service"] => {
  // Not stored with the web's state, so after a restart a name returns another invoice.
  const given = new Map<string, { readonly amount: Msat.Msat; readonly paymentRequest: string }>()
  const reachable = <A, E>(effect: Effect.Effect<A, E>) =>
    World.reachable(
      world,
      "web",
      () => new RecipientUnreachable({ reason: "the simulated web is paused" }),
      effect
    )
  return Resolver.of({
    offer: (url) =>
      reachable(
        Effect.suspend(() => {
          const name = Web.atUrl(world.state().web, url)
          if (name === undefined) return Effect.fail(new RecipientRefused({ reason: nobody(url) }))
          const { callback, min, max, metadata } = name
          return Effect.succeed({ callback, min, max, metadata })
        })
      ),
    invoice: ({ callback }, amount) =>
      reachable(
        world.commit<Given, RecipientRefused | RecipientUnreachable>((state, nowMillis) => {
          const name = Web.atCallback(state.web, callback)
          if (name === undefined) return refuse(nobody(callback))
          if (name.behaviour === "refuse") return refuse("it does not accept payments right now")
          if (name.behaviour === "unreachable")
            return Result.fail(new RecipientUnreachable({ reason: "no response" }))
          if (amount < name.min || amount > name.max)
            return refuse(`amount must be between ${name.min} and ${name.max} millisatoshis`)
          const before = name.behaviour === "same_invoice" ? given.get(callback) : undefined
          if (before?.amount === amount)
            return World.decided([], () => ({ paymentRequest: before.paymentRequest, successAction: null }))
          const invoiced = Payee.invoiced(world, state.lightning, {
            amount,
            behaviour: name.behaviour,
            payee: name.payee,
            expirySeconds,
            nowMillis,
            description: { _tag: "Hash", sha256: hex.encode(sha256(new TextEncoder().encode(name.metadata))) }
          })
          if (name.behaviour === "same_invoice")
            given.set(callback, { amount, paymentRequest: invoiced.paymentRequest })
          return Result.succeed({
            events: [invoiced],
            answer: () => ({ paymentRequest: invoiced.paymentRequest, successAction: null })
          })
        })
      )
  })
}
