import type { Feature } from "@satrail/core/ledger/Feature"
import type { Company } from "@satrail/core/accounts/Company"
import type { Domain } from "@satrail/core/accounts/Domain"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import { isText } from "@satrail/core/base/Metadata"
import type { Answer } from "@satrail/core/ledger/Answer"
import * as Balance from "@satrail/core/ledger/Balance"
import type { Posting } from "@satrail/core/ledger/Change"
import type { Entry as AuditEntry, Link } from "@satrail/core/ledger/Audit"
import type { PublicEvents } from "@satrail/core/ledger/EventStore"
import type { Published } from "@satrail/core/ledger/LedgerReads"
import type { Spent } from "@satrail/core/ledger/Limit"
import type * as Noun from "@satrail/core/ledger/Noun"
import * as Coin from "@satrail/core/nodes/Coin"
import * as Deposit from "@satrail/core/receiving/Deposit"
import type { KeyRange } from "@satrail/core/receiving/KeyRange"
import * as OnChainAddress from "@satrail/core/receiving/OnChainAddress"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { HashMap, Option } from "effect"

/** A linked list. The cost of adding to its head does not depend on its length. */
export interface List<A> {
  readonly head: A
  readonly tail: List<A> | null
}

/** Yields the items of a list, newest first. */
export function* items<A>(list: List<A> | null): Generator<A> {
  for (let rest = list; rest !== null; rest = rest.tail) yield rest.head
}

/** A posting with the id of its transfer and its time. */
export interface Entry extends Posting {
  readonly transferId: string
  readonly atMillis: number
}

/** A task. `dueAtMillis` is also the time at which a claim on the task expires. */
export interface Work {
  readonly kind: string
  readonly companyId: CompanyId.CompanyId
  readonly lane: string
  readonly dueAtMillis: number
  readonly token: number
  readonly attempts: number
  readonly holder?: string | undefined
}

/** A stored response, and the time after which it may be deleted. The time is null if the response must be kept. */
export interface Kept extends Answer {
  readonly forgetAtMillis: number | null
}

/** A payout transaction and its state. */
export interface Signed extends Withdrawal.Candidate {
  readonly standing: "offered" | "settled" | "buried"
}

type Map<A> = HashMap.HashMap<string, A>

/** The whole store. A commit derives a new state from this one, so a refusal has nothing to undo. */
export interface State {
  /** The features whose records the store recounts. */
  readonly features: ReadonlyArray<Feature>
  /** Records by type and id. */
  readonly tables: Map<Map<Noun.Row>>
  /** Record ids by unique name. */
  readonly names: Map<string>
  /** Record ids by type and company. */
  readonly lists: Map<List<string>>
  readonly companies: Map<Company>
  readonly domains: Map<Domain>
  readonly attempts: Map<Withdrawal.Attempt>
  /** For each leading withdrawal, the other withdrawals that its transaction pays. */
  readonly followers: Map<ReadonlyArray<string>>
  /** Every transaction ever signed for a payout, oldest first. */
  readonly candidates: Map<ReadonlyArray<Signed>>
  readonly keyRanges: Map<KeyRange>
  readonly answers: Map<Kept>
  readonly cursors: Map<string>
  readonly tasks: Map<Work>
  /** The time until which each process is considered alive. */
  readonly processes: Map<number>

  readonly balances: Map<Balance.Balance>
  /** Usage of limits by a key or a company. The key of the map is returned by `spender`. */
  readonly spent: Map<ReadonlyArray<Spent>>
  /** Postings by company. */
  readonly entries: Map<List<Entry>>
  /** Events by id, without gaps. */
  readonly events: HashMap.HashMap<number, Published>
  /** Deleted events, and the last deleted event of each company; the operator's id stands for all companies. */
  readonly forgotten: HashMap.HashMap<number, true>
  readonly forgottenUntil: Map<bigint>
  /** Public events by id. */
  readonly publicEvents: Map<PublicEvents>
  /** The audit log and the links of its chains, by entry id. */
  readonly audit: HashMap.HashMap<number, AuditEntry>
  readonly links: HashMap.HashMap<number, Link>

  /** For each reserved coin, the payout that spends it. */
  readonly withdrawalByCoin: Map<string>
}

export const empty: State = {
  features: [],
  tables: HashMap.empty(),
  names: HashMap.empty(),
  lists: HashMap.empty(),
  companies: HashMap.empty(),
  domains: HashMap.empty(),
  attempts: HashMap.empty(),
  followers: HashMap.empty(),
  candidates: HashMap.empty(),
  keyRanges: HashMap.empty(),
  answers: HashMap.empty(),
  cursors: HashMap.empty(),
  tasks: HashMap.empty(),
  processes: HashMap.empty(),
  balances: HashMap.empty(),
  spent: HashMap.empty(),
  entries: HashMap.empty(),
  events: HashMap.empty(),
  forgotten: HashMap.empty(),
  forgottenUntil: HashMap.empty(),
  publicEvents: HashMap.empty(),
  audit: HashMap.empty(),
  links: HashMap.empty(),
  withdrawalByCoin: HashMap.empty()
}

