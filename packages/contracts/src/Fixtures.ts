import { assert } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as Preimage from "@satrail/bitcoin/Preimage"
import * as TxId from "@satrail/bitcoin/TxId"
import * as ApiKey from "@satrail/core/accounts/ApiKey"
import * as Company from "@satrail/core/accounts/Company"
import type { Domain } from "@satrail/core/accounts/Domain"
import * as CompanyId from "@satrail/core/base/CompanyId"
import { Entropy } from "@satrail/core/base/Entropy"
import * as Id from "@satrail/core/base/Id"
import type { Storable } from "@satrail/core/service/Changes"
import type { Fence, Once } from "@satrail/core/ledger/Change"
import { Journal } from "@satrail/core/ledger/Journal"
import { fence, type Task, Tasks } from "@satrail/core/ledger/Tasks"
import type * as Coin from "@satrail/core/nodes/Coin"
import type { Deposit } from "@satrail/core/receiving/Deposit"
import * as Invoice from "@satrail/core/receiving/Invoice"
import type { LightningAddress } from "@satrail/core/receiving/LightningAddress"
import type { OnChainAddress } from "@satrail/core/receiving/OnChainAddress"
import { Records } from "@satrail/core/service/Records"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { Clock, Effect, Option } from "effect"
import * as Rows from "./Rows.ts"
import * as Purpose from "@satrail/core/receiving/Purpose"

// Rows and Changes for the contract tests. Each test creates rows with new ids, so the tests are independent of
// each other. A store doesn't validate hashes, scripts and keys, so any hexadecimal string of the right length
// is valid.

/** Returns this many random bytes, in hexadecimal. */
export const hex = (size: number) => Effect.map(Entropy, (entropy) => Id.toHex(entropy(size)))

/** A transaction id that belongs to no transaction. */
export const txId = Effect.map(hex(32), TxId.make)

/** A preimage that belongs to no payment. */
export const preimage = Effect.map(hex(32), Preimage.make)

/** A payment hash without a known preimage. */
export const paymentHash = Effect.map(hex(32), PaymentHash.make)

/**
 * A random time between 1970 and 2006. A claim takes everything that is due, so tasks due at this time are
 * claimed without other tests' tasks.
 */
export const past = Effect.map(hex(5), (text) => 1_000_000_000 + Number.parseInt(text, 16))

/** Returns the id of a company that is never created. */
export const unopened = Effect.map(Id.make, CompanyId.make)

/** A company that is not stored yet. */
export const company = Effect.gen(function* (): Effect.fn.Return<Company.Company> {
  return {
    id: yield* unopened,
    name: "Acme",
    plan: "free",
    createdAtMillis: yield* Clock.currentTimeMillis,
    limits: null,
    frozen: null,
    loosening: null,
    fees: null,
    feesRevision: 0
  }
})

/** Creates a company and returns its id. */
export const open = Effect.gen(function* () {
  const row = yield* company
  yield* (yield* Journal).commit(Company.opened(row))
  return row.id
})

/** A key that is not stored yet. */
export const apiKey = Effect.fnUntraced(function* (
  companyId: CompanyId.CompanyId,
  fields: Partial<ApiKey.ApiKey> = {}
): Effect.fn.Return<ApiKey.ApiKey> {
  const { id, secretHash } = ApiKey.generate("regtest", yield* Entropy)
  const createdAtMillis = yield* Clock.currentTimeMillis
  return Rows.apiKey({ id, secretHash, companyId, scopes: ["read", "receive"], createdAtMillis, ...fields })
})

/** A Lightning address that is not stored yet. */
export const lightningAddress = Effect.fnUntraced(function* (
  companyId: CompanyId.CompanyId
): Effect.fn.Return<LightningAddress> {
  const atMillis = yield* Clock.currentTimeMillis
  return {
    id: yield* Id.make,
    companyId,
    handle: `h${yield* hex(8)}`,
    domain: "pay.example",
    minSendable: null,
    maxSendable: null,
    successMessage: null,
    splits: null,
    metadata: { shelf: "3" },
    createdAtMillis: atMillis,
    updatedAtMillis: atMillis,
    lastUsedAtMillis: null,
    deletedAtMillis: null
  }
})

