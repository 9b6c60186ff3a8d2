import * as BitcoinAddress from "@satrail/bitcoin/BitcoinAddress"
import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Lnurl from "@satrail/bitcoin/Lnurl"
import * as Msat from "@satrail/bitcoin/Msat"
import type { Network } from "@satrail/bitcoin/Network"
import * as Preimage from "@satrail/bitcoin/Preimage"
import * as ApiKey from "@satrail/core/accounts/ApiKey"
import * as Id from "@satrail/core/base/Id"
import type { Invoice } from "@satrail/core/receiving/Invoice"
import type { LightningAddress } from "@satrail/core/receiving/LightningAddress"
import * as Voucher from "@satrail/core/sending/Voucher"
import type { Withdrawal } from "@satrail/core/sending/Withdrawal"
import { Redacted, Result } from "effect"
import { createHash } from "node:crypto"
import * as Wire from "./Wire.ts"

/** Of an endpoint: what is sent, and what is answered. */
export interface Example {
  readonly body?: unknown
  readonly message: string
  readonly data: unknown
  /** What stands for `{name}` in its path. */
  readonly params?: Readonly<Record<string, string>>
}

/** By method and path, as in `GET /v1/vouchers/{id}`. */
export type Table = Readonly<Record<string, Example>>

const startMillis = Date.parse("2026-01-31T12:00:00.123Z")
const bytes = (name: string): Buffer => createHash("sha256").update(`satrail example: ${name}`).digest()
const id = (name: string, afterMillis = 0): string => Id.fromMillis(startMillis + afterMillis, (size) => bytes(name).subarray(0, size))

// Nobody knows a key for this point (BIP 341): what somebody sends to an address in an example is lost, and is nobody's.
const nobodysKey = Buffer.from("50929b74c1a04954b78b4b6035e97a5e078a5a0f28ec96d547bfee9ace803ac0", "hex")

/** A signed invoice of long ago, as any decoder reads it. */
const signed = (network: Network, payee: string, amount: Msat.Msat, description: string, atMillis: number) => {
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
  return { paymentRequest, nodeId, paymentHash: draft.paymentHash, preimage, memo: description }
}

/**
 * What the examples tell of: a company on a network was paid an invoice over 21 000 sats, and sent 3000 of them on, for a fee of 35. Every id,
 * hash and amount of theirs is from here.
 */
export const worldOf = (network: Network) => {
  const metadata = { order: "1042" }
  const [companyId, domain] = [id("company", -86_400_000), "pay.example.com"]
  const [amount, sent] = [Msat.fromSats(21_000), Msat.fromSats(3000)]
  const asked = signed(network, "the company", amount, "Order 1042", startMillis)
  const paid = signed(network, "its supplier", sent, "Beans", startMillis + 60_000)
  const settledAtMillis = startMillis + 9000
  const address = BitcoinAddress.fromPayload("p2tr", nobodysKey, network)
  if (address === undefined) throw new Error("an output key has 32 bytes")
  const key = ApiKey.generate(network, (size) => bytes(`API key ${size}`).subarray(0, size))
  const open: Invoice = {
    id: id("invoice"),
    companyId,
    status: "pending",
    nodeId: asked.nodeId,
    memo: asked.memo,
    amount,
    paymentHash: asked.paymentHash,
    paymentRequest: asked.paymentRequest,
    metadata,
    lightningAddressId: null,
    callback: null,
    rate: null,
    rateAtMillis: null,
    received: null,
    preimage: null,
    claimedBy: null,
    createdAtMillis: startMillis,
    expiresAtMillis: startMillis + 3_600_000,
    settledAtMillis: null
  }
  const requested: Withdrawal = {
    id: id("withdrawal", 60_000),
    companyId,
    ledgerTxId: id("transfer of the withdrawal", 60_000),
    amount: sent,
    serviceFee: Msat.fromSats(20),
    networkAllowance: Msat.fromSats(15),
    recipient: "satoshi@wallet.example",
    recipientType: "lightning_address",
    rail: "lightning",
    network,
    metadata,
    rate: null,
    rateAtMillis: null,
    status: "pending",
    paymentHash: null,
    paymentRequest: null,
    successAction: null,
    chainTxId: null,
    rawTx: null,
    dispatchedAtMillis: null,
    preimage: null,
    networkFee: null,
    paymentIndex: null,
    failure: null,
    createdAtMillis: startMillis + 60_000,
    updatedAtMillis: startMillis + 60_000
  }
  const lightningAddress: LightningAddress = {
    id: id("Lightning address"),
    companyId,
    handle: "satoshi",
    domain,
    minSendable: Msat.fromSats(1000),
    maxSendable: Msat.fromSats(100_000),
    successMessage: "Thank you!",
    metadata,
    createdAtMillis: startMillis,
    updatedAtMillis: startMillis,
    lastUsedAtMillis: null,
    deletedAtMillis: null
  }
  const k1 = bytes("a voucher's secret").toString("hex")
  const voucher: Voucher.Voucher = {
    id: id("voucher", 120_000),
    companyId,
    ledgerTxId: id("transfer of the voucher", 120_000),
    amount: Msat.fromSats(1000),
    serviceFee: Msat.fromSats(14),
    networkAllowance: Msat.fromSats(5),
    description: "A coffee on us",
    metadata,
    rate: null,
    rateAtMillis: null,
    secretHash: Voucher.hashOf(k1),
    status: "open",
    withdrawalId: null,
    createdAtMillis: startMillis + 120_000,
    expiresAtMillis: startMillis + 120_000 + Voucher.expirySeconds.default * 1000,
    updatedAtMillis: startMillis + 120_000
  }
  return {
    network,
    company: { id: companyId, name: "Example Ltd", plan: "paid", created_at: Wire.instant(startMillis - 86_400_000) },
    metadata,
    invoice: {
      open,
      settled: { ...open, status: "settled", received: amount, preimage: asked.preimage, settledAtMillis } satisfies Invoice
    },
    deposit: {
      id: id("deposit", 9000),
      companyId,
      ledgerTxId: id("transfer of the deposit", 9000),
      recipient: asked.paymentRequest,
      amount,
      network,
      rail: "lightning",
      status: "settled",
      chainTxId: null,
      vout: null,
      height: null,
      lightningInvoiceId: open.id,
      absorbed: Msat.zero,
      revision: 0,
      createdAtMillis: settledAtMillis,
      updatedAtMillis: settledAtMillis
    },
    withdrawal: {
      requested,
      settled: {
        ...requested,
        status: "settled",
        paymentHash: paid.paymentHash,
        paymentRequest: paid.paymentRequest,
        preimage: paid.preimage,
        dispatchedAtMillis: requested.createdAtMillis + 40,
        networkFee: Msat.make(2001n),
        paymentIndex: "1",
        updatedAtMillis: requested.createdAtMillis + 900
      } satisfies Withdrawal
    },
    onChainAddress: {
      id: id("on-chain address"),
      companyId,
      nodeId: "73c5da0a",
      address: address.address,
      scriptPubKey: address.scriptPubKey,
      type: "taproot",
      index: 0,
      metadata,
      createdAtMillis: startMillis
    },
    lightningAddress,
    voucher,
    voucherUrl: Voucher.urlOf(domain, k1),
    apiKey: { id: key.id, text: Redacted.value(key.text) },
    /** What was paid to somebody outside. */
    paid,
    preimage: asked.preimage,
    domain: "shop.example",
    at: (afterMillis = 0) => Wire.instant(startMillis + afterMillis)
  } as const
}
export type World = ReturnType<typeof worldOf>

