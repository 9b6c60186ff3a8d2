import * as BitcoinAddress from "@satrail/bitcoin/BitcoinAddress"
import * as Lnurl from "@satrail/bitcoin/Lnurl"
import * as Msat from "@satrail/bitcoin/Msat"
import * as ChainSourceContract from "@satrail/contracts/nodes/ChainSource"
import * as ChainWalletContract from "@satrail/contracts/nodes/ChainWallet"
import * as ReceiverContract from "@satrail/contracts/nodes/LightningReceiver"
import * as IssuerContract from "@satrail/contracts/nodes/OfferIssuer"
import * as SenderContract from "@satrail/contracts/nodes/LightningSender"
import * as DnsContract from "@satrail/contracts/nodes/Dns"
import * as OffersContract from "@satrail/contracts/nodes/OfferSender"
import * as ResolverContract from "@satrail/contracts/nodes/Resolver"
import { ChainSource } from "@satrail/core/nodes/ChainSource"
import { ChainWallet } from "@satrail/core/nodes/ChainWallet"
import { Signer } from "@satrail/core/nodes/Signer"
import { Context, Effect, HashMap, Layer, Option, Result } from "effect"
import * as Chain from "../src/Chain.ts"
import type { Paid } from "../src/Payer.ts"
import { SimulatedDns } from "../src/SimulatedDns.ts"
import { type DestinationAsk, Sandbox } from "../src/Sandbox.ts"

// The sandbox, acting as the peer in each contract.

/** The payer waits for as long as the payee holds the payment. */
const whenSettled =
  (sandbox: Sandbox["Service"]) =>
  ({ paymentHash }: Paid): Effect.Effect<void, string> =>
    Effect.gen(function* () {
      const stage = Option.getOrUndefined(HashMap.get((yield* sandbox.state).lightning.invoices, paymentHash))
        ?.stage._tag
      if (stage === "accepted")
        return yield* Effect.andThen(Effect.sleep(5), whenSettled(sandbox)({ paymentHash, preimage: null }))
      if (stage === "canceled") return yield* Effect.fail("the payee returned the payment")
    })

const receiver = Layer.effect(
  ReceiverContract.Peer,
  Effect.gen(function* () {
    const sandbox = yield* Sandbox
    return {
      pay: (paymentRequest, amount) =>
        Effect.flatMap(sandbox.pay({ paymentRequest, amount }), whenSettled(sandbox))
    }
  })
)

const sender = Layer.effect(
  SenderContract.Peer,
  Effect.gen(function* () {
    const sandbox = yield* Sandbox
    return {
      invoice: (ask) =>
        Effect.map(
          sandbox.destination({ type: "lightning_invoice", ...ask }),
          ({ destination }) => destination
        ),
      unreachable: (amount) =>
        Effect.map(
          sandbox.destination({ type: "lightning_invoice", amount, behaviour: "no_route" }),
          ({ destination }) => destination
        ),
      received: (paymentHash) =>
        Effect.map(
          sandbox.payments,
          (all) => all.find((one) => one.paymentHash === paymentHash)?.received ?? Msat.zero
        ),
      release: (paymentHash, outcome) => sandbox.release({ paymentHash, outcome }),
      cut: sandbox.pause("node"),
      mend: sandbox.resume("node")
    }
  })
)

const offers = Layer.effect(
  OffersContract.Peer,
  Effect.gen(function* () {
    const sandbox = yield* Sandbox
    /** Returns the payment hashes of the invoices that an offer's issuer sent. */
    const hashesOf = (offer: string) =>
      Effect.map(sandbox.state, ({ lightning }) =>
        HashMap.toValues(lightning.tried).flatMap((one) =>
          one.offer === offer && one.paymentHash !== null ? [one.paymentHash] : []
        )
      )
    const made = (ask: DestinationAsk) =>
      Effect.map(sandbox.destination(ask), ({ destination }) => destination)
    return {
      offer: (ask) => made({ type: "bolt12_offer", ...ask }),
      unreachable: (amount) => made({ type: "bolt12_offer", amount, behaviour: "no_route" }),
      received: (offer) =>
        Effect.map(Effect.all([sandbox.payments, hashesOf(offer)]), ([all, hashes]) =>
          Msat.sum(
            ...all.filter(({ paymentHash }) => hashes.includes(paymentHash)).map(({ received }) => received)
          )
        ),
      release: (offer, outcome) =>
        Effect.flatMap(hashesOf(offer), (hashes) =>
          Effect.forEach(hashes, (paymentHash) => sandbox.release({ paymentHash, outcome }), {
            discard: true
          })
        ),
      cut: sandbox.pause("node"),
      mend: sandbox.resume("node")
    }
  })
)

