import { Clock, Context, Effect, Layer } from "effect"
import { checkName } from "../accounts/Companies.ts"
import type * as CompanyId from "../base/CompanyId.ts"
import { Entropy } from "../base/Entropy.ts"
import * as Id from "../base/Id.ts"
import { Invalid } from "../base/Invalid.ts"
import * as Metadata from "../base/Metadata.ts"
import * as Answer from "../ledger/Answer.ts"
import * as Answers from "../ledger/Answers.ts"
import { Conflict, type IdempotencyMismatch, Journal, NotFound, type StoreUnavailable } from "../ledger/Journal.ts"
import { LedgerReads } from "../ledger/LedgerReads.ts"
import { NounReads } from "../ledger/NounReads.ts"
import * as Page from "../ledger/Page.ts"
import { Installation } from "../accounts/Installation.ts"
import * as Contact from "./Contact.ts"
import * as Destination from "./Destination.ts"

type Moved = Effect.Effect<Contact.Contact, NotFound | Conflict | StoreUnavailable>

/** The payees that a company pays again. */
export class Contacts extends Context.Service<
  Contacts,
  {
    /** `destination` is a Lightning address, an LNURL or a bitcoin address, without an amount: what can be paid again. */
    readonly create: (ask: {
      readonly companyId: CompanyId.CompanyId
      readonly name: string
      readonly destination: string
      readonly metadata: Metadata.Metadata
      readonly request?: Answer.Request<Contact.Contact>
    }) => Effect.Effect<
      Answer.Outcome<Contact.Contact>,
      Invalid | Destination.DestinationInvalid | Conflict | IdempotencyMismatch | StoreUnavailable
    >
    readonly get: (companyId: CompanyId.CompanyId, id: string) => Effect.Effect<Contact.Contact, NotFound | StoreUnavailable>
    /** A page, the newest first, archived ones too. */
    readonly list: (
      companyId: CompanyId.CompanyId,
      query: Page.Asked
    ) => Effect.Effect<Page.Page<Contact.Contact>, Invalid | StoreUnavailable>
    /** Archiving it again changes nothing. A `Conflict` where others archive and restore it all the time. */
    readonly archive: (companyId: CompanyId.CompanyId, id: string) => Moved
    /** Restoring it again changes nothing. */
    readonly restore: (companyId: CompanyId.CompanyId, id: string) => Moved
  }
>()("@satrail/core/sending/Contacts") {}

/** How often a contact that others move meanwhile is read again. */
const maxRetries = 3

export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const ledger = yield* LedgerReads
  const records = yield* NounReads
  const { network } = yield* Installation
  const entropy = yield* Entropy

  const get = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId, id: string) {
    const found = Id.is(id) ? yield* records.get(Contact.noun, companyId, id) : undefined
    return found?._tag === "Some" ? found.value : yield* new NotFound({ what: "contact", id })
  })

  /** Moves it to `status`, by `move` of how it is now. */
  const moved =
    (status: Contact.Status, move: typeof Contact.archived | typeof Contact.restored) => (companyId: CompanyId.CompanyId, id: string) =>
      Effect.gen(function* () {
        const contact = yield* get(companyId, id)
        if (contact.status === status) return contact
        yield* journal.commit<Contact.ContactArchived | Contact.ContactRestored>(move(contact, yield* Clock.currentTimeMillis))
        return yield* get(companyId, id)
      }).pipe(
        Effect.retry({ while: ({ _tag }) => _tag === "ContactMoved", times: maxRetries }),
        Effect.catchTag("ContactMoved", () => new Conflict({ change: "contact", id }))
      )

  return Contacts.of({
    create: Effect.fnUntraced(function* ({ companyId, name, metadata, request, ...asked }) {
      const before = yield* Answers.earlier(ledger, companyId, request)
      if (before !== undefined) return before
      yield* checkName(name)
      const destination = yield* Effect.fromResult(Destination.parse(asked.destination, network))
      if (destination._tag === "LightningInvoice" || Destination.amount(destination) !== undefined) {
        const message = "What can be paid again: a Lightning address, an LNURL or a bitcoin address, without an amount"
        return yield* new Invalid({ path: "destination", message })
      }
      yield* Metadata.check(metadata)
      const createdAtMillis = yield* Clock.currentTimeMillis
      const contact: Contact.Contact = {
        id: Id.fromMillis(createdAtMillis, entropy),
        companyId,
        name,
        destination: Destination.text(destination),
        recipientType: Destination.recipientType(destination),
        metadata,
        status: "active",
        revision: 0,
        createdAtMillis,
        updatedAtMillis: createdAtMillis
      }
      const once = Answer.once(companyId, request, contact, createdAtMillis + Answer.keptMillis)
      return Answers.outcome(yield* journal.commit(Contact.created(contact, once)), contact)
    }),
    get,
    list: (companyId, query) => Page.read(query, (before, limit) => records.newestFirst(Contact.noun, companyId, before, limit)),
    archive: moved("archived", Contact.archived),
    restore: moved("active", Contact.restored)
  })
})

export const layer = Layer.effect(Contacts, make)
