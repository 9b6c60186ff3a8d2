import { assert } from "@effect/vitest"
import { createHash } from "node:crypto"
import { type Answer, type Company, eventually } from "./Service.ts"

/** The payment hash of a preimage (BOLT 4, "Payment Preimage"). */
export const hashOf = (preimage: string): string =>
  createHash("sha256").update(Buffer.from(preimage, "hex")).digest("hex")

/** Creates `count` values concurrently. */
export const times = <A>(count: number, make: (at: number) => Promise<A>): Promise<ReadonlyArray<A>> =>
  Promise.all(Array.from({ length: count }, (_, at) => make(at)))

/** Returns the data of a response that must have this status. */
export const data = async (status: number, answering: Promise<Answer>) => {
  const answer = await answering
  assert.strictEqual(answer.status, status, answer.text)
  return answer.data
}

/** Fetches a record or a list of the company until it is as expected, and returns it. */
export const until = (company: Company, path: string, isSo: (data: Answer["data"]) => boolean) =>
  eventually(`GET ${path} as expected`, () => data(200, company.get(path)), isSo)

/** The status and error code of a rejected request. */
export const refusal = async (answering: Promise<Answer>): Promise<readonly [number, string | undefined]> => {
  const { status, code } = await answering
  return [status, code]
}

export const balance = async (company: Company): Promise<number> =>
  (await data(200, company.get("/v1/transactions/balance"))).balance

export const hasBalance = (company: Company, sats: number) =>
  until(company, "/v1/transactions/balance", ({ balance }) => balance === sats)

export const transactions = (company: Company, query = "limit=1000") =>
  data(200, company.get(`/v1/transactions?${query}`))

export const invoice = (company: Company, sats: number) =>
  data(201, company.post("/v1/bitcoin/deposit/lightning-invoice", { amount: sats, currency: "sats" }))

export const fetchInvoice = (company: Company, id: string) =>
  data(200, company.get(`/v1/bitcoin/deposit/lightning-invoice/${id}`))

/** Pays the company from an external node. */
export const fund = async (company: Company, sats: number): Promise<void> => {
  const before = await balance(company)
  await data(
    200,
    company.post("/sandbox/pay", { payment_request: (await invoice(company, sats)).payment_request })
  )
  await hasBalance(company, before + sats)
}

/** Creates an external payment destination. */
export const outside = (
  company: Company,
  type: string,
  options: { readonly amount_sats?: number; readonly behaviour?: string } = {}
) => data(201, company.post("/sandbox/destination", { type, ...options }))

export const estimate = (company: Company, destination: string, sats: number) =>
  data(200, company.post("/v1/bitcoin/withdraw/estimate", { amount: sats, currency: "sats", destination }))

export const confirm = (
  company: Company,
  destination: string,
  sats: number,
  headers: Record<string, string> = {}
) => company.post("/v1/bitcoin/withdraw/confirm", { amount: sats, currency: "sats", destination }, headers)

export const fetchWithdrawal = (company: Company, id: string) =>
  data(200, company.get(`/v1/transactions/withdrawals/${id}`))

/** Waits until a withdrawal is final and checks its status. */
export const ends = async (company: Company, id: string, status: "settled" | "failed") => {
  const withdrawal = await until(
    company,
    `/v1/transactions/withdrawals/${id}`,
    (seen) => seen.status !== "pending"
  )
  assert.strictEqual(withdrawal.status, status, JSON.stringify(withdrawal))
  return withdrawal
}

/**
 * The total amount that these withdrawals debit, in millisatoshis: each withdrawal's amount plus its confirmed
 * fee.
 */
const taken = (
  withdrawals: ReadonlyArray<{ readonly amount_sats: number; readonly fee_sats: number }>
): number =>
  withdrawals.reduce(
    (sum, { amount_sats: amount, fee_sats: fee }) => sum + amount * 1000 + Math.round(fee * 1000),
    0
  )

/** What remains of a balance of `sats` after these withdrawals, rounded as in a balance response. */
export const without = (sats: number, ...withdrawals: Parameters<typeof taken>[0]): number =>
  Math.floor((sats * 1000 - taken(withdrawals)) / 1000)