/** A domain that is not stored yet, verified by DNS at a fixed time. */
export const domain = Effect.fnUntraced(function* (
  companyId: CompanyId.CompanyId,
  fields: Partial<Domain> = {}
): Effect.fn.Return<Domain> {
  const atMillis = 1_700_000_000_000
  return {
    domain: `${yield* hex(8)}.example`,
    companyId,
    shownBy: "dns",
    verifiedAtMillis: atMillis,
    checkedAtMillis: atMillis,
    lostAtMillis: null,
    ...fields
  }
})

/** An on-chain address that is not stored yet. */
export const onChainAddress = Effect.fnUntraced(function* (
  companyId: CompanyId.CompanyId
): Effect.fn.Return<OnChainAddress> {
  const key = yield* hex(20)
  return {
    id: yield* Id.make,
    companyId,
    nodeId: "d34db33f",
    address: `bcrt1q${key}`,
    scriptPubKey: `0014${key}`,
    type: "segwit",
    index: 7,
    metadata: { shelf: "3" },
    ...Purpose.none,
    createdAtMillis: yield* Clock.currentTimeMillis
  }
})

/** An invoice that is not stored yet. */
export const invoice = Effect.fnUntraced(function* (
  companyId: CompanyId.CompanyId,
  sats: number,
  fields: Partial<Invoice.Invoice> = {}
): Effect.fn.Return<Invoice.Invoice> {
  const atMillis = yield* Clock.currentTimeMillis
  return Rows.invoice({
    id: yield* Id.make,
    companyId,
    nodeId: `02${yield* hex(32)}`,
    memo: "coffee",
    amount: Msat.fromSats(sats),
    paymentHash: yield* paymentHash,
    paymentRequest: `lnbcrt1${yield* hex(8)}`,
    metadata: { order: "21" },
    createdAtMillis: atMillis,
    expiresAtMillis: atMillis + 3_600_000,
    ...fields
  })
})

/** Creates an invoice. */
export const created = Effect.fnUntraced(function* (
  companyId: CompanyId.CompanyId,
  sats: number,
  fields: Partial<Invoice.Invoice> = {}
) {
  const row = yield* invoice(companyId, sats, fields)
  yield* (yield* Journal).commit(Invoice.created(row))
  return row
})

/** A deposit received over Lightning or by an internal transfer, for an invoice or address of this company. */
export const arrival = Effect.fnUntraced(function* (
  companyId: CompanyId.CompanyId,
  sats: number
): Effect.fn.Return<Deposit> {
  const atMillis = yield* Clock.currentTimeMillis
  return Rows.deposit({
    id: yield* Id.make,
    companyId,
    ledgerTxId: yield* Id.make,
    recipient: "lnbcrt1…",
    amount: Msat.fromSats(sats),
    rail: "lightning",
    status: "settled",
    chainTxId: null,
    vout: null,
    height: null,
    createdAtMillis: atMillis,
    updatedAtMillis: atMillis
  })
})

/** A payment that the node received without an open invoice. */
export const stray = Effect.fnUntraced(function* (
  companyId: CompanyId.CompanyId,
  sats: number
): Effect.fn.Return<Invoice.Unmatched> {
  return {
    id: yield* Id.make,
    companyId,
    paymentHash: yield* paymentHash,
    received: Msat.fromSats(sats),
    reason: "paid twice",
    createdAtMillis: yield* past
  }
})

/** Pays an invoice with this many sats. */
export const payment = Effect.fnUntraced(function* (
  invoice: Invoice.Invoice,
  sats: number,
  proof?: Preimage.Preimage
) {
  const deposit = { ...(yield* arrival(invoice.companyId, sats)), lightningInvoiceId: invoice.id }
  return Invoice.settled(invoice, deposit, proof ?? (yield* preimage))
})

/** Creates a company with a balance of `sats`. */
export const companyWith = Effect.fnUntraced(function* (sats: number) {
  const companyId = yield* open
  yield* (yield* Journal).commit(yield* payment(yield* created(companyId, sats), sats))
  return companyId
})

/** An output that pays a company, when first seen and not yet in a block. */
export const output = Effect.fnUntraced(function* (
  companyId: CompanyId.CompanyId,
  sats: number,
  fields: Partial<Deposit> = {}
): Effect.fn.Return<Deposit> {
  const row = yield* arrival(companyId, sats)
  return { ...row, rail: "on_chain", status: "pending", chainTxId: yield* txId, vout: 1, ...fields }
})

