import { Msat } from "@satrail/bitcoin"
import { CompanyId } from "@satrail/service"
import { Change, Noun, type Written } from "@satrail/core/ports"
import { Schema } from "effect"

/** Money that a company puts aside until a time. It takes the money out itself, or a worker opens the box when it is due. */
export const Box = Schema.Struct({
  id: Noun.Id,
  companyId: CompanyId.CompanyId,
  /** The ledger transfer of the money. */
  ledgerTxId: Noun.Id,
  amount: Msat.Msat,
  label: Schema.String,
  status: Schema.Literals(["locked", "open"]),
  opensAtMillis: Schema.Int,
  createdAtMillis: Schema.Int,
  updatedAtMillis: Schema.Int
})
export interface Box extends Schema.Schema.Type<typeof Box> {}

export const noun = Noun.make("boxes", Box, { moving: ["status", "updatedAtMillis"] })

export const life = {
  opened: Noun.move(noun, "opened", {
    from: ["locked"],
    to: "open",
    stamps: ["updatedAtMillis"],
    again: { in: ["open"] }
  })
}

/** Its table, which the service creates when it starts. */
export const table = `
create table if not exists satrail.boxes (
  company_id uuid not null,
  id uuid not null,
  ledger_tx_id uuid not null,
  amount bigint not null check (amount > 0),
  label text not null,
  status text not null check (status in ('locked', 'open')),
  opens_at_millis bigint not null,
  created_at_millis bigint not null,
  updated_at_millis bigint not null,
  primary key (company_id, id)
)`

/** The kind of the job that opens a box. */
export const taskKind = "box"

export interface BoxFilled extends Written.Written<
  "BoxFilled",
  readonly [Noun.InsertOf<typeof noun>],
  "money" | "freeze" | "once",
  never
> {}
export interface BoxOpened extends Written.Written<
  "BoxOpened",
  readonly [Noun.TransitionOf<typeof life.opened>],
  "credit" | "fence",
  "box.opened"
> {}
export interface BoxTaken extends Written.Written<
  "BoxTaken",
  readonly [Noun.TransitionOf<typeof life.opened>],
  "credit",
  "box.opened"
> {}

const parts = ({ id, companyId, ledgerTxId }: Box, atMillis: number) => ({
  id,
  companyId,
  atMillis,
  transferId: ledgerTxId
})

/** Moves the amount from `available` to `held`. */
export const filled = (row: Box, once?: Change.Once): BoxFilled => ({
  _tag: "BoxFilled",
  unlessFrozen: true,
  ...parts(row, row.createdAtMillis),
  legs: [{ companyId: row.companyId, postings: [{ from: "available", to: "held", amount: row.amount }] }],
  writes: [Noun.insert(noun, row)],
  jobs: [Change.enqueue({ kind: taskKind, id: row.id, dueAtMillis: row.opensAtMillis })],
  ...(once && { once })
})

const back = (row: Box, atMillis: number) => ({
  ...parts(row, atMillis),
  legs: [
    { companyId: row.companyId, postings: [{ from: "held", to: "available", amount: row.amount }] as const }
  ],
  writes: [Noun.step(life.opened, row, {})] as const,
  jobs: [Change.complete(row.id)],
  event: { type: "box.opened", subject: row.id } as const
})

/** Moves the amount back at the time at which the box opens. */
export const opened = (row: Box, fence: Change.Fence, atMillis: number): BoxOpened => ({
  _tag: "BoxOpened",
  ...back(row, atMillis),
  fence
})

/** Moves the amount back when the company asks for it. */
export const taken = (row: Box, atMillis: number): BoxTaken => ({ _tag: "BoxTaken", ...back(row, atMillis) })

/** The box as clients receive it over HTTP and in the event. */
export const shown = ({ id, amount, label, status, opensAtMillis }: Box) => ({
  id,
  amount_sats: Number(Msat.toSats(amount)),
  label,
  status,
  opens_at: new Date(opensAtMillis).toISOString()
})