const issuer = Layer.effect(
  IssuerContract.Peer,
  Effect.map(Sandbox, (sandbox) => ({
    pay: (paymentRequest, amount) => Effect.asVoid(sandbox.pay({ paymentRequest, amount })),
    cut: sandbox.pause("node"),
    mend: sandbox.resume("node")
  }))
)

const outsideAddress = Effect.gen(function* () {
  const sandbox = yield* Sandbox
  const { destination } = yield* sandbox.destination({ type: "chain_address" })
  const { address, scriptPubKey } = yield* Effect.fromResult(BitcoinAddress.decode(destination, "regtest"))
  return { address, scriptPubKey }
})

const chain = Layer.effect(
  ChainSourceContract.Peer,
  Effect.gen(function* () {
    const context = yield* Effect.context<Sandbox>()
    const sandbox = Context.get(context, Sandbox)
    const [wallet, signer] = [yield* ChainWallet, yield* Signer]
    const used = new Map<string, string>()
    return {
      address: Effect.provide(outsideAddress, context),
      send: sandbox.sendMany,
      sign: ({ address, amount }, coin) =>
        Effect.gen(function* () {
          const { scriptPubKey } = yield* Effect.fromResult(BitcoinAddress.decode(address, wallet.network))
          const { psbt } = yield* wallet.build({
            payments: [{ scriptPubKey, amount, feeLimit: Msat.fromSats(1_000) }],
            feeRate: 2,
            free: (outpoints) =>
              Effect.sync(() => {
                const outpoint =
                  used.get(coin) ?? outpoints.find((one) => ![...used.values()].includes(one)) ?? ""
                used.set(coin, outpoint)
                return new Set([outpoint])
              })
          })
          return yield* signer.sign(psbt)
        }),
      mine: sandbox.mine,
      reorg: sandbox.reorg,
      doubleSpend: sandbox.doubleSpend
    }
  })
)

const wallet = Layer.effect(
  ChainWalletContract.Peer,
  Effect.gen(function* () {
    const context = yield* Effect.context<Sandbox>()
    const sandbox = Context.get(context, Sandbox)
    const { newAddress } = yield* ChainWallet
    const [source, signer] = [yield* ChainSource, yield* Signer]
    return {
      dispatch: ({ psbt }) => Effect.flatMap(signer.sign(psbt), ({ rawTx }) => source.broadcast(rawTx)),
      send: (type, amount) =>
        Effect.flatMap(newAddress(type), ({ address }) => sandbox.send({ address, amount })),
      mine: sandbox.mine(1),
      script: Effect.map(Effect.provide(outsideAddress, context), ({ scriptPubKey }) => scriptPubKey),
      feeOf: (txId) =>
        Effect.map(sandbox.state, ({ chain }) =>
          Msat.fromSats(Option.getOrThrow(Option.fromUndefinedOr(Chain.transaction(chain, txId))).feeSats)
        )
    }
  })
)

const web = Layer.effect(
  ResolverContract.Peer,
  Effect.gen(function* () {
    const sandbox = yield* Sandbox
    return {
      publish: (takes) =>
        Effect.map(
          sandbox.destination({ type: "lnurl", takes }),
          ({ destination }) => Result.getOrThrow(Lnurl.decode(destination)).url
        ),
      nobody: "https://wallet.example/.well-known/lnurlp/nobody",
      cut: sandbox.pause("web"),
      mend: sandbox.resume("web")
    }
  })
)

/** The peer of the Dns contract, with a simulated DNS. */
export const names = Layer.effect(
  DnsContract.Peer,
  Effect.map(SimulatedDns, ({ set, setAway }) => ({ set, cut: setAway(true), mend: setAway(false) }))
)

/** The peers of all contracts. */
export const layer = Layer.mergeAll(receiver, sender, offers, issuer, chain, wallet, web)
