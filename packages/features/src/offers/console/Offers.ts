import { h } from "preact"
import { type List, pagesOf } from "@satrail/ui/console/List"
import { type Elsewhere, may, type Page, type Shown, text, type Visit } from "@satrail/ui/console/Page"
import {
  act,
  button,
  choice,
  copied,
  date,
  factPanel,
  fields,
  formPanel,
  link,
  panel,
  sides,
  stack,
  submit
} from "@satrail/ui/console/Parts"
import { type Column, rowLink } from "@satrail/ui/console/Table"
import type { Offer } from "@satrail/ui/console/wire"
import * as Formats from "@satrail/ui/console/Format"
import {
  amountFields,
  amountOf,
  code,
  descriptionField,
  descriptionOf,
  freeSats,
  metadataFact
} from "@satrail/ui/console/pages/Records"

const titleOf = ({ memo }: Offer): string => (memo === "" ? "Offer" : memo)
const paysTo = ({ lightning_address }: Offer): string => lightning_address ?? "the company"

const columns = ({ say, to }: Visit): ReadonlyArray<Column<Offer>> => [
  {
    title: "Created",
    place: "c3",
    kind: "faint",
    isSorted: true,
    cell: ({ created_at }) => date(say, created_at)
  },
  { title: "What for", place: "c1", cell: (offer) => rowLink(to(`offers/${offer.id}`), titleOf(offer)) },
  { title: "For", place: "c4", kind: "soft", cell: paysTo },
  {
    title: "At least, sats",
    place: "c2",
    kind: "fiat",
    cell: ({ amount_sats }) => (amount_sats === null ? "any" : Formats.sats(amount_sats))
  }
]

const list: List<Offer> = {
  path: "offers",
  nav: "offers",
  title: "Offers",
  lead: "An offer (BOLT 12) is a code that can be paid any number of times. It does not expire and cannot be canceled.",
  glyph: "receive",
  noun: "offers",
  none: "Create one to print it, or to publish it on a page.",
  read: ({ api }, query) => api.page("GET /v1/bitcoin/deposit/offer", { query }),
  at: ({ created_at }) => created_at,
  kinds: [
    ["company", "Company", ({ lightning_address_id }) => lightning_address_id === null],
    ["address", "Lightning addresses", ({ lightning_address_id }) => lightning_address_id !== null]
  ],
  columns,
  csv: [
    "created_at",
    "id",
    ["description", ({ memo }) => memo],
    "lightning_address",
    "amount_sats",
    "offer",
    "metadata"
  ],
  create: (visit) => may(visit, "receive") && button(visit.to("offers/new"), "New offer", "main", "plus")
}

/** Lightning addresses to choose from, newest first. */
const mostAddresses = 100

const create = async (visit: Visit): Promise<Shown> => {
  const { api, to, once, form: given } = visit
  const addresses = await api.call("GET /v1/bitcoin/deposit/lightning-address", {
    query: { limit: mostAddresses }
  })
  const there = addresses.filter(({ deleted_at }) => deleted_at === null)
  return {
    title: "New offer",
    crumbs: [["Offers", "offers"]],
    body: formPanel({ action: to("offers/new"), label: "New offer", once }, [
      fields(
        choice(
          "For",
          "address",
          [["", "Company"], ...there.map(({ id, address }) => [id, address] as const)],
          given.get("address") ?? ""
        ),
        amountFields(visit, "sats", "The minimum of each payment. Leave empty for any amount"),
        descriptionField(visit, "Shown to the payer")
      ),
      submit("Create offer")
    ])
  }
}

const made = async (visit: Visit): Promise<Elsewhere> => {
  const address = text(visit, "address")
  const { id } = await visit.api.call("POST /v1/bitcoin/deposit/offer", {
    once: text(visit, "once"),
    body: {
      ...amountOf<"sats" | "btc">(visit),
      ...descriptionOf(visit),
      ...(address !== "" && { lightning_address_id: address })
    }
  })
  return { redirect: `offers/${id}` }
}

const show = async (visit: Visit): Promise<Shown> => {
  const { api, say, to, id } = visit
  const offer = await api.call("GET /v1/bitcoin/deposit/offer/{id}", { params: { id } })
  const { lightning_address: address, lightning_address_id: addressId, dns_record: record } = offer
  return {
    title: titleOf(offer),
    lead:
      offer.amount_sats === null
        ? "Any amount, any number of times"
        : `At least ${Formats.inSats(offer.amount_sats)} each time`,
    crumbs: [["Offers", "offers"]],
    actions:
      visit.isSandbox && may(visit, "receive") && act(to(`offers/${id}`), "Pay from the sandbox", "main"),
    body: sides(
      stack(
        code("Code for the payer", "offer", offer.offer),
        record !== null &&
          panel(
            "DNS record",
            {},
            fields(
              h(
                "p",
                null,
                "Add this record to your domain’s zone, signed with DNSSEC, so that wallets can find the offer by the address."
              ),
              h("pre", null, record)
            )
          )
      ),
      factPanel("Details", [
        [
          "For",
          address === null || addressId === null ? "the company" : link(to(`addresses/${addressId}`), address)
        ],
        ["Created", date(say, offer.created_at)],
        ["Offer", copied(offer.id, "offer id")],
        metadataFact(offer.metadata)
      ])
    )
  }
}

const pay = async ({ api, id }: Visit): Promise<Elsewhere> => {
  const { offer, amount_sats } = await api.call("GET /v1/bitcoin/deposit/offer/{id}", { params: { id } })
  await api.call("POST /sandbox/pay", {
    body: { payment_request: offer, amount_sats: amount_sats ?? freeSats }
  })
  return { redirect: "payments" }
}

export const offers: ReadonlyArray<Page> = [
  ...pagesOf(list),
  { path: "offers/new", nav: "offers", needs: "receive", get: create, post: made },
  { path: "offers/:id", nav: "offers", get: show, post: pay }
]