const lightningInvoice = "/v1/bitcoin/deposit/lightning-invoice"
const lightningAddressPath = "/v1/bitcoin/deposit/lightning-address"

const receive = (world: World): Table => {
  const { invoice, lightningAddress, onChainAddress, metadata } = world
  const own = Wire.ownLightningAddress(lightningAddress)
  const params = { id: lightningAddress.id }
  const text = `LIGHTNING:${own.lnurl.toUpperCase()}`
  return {
    [`POST ${lightningInvoice}`]: {
      body: { amount: 21_000, currency: "sats", description: invoice.open.memo, expiry_seconds: 3600, metadata },
      message: "Invoice created",
      data: Wire.invoice(invoice.open)
    },
    [`GET ${lightningInvoice}/{invoiceID}`]: {
      params: { invoiceID: invoice.open.id },
      message: "Invoice",
      data: Wire.invoice(invoice.settled)
    },
    // A body that a company on any plan may send.
    [`POST ${lightningAddressPath}`]: {
      body: { metadata },
      message: "Lightning address created",
      data: Wire.lightningAddress(lightningAddress)
    },
    [`GET ${lightningAddressPath}`]: { message: "Lightning addresses", data: [own] },
    [`GET ${lightningAddressPath}/{id}`]: { params, message: "Lightning address", data: own },
    [`PUT ${lightningAddressPath}/{id}`]: {
      params,
      body: { min_sats: own.min_sats, max_sats: own.max_sats, success_message: own.success_message, metadata },
      message: "Lightning address changed",
      data: own
    },
    [`DELETE ${lightningAddressPath}/{id}`]: {
      params,
      message: "Lightning address deleted",
      data: { ...own, deleted_at: world.at(3_600_000), updated_at: world.at(3_600_000) }
    },
    [`GET ${lightningAddressPath}/{id}/qr`]: {
      params,
      message: "QR code",
      data: { text, svg: '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 49 49">…</svg>' }
    },
    "POST /v1/bitcoin/deposit/on-chain": {
      body: { address_type: "taproot", metadata },
      message: "On-chain address created",
      data: { address: Wire.onChainAddress(onChainAddress) }
    }
  }
}