/** Adds items to the head of the list at this key. */
export const push = <A>(lists: Map<List<A>>, key: string, ...more: ReadonlyArray<A>): Map<List<A>> => {
  let list = Option.getOrNull(HashMap.get(lists, key))
  for (const head of more) list = { head, tail: list }
  return list === null ? lists : HashMap.set(lists, key, list)
}

/** Returns the items of the list at this key, newest first. */
export const listed = <A>(lists: Map<List<A>>, key: string): Iterable<A> =>
  items(Option.getOrNull(HashMap.get(lists, key)))

/** Returns the records of a type, by id. */
export const of = <A extends Noun.Row>(state: State, noun: Noun.Noun<A>): Map<A> =>
  // oxlint-disable-next-line typescript/consistent-type-assertions -- `put` stores records only under their own noun
  Option.getOrElse(HashMap.get(state.tables, noun.name), HashMap.empty) as Map<A>

export const all = <A extends Noun.Row>(state: State, noun: Noun.Noun<A>): Array<A> =>
  HashMap.toValues(of(state, noun))

/** Returns a company's records of a type, newest first. */
export const ownedBy = <A extends Noun.Row>(
  state: State,
  noun: Noun.Noun<A>,
  companyId: CompanyId.CompanyId
): Array<A> => {
  const rows = of(state, noun)
  return Array.from(listed(state.lists, `${noun.name} ${companyId}`)).flatMap((id) =>
    Option.toArray(HashMap.get(rows, id))
  )
}

/** Returns the records that a company may read (`Noun.sharedWith`), newest first. */
export const readBy = <A extends Noun.Row>(
  state: State,
  noun: Noun.Noun<A>,
  companyId: CompanyId.CompanyId
): Array<A> =>
  noun.sharedWith === undefined
    ? ownedBy(state, noun, companyId)
    : all(state, noun)
        .filter((row) => mayRead(noun, row, companyId))
        .toSorted((a, b) => (a.id < b.id ? 1 : -1))

const mayRead = ({ sharedWith }: Noun.Noun, row: Noun.Row, companyId: CompanyId.CompanyId): boolean =>
  row.companyId === companyId || (sharedWith !== undefined && Reflect.get(row, sharedWith) === companyId)

/** Returns a record that a company may read. */
export const read = <A extends Noun.Row>(
  state: State,
  noun: Noun.Noun<A>,
  companyId: CompanyId.CompanyId,
  id: string
): Option.Option<A> => Option.filter(HashMap.get(of(state, noun), id), (row) => mayRead(noun, row, companyId))

/** Returns a company's record. */
export const get = <A extends Noun.Row>(
  state: State,
  noun: Noun.Noun<A>,
  companyId: CompanyId.CompanyId,
  id: string
): Option.Option<A> => Option.filter(HashMap.get(of(state, noun), id), (row) => row.companyId === companyId)

const nameOf = (noun: Noun.Noun, members: ReadonlyArray<string>, record: object): string | undefined => {
  const values = members.map((member): unknown => {
    const value: unknown = Reflect.get(record, member)
    return typeof value === "bigint" ? String(value) : value
  })
  return values.includes(null) ? undefined : JSON.stringify([noun.name, members, values])
}

const namesOf = (noun: Noun.Noun, record: Noun.Row): ReadonlyArray<string> =>
  noun.unique.flatMap((members) => nameOf(noun, members, record) ?? [])

/** Returns the record with this unique name, whichever company owns it. */
export const named = <A extends Noun.Row>(
  state: State,
  noun: Noun.Noun<A>,
  name: Partial<NoInfer<A>>
): Option.Option<A> => {
  const key = nameOf(noun, Object.keys(name), name)
  return key === undefined
    ? Option.none()
    : Option.flatMap(HashMap.get(state.names, key), (id) => HashMap.get(of(state, noun), id))
}

/** Returns whether any company's record has one of the unique names of this record, which is not stored yet. */
export const isTaken = (state: State, noun: Noun.Noun, record: Noun.Row): boolean =>
  namesOf(noun, record).some((name) => HashMap.has(state.names, name))

/** Throws if PostgreSQL could not store a record, so that tests in memory find such a bug too. */
const check = <A extends Noun.Row>({ name, members }: Noun.Noun<A>, record: A): void => {
  for (const [member] of members) {
    const value: unknown = Reflect.get(record, member)
    if (typeof value === "number" && !Number.isSafeInteger(value))
      throw new Error(`${name}.${member} must be an integer`)
    if (typeof value === "string" && !isText(value))
      throw new Error(`${name}.${member} must be well-formed text without NUL characters`)
  }
}

