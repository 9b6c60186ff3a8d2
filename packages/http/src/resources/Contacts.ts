import * as Metadata from "@satrail/core/base/Metadata"
import * as Contact from "@satrail/core/sending/Contact"
import { Contacts } from "@satrail/core/sending/Contacts"
import * as Destination from "@satrail/core/sending/Destination"
import { Effect, Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { companyId, Scopes } from "../Authentication.ts"
import * as Envelope from "../Envelope.ts"
import * as Errors from "../Errors.ts"
import { Example, type World } from "../Examples.ts"
import * as Idempotency from "../Idempotency.ts"
import * as Page from "../Page.ts"
import * as Scalars from "../Scalars.ts"
import * as Section from "../Section.ts"
import * as View from "../View.ts"
import { Name } from "./Companies.ts"

const path = "/v1/contacts"
const params = { id: Scalars.Uuid }

const Body = Schema.Struct({
  name: Name,
  destination: Schema.NonEmptyString.annotate({
    description: "A Lightning address, an LNURL or a bitcoin address, without an amount",
    examples: ["satoshi@wallet.example"]
  }),
  metadata: Scalars.given(Scalars.GivenMetadata)
}).annotate({ identifier: "CreateContact" })

/** A payee that is paid again. */
const view = View.make<Contact.Contact>()(
  { identifier: "Contact" },
  {
    id: [Scalars.Uuid, (row) => row.id],
    name: [Scalars.text("Example Ltd"), (row) => row.name],
    destination: [Scalars.text("satoshi@wallet.example"), (row) => row.destination],
    recipient_type: [Destination.RecipientType, (row) => row.recipientType],
    status: [Contact.Status, (row) => row.status],
    metadata: [Scalars.Metadata, (row) => row.metadata],
    created_at: [Scalars.Instant, (row) => Scalars.instant(row.createdAtMillis)],
    updated_at: [Scalars.Instant, (row) => Scalars.instant(row.updatedAtMillis)]
  }
)

const example = ({ id, millis, companyId, metadata }: World): Contact.Contact => ({
  id: id("contact"),
  companyId,
  name: "Example Ltd",
  destination: "satoshi@wallet.example",
  recipientType: "lightning_address",
  metadata,
  status: "active",
  revision: 0,
  createdAtMillis: millis(),
  updatedAtMillis: millis()
})

const creation = Idempotency.creation(path, "Contact created", view.of)

const create = Section.company(
  HttpApiEndpoint.post("createContact", path, {
    headers: Idempotency.headers,
    payload: Body,
    success: Envelope.success(201, view.schema),
    error: Errors.of(
      "malformed",
      "wrong_network",
      "unsupported",
      "amount_mismatch",
      "idempotency_mismatch",
      "conflict",
      "store_unavailable"
    )
  })
    .annotate(Scopes, ["send"])
    .annotate(OpenApi.Summary, "Create a contact")
    .annotate(OpenApi.Description, "Keeps a destination that can be paid any number of times, under a name. Needs the scope `send`.")
    .annotate(Example, (world) => {
      const row = example(world)
      const { name, destination, metadata } = row
      return { body: { name, destination, metadata }, message: "Contact created", data: view.of(row) }
    }),
  Contacts,
  (contacts) =>
    Effect.fnUntraced(function* ({ payload, headers, request }) {
      const once = yield* creation.once(request, headers["idempotency-key"])
      const asked = { ...payload, metadata: payload.metadata ?? Metadata.empty }
      return creation.answer(yield* Errors.answered(contacts.create({ ...asked, ...once, companyId: yield* companyId })))
    })
)

const page = Page.of(view, "Contacts", path)

const list = Section.company(
  HttpApiEndpoint.get("listContacts", path, {
    query: Page.place(),
    success: page.success,
    error: Errors.of("malformed", "store_unavailable")
  })
    .annotate(Scopes, ["read"])
    .annotate(OpenApi.Summary, "List contacts")
    .annotate(OpenApi.Description, "Newest first, archived ones too. The next page is in the `Link` header. Needs the scope `read`.")
    .annotate(Example, (world) => ({ message: "Contacts", data: [view.of(example(world))] })),
  Contacts,
  (contacts) =>
    Effect.fnUntraced(function* ({ query }) {
      const asked = Page.asked(query)
      const { rows, next } = yield* Errors.answered(contacts.list(yield* companyId, asked))
      return page.answer(rows, { limit: String(asked.limit) }, next)
    })
)

const get = Section.company(
  HttpApiEndpoint.get("getContact", `${path}/:id`, {
    params,
    success: Envelope.success(200, view.schema),
    error: Errors.of("not_found", "store_unavailable")
  })
    .annotate(Scopes, ["read"])
    .annotate(OpenApi.Summary, "Fetch a contact")
    .annotate(OpenApi.Description, "Also one that is archived. Needs the scope `read`.")
    .annotate(Example, (world) => {
      const row = example(world)
      return { params: { id: row.id }, message: "Contact", data: view.of(row) }
    }),
  Contacts,
  (contacts) =>
    Effect.fnUntraced(function* ({ params }) {
      return Envelope.ok("Contact", view.of(yield* Errors.answered(contacts.get(yield* companyId, params.id.toLowerCase()))))
    })
)

const archive = Section.company(
  HttpApiEndpoint.post("archiveContact", `${path}/:id/archive`, {
    params,
    success: Envelope.success(200, view.schema),
    error: Errors.of("not_found", "conflict", "store_unavailable")
  })
    .annotate(Scopes, ["send"])
    .annotate(OpenApi.Summary, "Archive a contact")
    .annotate(OpenApi.Description, "Archiving it again changes nothing. Needs the scope `send`.")
    .annotate(Example, (world) => {
      const row = example(world)
      const data = view.of({ ...row, status: "archived", updatedAtMillis: world.millis(60_000) })
      return { params: { id: row.id }, message: "Contact archived", data }
    }),
  Contacts,
  (contacts) =>
    Effect.fnUntraced(function* ({ params }) {
      const row = yield* Errors.answered(contacts.archive(yield* companyId, params.id.toLowerCase()))
      return Envelope.ok("Contact archived", view.of(row))
    })
)

const restore = Section.company(
  HttpApiEndpoint.post("restoreContact", `${path}/:id/restore`, {
    params,
    success: Envelope.success(200, view.schema),
    error: Errors.of("not_found", "conflict", "store_unavailable")
  })
    .annotate(Scopes, ["send"])
    .annotate(OpenApi.Summary, "Restore a contact")
    .annotate(OpenApi.Description, "An archived one is active again. Restoring it again changes nothing. Needs the scope `send`.")
    .annotate(Example, (world) => {
      const row = example(world)
      return { params: { id: row.id }, message: "Contact restored", data: view.of({ ...row, updatedAtMillis: world.millis(120_000) }) }
    }),
  Contacts,
  (contacts) =>
    Effect.fnUntraced(function* ({ params }) {
      const row = yield* Errors.answered(contacts.restore(yield* companyId, params.id.toLowerCase()))
      return Envelope.ok("Contact restored", view.of(row))
    })
)

/** The payees of a company. */
export const section = Section.make("contacts", { title: "Contacts", description: "Payees that are paid again" }, [
  create,
  list,
  get,
  archive,
  restore
])