const send = ({ withdrawal, voucher, voucherUrl, metadata, at }: World): Table => {
  const body = { amount: 3000, currency: "sats", destination: withdrawal.requested.recipient }
  const confirm = { body: { ...body, metadata }, message: "Withdrawal queued", data: Wire.confirmedWithdrawal(withdrawal.requested) }
  const [row, params] = [Wire.voucher(voucher), { id: voucher.id }]
  return {
    "POST /v1/bitcoin/withdraw/estimate": {
      body,
      message: "Estimate",
      data: {
        recipient: withdrawal.requested.recipient,
        recipient_type: withdrawal.requested.recipientType,
        amount_sats: 3000,
        service_fee_sats: confirm.data.fee_sats,
        success_probability: 0.98
      }
    },
    "POST /v1/bitcoin/withdraw/confirm": confirm,
    "POST /v1/bitcoin/send/confirm": confirm,
    "POST /v1/vouchers": {
      body: { amount: 1000, currency: "sats", description: voucher.description, expiry_seconds: Voucher.expirySeconds.default, metadata },
      message: "Voucher created",
      data: { ...row, lnurl: Lnurl.encode(voucherUrl), lnurlw: voucherUrl.replace(/^https?:/, "lnurlw:") }
    },
    "GET /v1/vouchers": { message: "Vouchers", data: [row] },
    "GET /v1/vouchers/{id}": { params, message: "Voucher", data: row },
    "DELETE /v1/vouchers/{id}": {
      params,
      message: "Voucher canceled",
      data: { ...row, status: "canceled", updated_at: at(180_000) }
    }
  }
}

const read = ({ deposit, withdrawal, at }: World): Table => {
  const fee = Msat.sum(withdrawal.settled.serviceFee, withdrawal.settled.networkAllowance)
  const params = { depositID: deposit.id }
  return {
    "GET /v1/transactions/balance": {
      message: "Balance",
      data: { balance: Number((deposit.amount - withdrawal.settled.amount - fee) / 1000n) }
    },
    "GET /v1/transactions": {
      message: "Transactions",
      data: [
        Wire.transaction({ ...withdrawal.settled, type: "withdrawal", fee }),
        Wire.transaction({ ...deposit, type: "deposit", fee: Msat.zero })
      ]
    },
    "GET /v1/transactions/withdrawals/{withdrawalID}": {
      params: { withdrawalID: withdrawal.settled.id },
      message: "Withdrawal",
      data: Wire.withdrawal(withdrawal.settled)
    },
    "GET /v1/transactions/deposits/{depositID}": { params, message: "Deposit", data: Wire.deposit(deposit) },
    "GET /v1/transactions/deposits/{depositID}/payer": {
      params,
      message: "Payer",
      data: { comment: "For the coffee", payer_data: '{"name":"Satoshi"}', zap_request: null }
    },
    "GET /v1/rates": {
      message: "Exchange rates",
      data: [
        { currency: "usd", price: "97123.45", updated_at: at(-5000) },
        { currency: "eur", price: "89480.02", updated_at: at(-5000) }
      ]
    }
  }
}

const operate = ({ company, apiKey, domain, at }: World): Table => {
  const [params, key] = [{ id: company.id }, { id: apiKey.id }]
  const issued = {
    id: apiKey.id,
    key: apiKey.text,
    company_id: company.id,
    name: "till 3",
    scopes: ["receive", "read"],
    expires_at: null,
    created_at: at()
  }
  const owned = {
    domain,
    shown_by: "dns",
    verified_at: at(),
    checked_at: at(),
    lost_at: null,
    txt_name: `_satrail-verify.${domain}`,
    txt_value: `satrail-verify=${company.id}`
  }
  return {
    "POST /v1/domains": { body: { domain }, message: "Domain verified", data: owned },
    "GET /v1/domains": { message: "Domains", data: [owned] },
    "GET /tls/ask": { message: "Served here", data: { domain: "example.com" } },
    "POST /operator/companies": { body: { name: company.name, plan: company.plan }, message: "Company opened", data: company },
    "POST /operator/companies/{id}/api-keys": {
      params,
      body: { name: issued.name, scopes: issued.scopes },
      message: "API key issued",
      data: issued
    },
    "POST /operator/companies/{id}/plan": { params, body: { plan: company.plan }, message: "Plan changed", data: company },
    "POST /operator/companies/{id}/domains": {
      params,
      body: { domain },
      message: "Domain verified",
      data: { domain, company_id: company.id, verified_at: at() }
    },
    "POST /operator/api-keys/{id}/rotate": { params: key, body: { overlap_seconds: 3600 }, message: "API key replaced", data: issued },
    "DELETE /operator/api-keys/{id}": { params: key, message: "API key revoked", data: { id: apiKey.id, revoked: true } },
    "PUT /operator/reconciliation/own-funds": {
      body: { node_sats: 10_000_000, chain_sats: 1_000_000 },
      message: "Own funds stated",
      data: { node_sats: 10_000_000, chain_sats: 1_000_000 }
    },
    "GET /healthz": { message: "Up", data: { up: true } },
    "GET /readyz": { message: "Ready", data: { ready: ["store", "node", "chain"] } },
    "GET /readyz/{check}": { params: { check: "node" }, message: "Ready", data: { ready: ["node"] } }
  }
}

/** Of every endpoint of the service's own, but the operator's report, whose schema says it better. */
export const all = (world: World): Table => ({ ...receive(world), ...send(world), ...read(world), ...operate(world) })
