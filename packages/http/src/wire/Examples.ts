import * as BitcoinAddress from "@satrail/bitcoin/BitcoinAddress"
import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Msat from "@satrail/bitcoin/Msat"
import type { Network } from "@satrail/bitcoin/Network"
import * as Nostr from "@satrail/bitcoin/Nostr"
import * as Preimage from "@satrail/bitcoin/Preimage"
import * as WalletConnect from "@satrail/bitcoin/WalletConnect"
import * as ApiKey from "@satrail/core/accounts/ApiKey"
import * as OperatorToken from "@satrail/core/accounts/OperatorToken"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import { Context, Redacted, Result } from "effect"
import { createHash } from "node:crypto"
import * as Scalars from "./Scalars.ts"

/** An endpoint's example request and response. */
export interface Shown {
  readonly body?: unknown
  readonly message: string
  readonly data: unknown
  /** Values of the parameters in the path, by name. */
  readonly params?: Readonly<Record<string, string>>
}

/** Annotates an endpoint with its example for the documents. */
export class Example extends Context.Service<Example, (world: World) => Shown>()(
  "@satrail/http/wire/Examples/Example"
) {}

const startMillis = Date.parse("2026-01-31T12:00:00.123Z")
const bytes = (name: string): Buffer => createHash("sha256").update(`satrail example: ${name}`).digest()
const id = (name: string, afterMillis = 0): string =>
  Id.fromMillis(startMillis + afterMillis, (size) => bytes(name).subarray(0, size))

// No private key is known for this point (BIP 341), so money sent to an example address is lost.
const nobodysKey = Buffer.from("50929b74c1a04954b78b4b6035e97a5e078a5a0f28ec96d547bfee9ace803ac0", "hex")

/** Returns the example wallet connection of an app. Its keys are used nowhere else. */
const walletOf = (id: string) => {
  const secretKey = Redacted.make(bytes("an app's key").toString("hex"))
  const walletKey = Nostr.publicKeyOf(Redacted.make(bytes("the wallet's key").toString("hex")))
  const connection = WalletConnect.format({ walletKey, relays: ["wss://relay.example.com"], secretKey })
  return { id, walletKey, appKey: Nostr.publicKeyOf(secretKey), connection: Redacted.value(connection) }
}

/** Returns a signed invoice from the past that any decoder accepts. */
const signed = (
  network: Network,
  payee: string,
  amount: Msat.Msat,
  description: string,
  atMillis: number
) => {
  const preimage = Preimage.make(bytes(`preimage of ${payee}`).toString("hex"))
  const draft = {
    network,
    amount,
    description,
    timestampSeconds: Math.floor(atMillis / 1000),
    paymentHash: Preimage.hashOf(preimage),
    paymentSecret: bytes(`payment secret of ${payee}`).toString("hex"),
    expirySeconds: 3600
  }
  const paymentRequest = Result.getOrThrow(Bolt11.encode(draft, Bolt11.signWith(bytes(`node of ${payee}`))))
  const { payee: nodeId } = Result.getOrThrow(Bolt11.decode(paymentRequest))
  return { amount, paymentRequest, nodeId, paymentHash: draft.paymentHash, preimage, memo: description }
}

/**
 * The scenario of the examples: a company receives 21 000 sats for an invoice, then sends 3000 of them for a
 * fee of 35. It provides all ids, hashes and amounts, and each resource makes its example records from them.
 */
export const worldOf = (network: Network) => {
  const address = BitcoinAddress.fromPayload("p2tr", nobodysKey, network)
  if (address === undefined) throw new Error("an output key has 32 bytes")
  const key = ApiKey.generate(network, (size) => bytes(`API key ${size}`).subarray(0, size))
  return {
    network,
    /** Returns the constant id of a named record created this long after the start. */
    id,
    millis: (afterMillis = 0) => startMillis + afterMillis,
    at: (afterMillis = 0) => Scalars.instant(startMillis + afterMillis),
    companyId: CompanyId.make(id("company", -86_400_000)),
    metadata: { order: "1042" },
    /** The service's domain, followed by the company's custom domain. */
    serviceDomain: "pay.example.com",
    domain: "shop.example",
    /** The company's invoice. */
    asked: signed(network, "the company", Msat.fromSats(21_000), "Order 1042", startMillis),
    /** The invoice that the company pays, issued by an external payee. */
    paid: signed(network, "its supplier", Msat.fromSats(3000), "Beans", startMillis + 60_000),
    address,
    apiKey: { id: key.id, text: Redacted.value(key.text) },
    wallet: walletOf(id("wallet connection")),
    operatorToken: Redacted.value(
      OperatorToken.generate((size) => bytes("operator token").subarray(0, size)).text
    ),
    /** Key for event ids. */
    eventKey: Redacted.make("the key of the examples"),
    /** The secret of a voucher. */
    k1: bytes("a voucher's secret").toString("hex")
  } as const
}
export type World = ReturnType<typeof worldOf>