/** A requested withdrawal without fees, so that it holds exactly its amount. */
export const withdrawal = Effect.fnUntraced(function* (
  companyId: CompanyId.CompanyId,
  sats: number,
  fields: Partial<Withdrawal.Withdrawal> = {}
): Effect.fn.Return<Withdrawal.Withdrawal> {
  const atMillis = fields.createdAtMillis ?? (yield* Clock.currentTimeMillis)
  return Rows.withdrawal({
    id: yield* Id.make,
    companyId,
    ledgerTxId: yield* Id.make,
    amount: Msat.fromSats(sats),
    serviceFee: Msat.zero,
    networkAllowance: Msat.zero,
    metadata: { payroll: "may" },
    createdAtMillis: atMillis,
    ...fields
  })
})

/** Fields of a withdrawal to an on-chain address. */
export const onChain = { rail: "on_chain", recipientType: "chain_address" } as const

/** A withdrawal in progress, and the claim on its task. */
export interface Started {
  readonly withdrawal: Withdrawal.Withdrawal
  readonly task: Task
  readonly fence: Fence
}

/**
 * Claims the task of this withdrawal, which has been due since the withdrawal's random past time. The claim
 * lasts longer than the test.
 */
export const claim = Effect.fnUntraced(function* (
  withdrawal: Withdrawal.Withdrawal
): Effect.fn.Return<Started, unknown, Tasks> {
  const tasks = yield* (yield* Tasks).claim({
    kind: Withdrawal.taskKind,
    nowMillis: withdrawal.createdAtMillis,
    leaseMillis: 4_000_000_000_000,
    limit: 1000
  })
  const task = tasks.find(({ id }) => id === withdrawal.id)
  if (task === undefined) return assert.fail(`no task for ${withdrawal.id}`)
  return { withdrawal, task, fence: fence(task) }
})

/** Creates a withdrawal whose funds are held and whose task is claimed by a worker. */
export const begin = Effect.fnUntraced(function* (
  companyId: CompanyId.CompanyId,
  sats: number,
  fields: Partial<Withdrawal.Withdrawal> = {}
) {
  const row = yield* withdrawal(companyId, sats, { createdAtMillis: yield* past, ...fields })
  yield* (yield* Journal).commit(Withdrawal.requested(row))
  return yield* claim(row)
})

/** Has another worker claim the task. */
export const takeOver = Effect.fnUntraced(function* ({ withdrawal, task }: Started) {
  assert.isTrue(yield* (yield* Tasks).postpone(task, withdrawal.createdAtMillis))
  return yield* claim(withdrawal)
})

/** A Lightning payment attempt. */
export const lightningAttempt = Effect.gen(function* (): Effect.fn.Return<
  Withdrawal.Attempt & { readonly _tag: "Lightning" }
> {
  return {
    _tag: "Lightning",
    paymentHash: yield* paymentHash,
    paymentRequest: `lnbcrt1${yield* hex(8)}`,
    successAction: { tag: "message", message: "café ☕ \"'\\" }
  }
})

/** An on-chain payment attempt: two coins, with a fee of 2 sats. */
export const chainAttempt = Effect.gen(function* (): Effect.fn.Return<
  Withdrawal.Attempt & { readonly _tag: "Chain" }
> {
  const coins = [`${yield* hex(32)}:0`, `${yield* hex(32)}:3`]
  const [psbt, wallet, scriptPubKey] = [yield* hex(60), yield* hex(4), `5120${yield* hex(32)}`]
  const change: Coin.Change = {
    wallet,
    vout: 1,
    scriptPubKey,
    amount: Msat.fromSats(7),
    type: "taproot",
    branch: 1,
    index: 3
  }
  return {
    _tag: "Chain",
    txId: yield* txId,
    rawTx: yield* hex(120),
    psbt,
    coins,
    networkFee: Msat.fromSats(2),
    change,
    isDeep: false
  }
})

/** Proof of a payment whose route cost this many sats. */
export const proof = (networkFee = 0) =>
  Effect.map(preimage, (preimage): Withdrawal.Settlement => ({
    preimage,
    chainTxId: null,
    networkFee: Msat.fromSats(networkFee),
    paymentIndex: "4"
  }))

