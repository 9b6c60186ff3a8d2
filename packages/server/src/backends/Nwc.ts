import * as Msat from "@satrail/bitcoin/Msat"
import type { Network } from "@satrail/bitcoin/Network"
import * as WalletConnect from "@satrail/bitcoin/WalletConnect"
import { NodeUnavailable } from "@satrail/core/nodes/LightningReceiver"
import * as Nwc from "@satrail/nodes/Nwc"
import * as Outbound from "@satrail/web/Outbound"
import * as WebSocketSessions from "@satrail/web/WebSocketSessions"
import { type Config, Effect, Layer, Redacted, Result } from "effect"
import { type Line, messageOf, misconfigured, outage, right, warning } from "../check/Check.ts"
import * as Setting from "../environment/Setting.ts"
import * as LightningNode from "./LightningNode.ts"
import { NodeUnusable } from "./NodeUnusable.ts"
import type * as Remembered from "./Remembered.ts"

const needed = Setting.neededWith("LIGHTNING=nwc")

const settings = {
  connection: needed({
    name: "NWC_URL",
    meaning:
      "The connection that the wallet made for this service (Nostr Wallet Connect, NIP-47), with make_invoice, lookup_invoice and list_transactions, and pay_invoice to pay; who reads it has the money that it permits to spend",
    wants: "nostr+walletconnect://…?relay=wss://…&secret=…; without TLS only on the loopback",
    isSecret: true,
    problem: (text) => Result.getOrUndefined(Result.flip(WalletConnect.parse(Redacted.make(text))))?.message,
    read: (text) => Result.getOrUndefined(WalletConnect.parse(Redacted.make(text)))
  }),
  invoiceSecret: needed({
    name: "NWC_INVOICE_SECRET",
    meaning: "The secret from which the key of stored responses is derived; never change it, and use the same in all processes",
    ...Setting.invoiceSecret
  }),
  continues: Setting.optional({
    name: "NWC_CONTINUES",
    meaning:
      "The first connection of this database, where NWC_URL is a new one to the same wallet, which shows it the payments of the first: as the refusal at the start names it. Of another wallet's, payments would be made again",
    wants: "02 and 64 characters of hex",
    read: (text) => (/^02[0-9a-f]{64}$/.test(text) ? text : undefined)
  }),
  feeSats: Setting.withDefault({
    name: "NWC_FEE_SATS",
    meaning:
      "The most that the wallet takes for a payment, in satoshis, beside NWC_FEE_PPM: it knows no limit, so that this is held, and what is more is the operator's loss",
    fallback: "10",
    ...Setting.whole(0, 1_000_000)
  }),
  feePpm: Setting.withDefault({
    name: "NWC_FEE_PPM",
    meaning: "The same in millionths of the amount: 10000 is 1 %",
    fallback: "10000",
    ...Setting.whole(0, 1_000_000)
  })
}

const config = Setting.all(settings)

interface Settings extends Config.Success<typeof config> {}

const hostsOf = ({ connection }: Settings) => connection.relays.map((relay) => new URL(relay).host).join(", ")

const atOf = (settings: Settings) => `the wallet at ${hostsOf(settings)}`

const silence = (settings: Settings, { cause }: NodeUnavailable) => ({
  reason: `${atOf(settings)} does not answer: ${messageOf(cause)}`,
  remedy: "Start the wallet, or set NWC_URL to a connection that it still has."
})

/** The relays that the operator was given, wherever they are, and no other place. */
const sessions = ({ connection }: Settings) => {
  const allow = new Map(
    connection.relays.map((relay) => {
      const { host, protocol } = new URL(relay)
      return [host, new URL(`${protocol === "wss:" ? "https" : "http"}://${host}`)] as const
    })
  )
  return Layer.provide(WebSocketSessions.layer, Outbound.layer({ allow }))
}

const asked = (settings: Settings, deadlineMillis?: number) =>
  Nwc.identity({ connection: settings.connection, nodeId: settings.continues, deadlineMillis }).pipe(Effect.provide(sessions(settings)))

/** The wallet, taking payments, and paying where it permits that. Begins only while it answers. */
const layer = (settings: Settings, { nodeId }: Remembered.Identity) => {
  const tariff = { base: Msat.fromSats(settings.feeSats), partsPerMillion: BigInt(settings.feePpm) }
  return Nwc.layer({ connection: settings.connection, nodeId, tariff }).pipe(
    Layer.provide(sessions(settings)),
    Layer.catchTag("NodeUnavailable", (away) => {
      const { reason, remedy } = silence(settings, away)
      return Layer.effectContext(new NodeUnusable({ message: `${reason}. ${remedy}` }))
    })
  )
}

const look = Effect.fnUntraced(function* (network: Network, settings: Settings) {
  const answer = yield* Effect.result(asked(settings, 4000))
  if (Result.isFailure(answer)) {
    const { reason, remedy } = silence(settings, answer.failure)
    return [outage(reason, remedy)] satisfies ReadonlyArray<Line>
  }
  const { alias, network: theirs, nodeId, pays, lists } = answer.success
  if (theirs !== network)
    return [misconfigured(`${atOf(settings)} is on ${theirs}, and SATRAIL_NETWORK is ${network}`, "Set both to the same network.")]
  return [
    right(`${atOf(settings)}, ${alias === "" ? "without a name" : alias}, ${nodeId.slice(0, 16)}…, on ${theirs}`),
    ...(pays
      ? []
      : [
          warning(
            "the wallet does not permit pay_invoice: withdrawals over Lightning fail",
            "Make a connection that permits it, or leave it so."
          )
        ]),
    ...(lists
      ? []
      : [
          warning(
            "the wallet does not permit list_transactions: payments are noticed by looking each invoice up",
            "Make a connection that permits it."
          )
        ])
  ]
})

export const backend = LightningNode.make({
  name: "nwc",
  title: "A wallet (Nostr Wallet Connect)",
  prefix: "NWC_",
  settings,
  config,
  identity: (settings) => ({
    source: "nwc",
    at: atOf(settings),
    setting: "NWC_URL (or NWC_CONTINUES, where it is a new connection to the same wallet)",
    // What it permits has to be known, and only it says so.
    mayBeAway: () => false,
    ask: Effect.mapError(
      asked(settings),
      (away) => new NodeUnavailable({ operation: away.operation, cause: away.cause, ...silence(settings, away) })
    ),
    invoiceSecret: settings.invoiceSecret
  }),
  layer,
  checks: (settings, network) => [{ subject: "Wallet", isWatched: true, lines: look(network, settings) }],
  proof: "a wallet made with @getalby/sdk over a real node on regtest: every contract; and the account of another satrail over real nodes",
  caveats: [
    {
      says: "the wallet is untested with one of somebody else's make: its adapter is tested with a wallet made with their SDK, and with another satrail",
      remedy: "Begin with little money."
    },
    {
      says: "what the wallet says is all there is: of a custodial one nobody else knows whether the money is there",
      remedy: "Keep in it what you can lose, and compare its balance with what customers have (docs/guides/nwc.md)."
    },
    { says: "there is no reconciliation with a wallet", remedy: "Compare balances yourself, or use lnd." }
  ]
})
