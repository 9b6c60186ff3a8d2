import * as Msat from "@satrail/bitcoin/Msat"
import * as Checkout from "@satrail/core/features/checkouts/Checkout"
import * as CheckoutPage from "@satrail/http/features/checkouts/CheckoutPage"
import { Effect, Layer } from "effect"
import * as Pretended from "../deployment/Pretended.ts"
import type { Given } from "./Controls.ts"

/** What the outside wallet pays where the payer decides. */
const anySats = 1000

// A payment on the chain shows all of its life: it is seen, and then one block after the other comes.
const blocks = 6
const blockMillis = 1500

/** The button of a checkout's page that pays it. */
const payer = ({ sandbox }: Given) =>
  Layer.effect(
    CheckoutPage.Payer,
    Effect.gen(function* () {
      const scope = yield* Effect.scope
      const mined = Effect.repeat(Effect.andThen(Effect.sleep(blockMillis), sandbox.mine(1)), { times: blocks - 1 })
      return {
        pay: Effect.fnUntraced(function* (checkout, way) {
          const amount = Checkout.rest(checkout, checkout.received)
          if (way === "lightning")
            return yield* Effect.asVoid(
              sandbox.pay({ paymentRequest: checkout.paymentRequest, ...(amount === null && { amount: Msat.fromSats(anySats) }) })
            )
          yield* sandbox.send({ address: checkout.address, amount: amount ?? Msat.fromSats(anySats) })
          yield* mined.pipe(
            Effect.catch((cause) => Effect.logWarning("sandbox: no more blocks for a payment", cause)),
            Effect.forkIn(scope)
          )
        })
      }
    })
  )

/** What pays checkouts in the sandbox; nothing where any money is real. */
export const layer = (given: Given): Layer.Layer<never> => (Pretended.isSandbox(given.pretended) ? payer(given) : Layer.empty)