/** Claims this invoice for the withdrawal. No other payment of the invoice is accepted afterward. */
export const claimFor = Effect.fnUntraced(function* ({ withdrawal, fence }: Started, row: Invoice.Invoice) {
  yield* (yield* Journal).commit(Invoice.claimed(row, withdrawal.id, fence, withdrawal.createdAtMillis))
})

/** Pays this invoice with the withdrawal, internally. */
export const transfer = Effect.fnUntraced(function* (
  { withdrawal, fence }: Started,
  { id, companyId, paymentHash, paymentRequest }: Invoice.Invoice
) {
  const deposit: Deposit = {
    ...(yield* arrival(companyId, 0)),
    amount: withdrawal.amount,
    lightningInvoiceId: id
  }
  const to = {
    deposit,
    invoice: { id, paymentHash, paymentRequest },
    preimage: yield* preimage,
    lightningAddressId: null
  }
  return Withdrawal.transferred(withdrawal, to, fence, withdrawal.createdAtMillis + 1)
})

/** An idempotency key and its stored response. */
export const once = (
  companyId: CompanyId.CompanyId,
  key: string,
  fingerprint = "body",
  fields: Partial<Once> = {}
): Once => ({
  owner: companyId,
  key,
  fingerprint,
  answer: `answer to ${fingerprint}`,
  forgetAtMillis: null,
  ...fields
})

/** Returns the result of a commit as one word: `Applied`, `Replayed`, or the tag of the refusal. */
export const verdict = Effect.fnUntraced(function* (change: Storable) {
  const journal = yield* Journal
  return yield* Effect.match(journal.commit(change), {
    onSuccess: ({ _tag }): string => _tag,
    onFailure: ({ _tag }): string => _tag
  })
})

/** Counts how often each result occurs. */
export const tally = (words: ReadonlyArray<string>): Record<string, number> => {
  const counts: Record<string, number> = {}
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1
  return counts
}

/**
 * Returns the events of one company, oldest first. A store may withhold committed events while its server has
 * an older open transaction, such as another test's, so this waits until none are withheld.
 */
export const eventsOf = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId) {
  const { eventsOf: ofCompany, unreadableSinceMillis } = yield* Records
  for (let asked = 0; asked < 1000 && (yield* unreadableSinceMillis) !== null; asked++) yield* Effect.yieldNow
  return yield* ofCompany(companyId, 0n, 1_000_000)
})

/** Reads everything in a company's books and lists, and the operator's accounts. */
const everything = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId) {
  const records = yield* Records
  return {
    audit: yield* records.audit(companyId),
    transactions: yield* records.transactions(companyId, { limit: 1000 }),
    events: yield* eventsOf(companyId),
    accounts: yield* records.trialBalance
  }
})

/** Commits a Change that must have no effect: not even its idempotency key is stored. Returns the result. */
export const unchanged = Effect.fnUntraced(function* (change: Storable) {
  const records = yield* Records
  const followers = "followers" in change ? change.followers : []
  const companyIds = [change.companyId, ...[...change.legs, ...followers].map(({ companyId }) => companyId)]
  const answer = Effect.suspend(() =>
    change.once === undefined
      ? Effect.succeed(Option.none())
      : records.answer(change.once.owner, change.once.key)
  )
  const look = Effect.gen(function* () {
    return [yield* answer, yield* Effect.forEach(companyIds, everything)]
  })
  const before = yield* look
  const word = yield* verdict(change)
  assert.deepStrictEqual(yield* look, before)
  return word
})

/** Reads a row that must exist. */
export const found = <A, E, R>(read: Effect.Effect<Option.Option<A>, E, R>) =>
  Effect.map(read, (row) => Option.getOrThrowWith(row, () => new Error("nothing there")))

/** Sorts by id. */
export const byId = <A extends { readonly id: string }>(rows: ReadonlyArray<A>): ReadonlyArray<A> =>
  rows.toSorted((a, b) => (a.id < b.id ? -1 : 1))

/** Commits these Changes, and asserts that each is applied. */
export const committed = Effect.fnUntraced(function* (
  ...changes: ReadonlyArray<Parameters<typeof verdict>[0]>
) {
  for (const change of changes) assert.strictEqual(yield* verdict(change), "Applied", change._tag)
})
