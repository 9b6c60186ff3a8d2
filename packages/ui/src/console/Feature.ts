import type { ComponentChildren } from "preact"
import type { Alarm, AlarmName } from "./Alarm.ts"
import type { Entry, Section } from "./Frame.ts"
import type { Elsewhere, OperatorVisit, Page, Visit } from "./Page.ts"
import type { Payment } from "./Api.ts"
import type { Concern, Fact, Icon, Moment, Badge } from "./Parts.ts"
import type { CreateApiKey, Deposit, FollowedWithdrawal, Limits, Reconciliation, Withdrawal } from "./wire.ts"

/** An entry of the navigation. A section is sorted by rank. */
export interface Ranked extends Entry {
  readonly rank: number
}

/** Navigation entries, keyed by section title. The first section has an empty title. */
export type Sections = Readonly<Record<string, ReadonlyArray<Ranked>>>

/** A feature's entry, in the section with this title. */
export interface Placed extends Ranked {
  readonly section: string
}

/** Adds the features' entries to the sections. */
export const placed = (sections: Sections, entries: ReadonlyArray<Placed>): ReadonlyArray<Section> =>
  Object.entries(sections).map(([title, own]) => ({
    ...(title !== "" && { title }),
    entries: [...own, ...entries.filter(({ section }) => section === title)].toSorted(
      (a, b) => a.rank - b.rank
    )
  }))

/** A current problem: when it began, the sats it affects, and a link to deal with it. */
export interface Problem {
  readonly tone: "bad" | "warn" | "info"
  readonly glyph: Icon
  readonly title: string
  readonly text: string
  readonly sinceMillis?: number | null
  readonly sats?: number | null
  /** Shown beneath the sats, instead of their fiat value. */
  readonly beneath?: string
  readonly href: string
  readonly action: string
  /** The section of the guides that says what to do. */
  readonly guide: string
  /** The alarms that Prometheus sends for it. */
  readonly alarms?: ReadonlyArray<AlarmName>
}

/** Leaves out what does not apply. */
export const applying = <A extends object>(all: ReadonlyArray<A | false>): ReadonlyArray<A> =>
  all.filter((one) => one !== false)

export const lateNotices = "Companies are notified of their payments late. The money is not affected."

/** A search result. */
export interface Found {
  readonly key: string
  readonly href: string
  readonly title: string
  readonly more?: string
  readonly badge: Badge
  readonly atMillis: number
  readonly amount?: string
  readonly value?: string
}

/** A step in setting up a company's account. */
export interface Step {
  readonly text: string
  readonly why: string
  readonly href: string
  readonly isDone: boolean
}

/** A feature's part of the page of a payment. */
export interface PaymentPart {
  /** Shown at the top of the page if there is something to decide or to explain. */
  readonly top?: ComponentChildren
  readonly actions?: ComponentChildren
  readonly facts?: ReadonlyArray<Fact | null>
  /** A related record, whose events are shown on the timeline, and what happened before its first event. */
  readonly subject?: string | null
  readonly before?: Moment
  readonly panel?: ComponentChildren
}

/** What an operator should do about a pending withdrawal: in short, and step by step. */
export interface Advice {
  readonly first: string
  readonly next: ReadonlyArray<ComponentChildren>
}

/** A reason for which a feature makes withdrawals wait. The operator can neither end the wait nor look it up at a node. */
export interface Waits {
  readonly kind: keyof Reconciliation["waiting"]
  /** The status in a list. */
  readonly text: string
  /** The current and the last step on the withdrawal's page. */
  readonly step: string
  readonly end: string
  /** `company` is the company's name. */
  readonly advice: (company: string) => Advice
  /** Facts on the operator's page about a withdrawal. */
  readonly facts?: (withdrawal: FollowedWithdrawal) => ReadonlyArray<Fact>
}

/** The limits of amounts and of the number of payments. */
export type AmountLimit = {
  readonly [name in keyof Limits]: Limits[name] extends number | null ? name : never
}[keyof Limits]

