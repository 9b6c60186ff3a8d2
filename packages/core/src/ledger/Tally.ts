import * as Msat from "@satrail/bitcoin/Msat"
import { Effect, Schema } from "effect"
import { type Account, accounts } from "./Change.ts"

export const byAccount = <A>(of: (account: Account) => A): { readonly [account in Account]: A } =>
  // oxlint-disable-next-line typescript/consistent-type-assertions -- `accounts` lists every account
  Object.fromEntries(accounts.map((account) => [account, of(account)])) as {
    readonly [account in Account]: A
  }

/**
 * Totals ever posted into and out of an account. Both only grow, so the difference between two tallies is the
 * amount posted between them.
 */
const Turnover = Schema.Struct({ into: Msat.FromString, out: Msat.FromString })
export interface Turnover extends Schema.Schema.Type<typeof Turnover> {}

// A tally stored by an earlier version has no entries of accounts that were added since.
const Turnovers = Schema.Struct(
  byAccount(() => Turnover.pipe(Schema.withDecodingDefaultKey(Effect.succeed({ into: "0", out: "0" }))))
)
export interface Turnovers extends Schema.Schema.Type<typeof Turnovers> {}

/** Totals of all entries of all companies, with the position from which to continue counting. */
export const Tally = Schema.Struct({
  accounts: Turnovers,
  /** Set by the store: the position up to which entries are final, and the totals there. */
  mark: Schema.String,
  counted: Turnovers
})
export interface Tally extends Schema.Schema.Type<typeof Tally> {}

export const none: Turnover = { into: Msat.zero, out: Msat.zero }
export const nothing: Turnovers = byAccount(() => none)

/** Adds two sets of totals. */
export const add = (a: Turnovers, b: Turnovers): Turnovers =>
  byAccount((account) => ({
    into: Msat.sum(a[account].into, b[account].into),
    out: Msat.sum(a[account].out, b[account].out)
  }))

/** Returns the balance of an account between companies that is not zero; zero if there is none, as there should be. */
export const between = ({ internal, transfers }: Pick<Turnovers, "internal" | "transfers">): Msat.Msat =>
  net(internal) === 0n ? net(transfers) : net(internal)

/**
 * Returns the balance of an account. It is negative for an asset, because incoming money is debited to it.
 */
export const net = ({ into, out }: Turnover): Msat.Msat => Msat.make(into - out)
