import { CompanyId } from "@satrail/core"
import { Change, Noun, type Written } from "@satrail/core/ports"
import { Schema } from "effect"

export const Reminder = Schema.Struct({
  id: Noun.Id,
  companyId: CompanyId.CompanyId,
  text: Schema.String,
  status: Schema.Literals(["waiting", "due"]),
  dueAtMillis: Schema.Int,
  createdAtMillis: Schema.Int,
  updatedAtMillis: Schema.Int
})
export interface Reminder extends Schema.Schema.Type<typeof Reminder> {}

export const noun = Noun.make("reminders", Reminder, { moving: ["status", "updatedAtMillis"] })

export const life = {
  due: Noun.move(noun, "due", { from: ["waiting"], to: "due", stamps: ["updatedAtMillis"], again: { in: ["due"] } })
}

/** Its table, created after `satrail migrate` by the same role. */
export const table = `
create table if not exists satrail.reminders (
  company_id uuid not null,
  id uuid not null,
  text text not null,
  status text not null check (status in ('waiting', 'due')),
  due_at_millis bigint not null,
  created_at_millis bigint not null,
  updated_at_millis bigint not null,
  primary key (company_id, id)
)`

/** The kind of the job that marks a reminder due. */
export const taskKind = "reminder"

export interface ReminderCreated extends Written.Written<"ReminderCreated", readonly [Noun.InsertOf<typeof noun>], "once", never> {}
export interface ReminderDue extends Written.Written<
  "ReminderDue",
  readonly [Noun.TransitionOf<typeof life.due>],
  "fence",
  "reminder.due"
> {}

export const created = (row: Reminder, once?: Change.Once): ReminderCreated => ({
  _tag: "ReminderCreated",
  id: row.id,
  companyId: row.companyId,
  atMillis: row.createdAtMillis,
  legs: [],
  writes: [Noun.insert(noun, row)],
  jobs: [Change.enqueue({ kind: taskKind, id: row.id, dueAtMillis: row.dueAtMillis })],
  ...(once && { once })
})

export const due = (row: Reminder, fence: Change.Fence, atMillis: number): ReminderDue => ({
  _tag: "ReminderDue",
  id: row.id,
  companyId: row.companyId,
  atMillis,
  legs: [],
  fence,
  writes: [Noun.step(life.due, row, {})],
  jobs: [Change.complete(row.id)],
  event: { type: "reminder.due", subject: row.id }
})

/** The reminder as clients receive it over HTTP and in the event. */
export const shown = ({ id, text, status, dueAtMillis }: Reminder) => ({ id, text, status, due_at: new Date(dueAtMillis).toISOString() })