/** A limit that a feature checks: its label, and what it means for sending. */
export interface Limited {
  readonly name: AmountLimit
  readonly label: string
  readonly rule: (limit: number) => Fact
}

/** A feature's records. */
export interface Records {
  /** Text of links to a record in a company's console. The feature needs a page `<name>/:id`. */
  readonly company?: string
  /** The same in the operator's console. */
  readonly operator?: string
  /** Reads a record that a search found. Its kind is the feature's name. */
  readonly finds?: (visit: Visit, id: string) => Promise<Found>
  /** The first part of the types of the events about them, for the filters of the list of events. */
  readonly eventKind?: string
}

/** What a feature adds to the settings of API keys. */
export interface Keys {
  /** A permission that moves no money, with its name and what it allows. */
  readonly scope?: readonly [scope: CreateApiKey["scopes"][number], name: string, text: string]
  readonly limit?: Limited
}

/** What a feature adds to a company's overview. */
export interface Overview {
  readonly concerns?: (visit: Visit) => Promise<ReadonlyArray<Concern>>
  /** The page that starts receiving a payment. The list of payments links to it, too. */
  readonly receive?: { readonly path: string; readonly text: string }
  /** A step shown until the first payment; undefined if this person cannot take it. */
  readonly setup?: (visit: Visit) => Promise<Step | undefined>
}

/** A kind of destination that a feature sends to. `path` returns its page, which gets the form's fields in its query. */
export interface Sends {
  readonly text: string
  readonly path: (destination: string) => string | undefined
}

/** What a feature adds to the pages of payments, their list and its export. */
export interface Payments {
  readonly received?: (visit: Visit, payment: Payment, deposit: Deposit) => Promise<PaymentPart>
  readonly sent?: (visit: Visit, payment: Payment, withdrawal: Withdrawal) => Promise<PaymentPart>
  /** Another kind of destination of the page "Send": its text there, and the page that sends to it. */
  readonly sends?: Sends
  /** Handles the forms in the feature's part of a sent payment's page. Only one feature can have it. */
  readonly decide?: (visit: Visit) => Promise<Elsewhere>
  /** Columns of the export. */
  readonly columns?: ReadonlyArray<readonly [head: string, cell: (payment: Payment) => string | null]>
  /** Texts of event types, without the rail, for the timeline. */
  readonly eventWords?: Readonly<Record<string, string>>
}

/** What can go wrong with a feature. */
export interface Troubles {
  /** Problems shown on the operator's first page. */
  readonly problems?: (visit: OperatorVisit) => Promise<ReadonlyArray<Problem>>
  /** The feature's alarms in deploy/prometheus/rules.yaml. */
  readonly alarms?: Readonly<Record<string, Alarm>>
  /** Shown when the feature's work is late. */
  readonly late?: Pick<Problem, "title" | "text" | "guide">
}

/** What a feature adds to the operator's page about a company: a link, and panels for its two columns. */
export interface OfCompany {
  readonly link?: (id: string) => readonly [path: string, text: string]
  readonly panel?: (visit: OperatorVisit, id: string) => Promise<ComponentChildren>
  readonly aside?: (visit: OperatorVisit, id: string) => Promise<ComponentChildren>
}

/** What a feature adds to the consoles. */
export interface Feature {
  readonly name: string
  readonly records?: Records
  /** Pages of a company's console, and of the operator's. A path with a parameter comes after those without. */
  readonly pages?: ReadonlyArray<Page>
  readonly operatorPages?: ReadonlyArray<Page<OperatorVisit>>
  /** `mark` marks the entry if something on the feature's pages needs attention. */
  readonly entry?: Placed & { readonly mark?: (visit: Visit) => Promise<Badge | undefined> }
  readonly operatorEntry?: Placed
  readonly keys?: Keys
  readonly overview?: Overview
  readonly payments?: Payments
  /** The page that shows people's permissions. A refused action links to it. */
  readonly rights?: { readonly path: string; readonly text: string }
  readonly waits?: Waits
  readonly troubles?: Troubles
  readonly ofCompany?: OfCompany
}
