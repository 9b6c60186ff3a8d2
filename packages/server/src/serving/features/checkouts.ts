import * as Msat from "@satrail/bitcoin/Msat"
import * as Checkout from "@satrail/features/checkouts/core/Checkout"
import * as CheckoutPage from "@satrail/features/checkouts/http/CheckoutPage"
import * as Explorer from "@satrail/features/checkouts/http/Explorer"
import { Effect, Layer } from "effect"
import * as Simulated from "../../deployment/Simulated.ts"
import type { Given } from "../../sandbox/Controls.ts"
import * as Feature from "./Feature.ts"

/** The amount that the outside wallet pays if the payer chooses the amount. */
const anySats = 1000

/** Half of an amount, and a fifth more than the amount, in whole satoshis. */
const less = (amount: Msat.Msat): Msat.Msat => Msat.fromSats((Msat.toSats(amount) + 1n) / 2n)
const more = (amount: Msat.Msat): Msat.Msat => Msat.fromSats((Msat.toSats(amount) * 6n) / 5n + 1n)

// Blocks are mined one by one, so that the page shows how an on-chain payment is detected and then confirmed.
const blocks = 6
const blockMillis = 1500

/** Provides the payment button on a checkout's page. */
const payer = ({ sandbox }: Given) =>
  Layer.effect(
    CheckoutPage.Payer,
    Effect.gen(function* () {
      const scope = yield* Effect.scope
      const mined = Effect.repeat(Effect.andThen(Effect.sleep(blockMillis), sandbox.mine(1)), {
        times: blocks - 1
      })
      return {
        pay: Effect.fnUntraced(function* (checkout, way) {
          const rest = Checkout.unsent(checkout)
          const due = rest ?? Msat.fromSats(anySats)
          if (way === "lightning" || way === "more") {
            const { paymentRequest } = checkout
            const amount = way === "more" ? more(due) : due
            return yield* Effect.asVoid(
              sandbox.pay({ paymentRequest, ...((rest === null || way === "more") && { amount }) })
            )
          }
          yield* sandbox.send({ address: checkout.address, amount: way === "less" ? less(due) : due })
          yield* mined.pipe(
            Effect.catch((cause) => Effect.logWarning("sandbox: no more blocks for a payment", cause)),
            Effect.forkIn(scope)
          )
        })
      }
    })
  )

/** Checkouts. Their pages have the payment button only if no money is real. */
export const checkouts = Feature.make({
  references: ({ explorerUrl }) =>
    explorerUrl === undefined
      ? Layer.empty
      : Layer.succeed(Explorer.Explorer, Explorer.ofTemplate(explorerUrl)),
  sandbox: (given) => (Simulated.isSandbox(given.simulated) ? payer(given) : Layer.empty)
})
