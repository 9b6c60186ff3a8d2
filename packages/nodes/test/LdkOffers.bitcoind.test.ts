import { eventually, Patience } from "@satrail/contracts/Eventually"
import * as Msat from "@satrail/bitcoin/Msat"
import * as OfferIssuer from "@satrail/contracts/nodes/OfferIssuer"
import * as OfferSender from "@satrail/contracts/nodes/OfferSender"
import * as LdkIssuer from "@satrail/regtest/LdkIssuer"
import * as LdkNetwork from "@satrail/regtest/LdkNetwork"
import * as Real from "@satrail/regtest/Real"
import * as Wire from "@satrail/regtest/Wire"
import { Effect, Layer, Redacted, Schema } from "effect"
import * as Ldk from "../src/Ldk.ts"
import * as Marks from "./Marks.ts"

/**
 * The payee is erin, who accepts every payment. bob, who is on the route to her, holds or fails payments when
 * instructed.
 */
const peer = ({ cut, mend }: Wire.Wire) =>
  Layer.effect(
    OfferSender.Peer,
    Effect.map(LdkIssuer.LdkIssuer, ({ bob, forged, offer, received }) =>
      OfferSender.Peer.of({
        offer: Effect.fnUntraced(function* ({ amount, behaviour }) {
          // LDK sends an invoice for each of its own offers, and does not respond to requests for other offers.
          if (behaviour === "refuse" || behaviour === "unreachable") return yield* forged
          const made = yield* offer(amount)
          yield* bob.from(behaviour === "hold" ? { held: made } : behaviour === "fail" ? "FAIL" : "RESUME")
          return made
        }),
        unreachable: (amount) => Effect.succeed(LdkIssuer.strange(hermit, amount)),
        received: (offer) => Effect.map(received(offer), Msat.make),
        release: (offer, how) => bob.release(offer, how === "settle" ? "RESUME" : "FAIL"),
        cut,
        mend
      })
    )
  )

const Payment = Schema.Struct({ state: Schema.String })

/** The payer is erin, who pays through bob. */
const payer = ({ cut, mend }: Wire.Wire) =>
  Layer.effect(
    OfferIssuer.Peer,
    Effect.map(LdkIssuer.LdkIssuer, ({ bob, erin }) => ({
      pay: Effect.fnUntraced(function* (offer, amount) {
        yield* bob.from("RESUME")
        const attempt = crypto.randomUUID()
        const terms = { amount: String(amount), feeLimit: "1000000", notAfter: Date.now() + 60_000 }
        yield* erin.ask("payOffer", { attempt, offer, ...terms }, Payment)
        yield* eventually(erin.ask("lookupOffer", { attempt }, Payment), ({ state }) => state === "settled")
      }),
      cut,
      mend
    }))
  )

/** The key of a node without channels. */
const hermit = "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"

const layer = Layer.unwrap(
  Effect.gen(function* () {
    const { dora } = yield* LdkNetwork.LdkNetwork
    const wire = yield* Wire.make(dora.socket)
    const options = {
      socket: wire.socket,
      identity: { nodeId: dora.nodeId, network: "regtest" as const },
      marks: Marks.inMemory(),
      invoiceSecret: Redacted.make("of the tests")
    }
    return Layer.mergeAll(
      Ldk.layer(options),
      peer(wire),
      payer(wire),
      // LDK gives up on an unresponsive issuer after two ticks of its timer, which are a minute apart.
      Layer.succeed(Patience, { tries: 6000, spacedMillis: 50 })
    )
  })
).pipe(Layer.provideMerge(LdkIssuer.layer))

Real.suite("ldk, offers", ["bitcoind", "lnd", "ldk"], () => {
  OfferIssuer.suite("ldk", layer)
  OfferSender.suite("ldk", layer, {
    // A node that forwards an onion message may drop it silently (BOLT 4, Onion Messages). LDK then gives up on
    // the attempt, and the issuer receives nothing.
    again: /^nothing was paid: timeout$/,
    skip: {
      "there is no quote if every route exceeds the limit":
        "the fee of a blinded path is known only from the issuer's invoice"
    }
  })
})
