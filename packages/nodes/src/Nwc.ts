import * as Nostr from "@satrail/bitcoin/Nostr"
import type { Network } from "@satrail/bitcoin/Network"
import type * as WalletConnect from "@satrail/bitcoin/WalletConnect"
import { LightningReceiver, NodeUnavailable } from "@satrail/core/nodes/LightningReceiver"
import { LightningSender, type Tariff } from "@satrail/core/nodes/LightningSender"
import { Context, Effect, Layer, Schema } from "effect"
import * as NwcReceiver from "./NwcReceiver.ts"
import * as NwcSender from "./NwcSender.ts"
import * as NwcWallet from "./NwcWallet.ts"

export interface Options extends NwcWallet.Options {
  /** What the connection is known by; `idOf` it when absent. Another one where it is a new connection to the same wallet. */
  readonly nodeId?: string | undefined
  /** The most that the wallet takes for a payment, as its owner knows it. */
  readonly tariff: Tariff
}

/** What a wallet is known by: the app's public key at it, in the form of a node's. The node behind a wallet may be many people's. */
export const idOf = ({ secretKey }: WalletConnect.Connection): string => `02${Nostr.publicKeyOf(secretKey)}`

const networks: Readonly<Record<string, Network>> = {
  mainnet: "mainnet",
  bitcoin: "mainnet",
  testnet: "testnet",
  signet: "signet",
  regtest: "regtest"
}

const Info = Schema.Struct({
  alias: Schema.optionalKey(Schema.NullOr(Schema.String)),
  network: Schema.String,
  methods: Schema.Array(Schema.String),
  notifications: Schema.optionalKey(Schema.NullOr(Schema.Array(Schema.String)))
})

/** Without these no payment can be taken and followed. */
const needed = ["make_invoice", "lookup_invoice"]

/** What the wallet does for this connection. */
const infoOf = Effect.fnUntraced(function* (
  { ask }: NwcWallet.NwcWallet,
  { connection, nodeId = idOf(connection) }: Omit<Options, "tariff">
) {
  const {
    alias,
    network: named,
    methods,
    notifications
  } = yield* Effect.catchTag(ask("get_info", {}, Info), "Refused", NwcWallet.refusal("get_info"))
  const network = Object.hasOwn(networks, named) ? networks[named] : undefined
  if (network === undefined)
    return yield* new NodeUnavailable({
      operation: "get_info",
      cause: `the wallet is on no network that is known here: ${named.slice(0, 20)}`
    })
  const missing = needed.filter((method) => !methods.includes(method))
  if (missing.length > 0)
    return yield* new NodeUnavailable({
      operation: "get_info",
      cause: `the connection does not permit ${missing.join(" and ")}: make one that does`
    })
  return {
    nodeId,
    network,
    alias: (alias ?? "").slice(0, 60),
    pays: methods.includes("pay_invoice"),
    lists: methods.includes("list_transactions"),
    notifies: notifications?.includes("payment_received") === true
  }
})

/** Asks the wallet what it does for this connection, and on which network. */
export const identity = (options: Omit<Options, "tariff">) =>
  Effect.scoped(Effect.flatMap(NwcWallet.make(options), (wallet) => infoOf(wallet, options)))

/**
 * A wallet takes payments for us, and pays where it permits that to this connection. Fails where it does not answer at the start. There are no books: a wallet tells no
 * payments that have not ended, in no order that a place in it could be kept of.
 */
export const layer = (options: Options): Layer.Layer<LightningReceiver | LightningSender, NodeUnavailable, Nostr.Sessions> =>
  Layer.effectContext(
    Effect.gen(function* () {
      const wallet = yield* NwcWallet.make(options)
      const info = yield* infoOf(wallet, options)
      return Context.make(LightningReceiver, yield* NwcReceiver.make(wallet, info)).pipe(
        Context.add(LightningSender, yield* NwcSender.make(wallet, { pays: info.pays, tariff: options.tariff }))
      )
    })
  )
