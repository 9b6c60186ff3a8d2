// Made by `npm run docs` from the formats in the OpenAPI documents. Don't edit.

/** Matches the fields that are amounts in satoshis. */
export const isAmount = /_sats$|^balance$/

/** The amounts that are required or due, and so rounded up, without their unit. */
export const due = "base fee fees late_fees min needed network_fees service_fee service_fees".split(" ")

/** The amounts of requests, without their unit. */
export const asked = "approval_above base day fee hour max_fee month per_withdrawal".split(" ")

/** The currency of an amount. */
export type Currency =
  | "sats"
  | "btc"
  | "usd"
  | "eur"
  | "gbp"
  | "jpy"
  | "cny"
  | "cad"
  | "aud"
  | "chf"
  | "hkd"
  | "nzd"