/** Stores a record, and updates names and lists. */
export const put = <A extends Noun.Row>(state: State, noun: Noun.Noun<A>, record: A): State => {
  check(noun, record)
  const rows = of(state, noun)
  return {
    ...state,
    tables: HashMap.set(state.tables, noun.name, HashMap.set(rows, record.id, record)),
    names: namesOf(noun, record).reduce((all, name) => HashMap.set(all, name, record.id), state.names),
    lists: HashMap.has(rows, record.id)
      ? state.lists
      : push(state.lists, `${noun.name} ${record.companyId}`, record.id)
  }
}

/** Removes a record and its names. */
export const remove = <A extends Noun.Row>(state: State, noun: Noun.Noun<A>, record: A): State => ({
  ...state,
  tables: HashMap.set(state.tables, noun.name, HashMap.remove(of(state, noun), record.id)),
  names: namesOf(noun, record).reduce((all, name) => HashMap.remove(all, name), state.names)
})

/** Returns a company's balance; empty if the company does not exist. */
export const balanceOf = (state: State, companyId: CompanyId.CompanyId): Balance.Balance =>
  Option.getOrElse(HashMap.get(state.balances, companyId), () => Balance.empty)

/** The key under which a subject's usage is stored. */
export const spender = (companyId: CompanyId.CompanyId, subject: string): string => `${companyId} ${subject}`

/** Returns the usage of limits by a subject of a company, such as a key. */
export const spentBy = (
  state: State,
  companyId: CompanyId.CompanyId,
  subject: string
): ReadonlyArray<Spent> => Option.getOrElse(HashMap.get(state.spent, spender(companyId, subject)), () => [])

/**
 * Returns the key under which a response is stored. Idempotency keys contain only visible characters and owners
 * are ids, so a space can separate them.
 */
export const answerAddress = (owner: CompanyId.CompanyId, key: string): string => `${owner} ${key}`

/** Returns a withdrawal's followers, by id. */
export const followers = (state: State, withdrawalId: string): ReadonlyArray<Withdrawal.Withdrawal> => {
  const rows = of(state, Withdrawal.noun)
  const ids = Option.getOrElse(HashMap.get(state.followers, withdrawalId), () => [])
  return ids.toSorted().map((id) => HashMap.getUnsafe(rows, id))
}

/** Returns every transaction ever signed for a payout, oldest first. */
export const candidates = (state: State, withdrawalId: string): ReadonlyArray<Signed> =>
  Option.getOrElse(HashMap.get(state.candidates, withdrawalId), () => [])

/** Returns the start of the next range of keys of this account and branch. */
export const nextKey = (state: State, of: Pick<KeyRange, "wallet" | "type" | "branch">): number =>
  Math.max(
    0,
    ...Array.from(HashMap.values(state.keyRanges))
      .filter(({ wallet, type, branch }) => wallet === of.wallet && type === of.type && branch === of.branch)
      .map(({ next }) => next)
  )

const creditedCoins = (state: State, wallet: string): ReadonlyArray<Coin.Coin> => {
  const addresses = new Map(all(state, OnChainAddress.noun).map((row) => [row.address, row]))
  return all(state, Deposit.noun).flatMap(({ chainTxId, vout, status, recipient, amount }) => {
    const address = status === "settled" ? addresses.get(recipient) : undefined
    if (address?.nodeId !== wallet || chainTxId === null || vout === null) return []
    const { scriptPubKey, type, index } = address
    return [
      {
        outpoint: Coin.outpoint(chainTxId, vout),
        scriptPubKey,
        amount,
        type,
        branch: 0,
        index,
        isConfirmed: true
      }
    ]
  })
}

const changeCoins = (state: State, wallet: string): ReadonlyArray<Coin.Coin> =>
  Array.from(HashMap.entries(state.candidates)).flatMap(([id, all]) =>
    all.flatMap(({ txId, change, standing, isDeep }) => {
      const isOffered =
        standing === "offered" &&
        !isDeep &&
        all.length === 1 &&
        HashMap.getUnsafe(of(state, Withdrawal.noun), id).status === "pending"
      if (change === null || change.wallet !== wallet || (standing === "offered" && !isOffered)) return []
      const { vout, wallet: _, ...coin } = change
      return [{ ...coin, outpoint: Coin.outpoint(txId, vout), isConfirmed: !isOffered }]
    })
  )

/** Returns a wallet's spendable coins, largest first. */
export const coins = (state: State, wallet: string): ReadonlyArray<Coin.Coin> =>
  [...creditedCoins(state, wallet), ...changeCoins(state, wallet)]
    .filter(({ outpoint }) => !HashMap.has(state.withdrawalByCoin, outpoint))
    .toSorted((a, b) =>
      a.amount === b.amount ? (a.outpoint < b.outpoint ? -1 : 1) : a.amount > b.amount ? -1 : 1
    )
