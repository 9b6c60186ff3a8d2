import { h } from "preact"
import { type List, pagesOf } from "../List.ts"
import { type Elsewhere, may, type Page, type Shown, text, type Visit } from "../Page.ts"
import {
  body,
  button,
  copied,
  copy,
  date,
  entry,
  factPanel,
  fields,
  form,
  formPanel,
  panel,
  plain,
  segments,
  sides,
  stack,
  status,
  submit,
  type Badge
} from "../Parts.ts"
import { type Column, rowLink, table } from "../Table.ts"
import type { OnChainAddress, OwnDomain, LightningAddress } from "../wire.ts"
import * as Formats from "../Format.ts"
import { code, metadataFact, paymentsPanel } from "./Records.ts"

const nav = "addresses"

const kinds = [
  ["addresses", "Lightning"],
  ["addresses/on-chain", "On-chain"],
  ["addresses/domains", "Domains"]
] as const

const tabs = ({ to }: Visit, chosen: string) =>
  segments(
    "Kind of address",
    kinds.map(([path, text]) => ({ text, href: to(path), isOn: path === chosen }))
  )

export const badge = ({ deleted_at }: Pick<LightningAddress, "deleted_at">): Badge =>
  deleted_at === null ? { tone: "good", text: "Active" } : { tone: "idle", text: "Deleted" }

const lightning: List<LightningAddress> = {
  path: "addresses",
  nav,
  title: "Addresses",
  lead: "A Lightning address can be paid any number of times, just as an email address can receive any number of messages.",
  glyph: "at",
  noun: "Lightning addresses",
  none: "Create one, and give it to payers instead of an invoice.",
  read: ({ api }, query) => api.page("GET /v1/bitcoin/deposit/lightning-address", { query }),
  at: ({ created_at }) => created_at,
  kinds: [
    ["active", "Active", ({ deleted_at }) => deleted_at === null],
    ["deleted", "Deleted", ({ deleted_at }) => deleted_at !== null]
  ],
  columns: ({ say, to }): ReadonlyArray<Column<LightningAddress>> => [
    { title: "Address", place: "c1", cell: ({ id, address }) => rowLink(to(`addresses/${id}`), address) },
    {
      title: "Status",
      place: "c4",
      cell: (row) => status(badge(row))
    },
    {
      title: "Last used",
      place: "c3",
      kind: "faint",
      key: "Used",
      cell: ({ last_used_at }) => date(say, last_used_at)
    },
    {
      title: "Created",
      place: "off",
      kind: "soft",
      isSorted: true,
      cell: ({ created_at }) => date(say, created_at)
    }
  ],
  csv: ["created_at", "id", "address", "last_used_at", "deleted_at", "metadata"],
  create: (visit) =>
    may(visit, "receive") && button(visit.to("addresses/new"), "New address", "main", "plus"),
  above: (visit) => tabs(visit, "addresses")
}

const onChain: List<OnChainAddress> = {
  path: "addresses/on-chain",
  nav,
  title: "On-chain addresses",
  lead: "A bitcoin address can be paid any number of times. Use a new one for each payer to tell payments apart.",
  glyph: "at",
  noun: "bitcoin addresses",
  none: "Create one, and give it to a payer.",
  read: ({ api }, query) => api.page("GET /v1/bitcoin/deposit/on-chain", { query }),
  at: ({ created_at }) => created_at,
  kinds: [],
  columns: ({ say, to }): ReadonlyArray<Column<OnChainAddress>> => [
    {
      title: "Address",
      place: "c1",
      cell: ({ id, address }) => rowLink(to(`addresses/on-chain/${id}`), h("code", null, address))
    },
    {
      title: "Type",
      place: "c4",
      kind: "soft",
      cell: ({ bitcoin_address_type: type }) => type.replaceAll("_", " ")
    },
    {
      title: "Created",
      place: "c3",
      kind: "faint",
      isSorted: true,
      cell: ({ created_at }) => date(say, created_at)
    }
  ],
  csv: [
    "created_at",
    "id",
    "address",
    ["type", ({ bitcoin_address_type }) => bitcoin_address_type],
    "metadata"
  ],
  create: ({ to, once, user }) =>
    may({ user }, "receive") &&
    form(
      to("addresses/on-chain/new"),
      { once, class: "inline" },
      h("button", { class: "btn main" }, "New bitcoin address")
    ),
  above: (visit) => tabs(visit, "addresses/on-chain")
}

const create = (visit: Visit): Shown => {
  const { to, once } = visit
  return {
    title: "New Lightning address",
    crumbs: [["Addresses", "addresses"]],
    body: formPanel({ action: to("addresses/new"), label: "New Lightning address", once }, [
      fields(
        entry(visit, {
          label: "Handle",
          name: "handle",
          optional: true,
          maxLength: 64,
          hint: "The part before the @. Leave empty for a random one"
        }),
        entry(visit, {
          label: "Domain",
          name: "domain",
          optional: true,
          hint: "One of your domains. Leave empty for the service’s domain"
        })
      ),
      submit("Create address")
    ])
  }
}

const made = async (visit: Visit): Promise<Elsewhere> => {
  const [handle, domain] = [text(visit, "handle"), text(visit, "domain")]
  const { id } = await visit.api.call("POST /v1/bitcoin/deposit/lightning-address", {
    once: text(visit, "once"),
    body: { ...(handle !== "" && { handle }), ...(domain !== "" && { domain }) }
  })
  return { redirect: `addresses/${id}` }
}

const show = async (visit: Visit): Promise<Shown> => {
  const { api, say, to, id } = visit
  const address = await api.call("GET /v1/bitcoin/deposit/lightning-address/{id}", { params: { id } })
  const { min_sats: least, max_sats: most, deleted_at, success_message: message } = address
  const limit = (sats: number | null) => (sats === null ? "none" : Formats.inSats(sats))
  return {
    title: address.address,
    status: badge(address),
    crumbs: [["Addresses", "addresses"]],
    actions: button(to(`invoices?lightning_address_id=${id}`), "Its invoices"),
    body: sides(
      deleted_at === null
        ? code(
            "Code for the payer",
            "Lightning address",
            address.lnurl,
            h("p", { class: "soft" }, "Payers can type the address into their wallet or scan this code.")
          )
        : panel("Deleted", {}, body(h("p", null, "This address can no longer be paid."))),
      factPanel("Details", [
        ["Address", [h("code", null, address.address), " ", copy(address.address, "address")]],
        ["At least", limit(least)],
        ["At most", limit(most)],
        message === null ? null : ["Message", message],
        ["Last used", date(say, address.last_used_at)],
        ["Created", date(say, address.created_at)],
        deleted_at === null ? null : ["Deleted", date(say, deleted_at)],
        ["Id", copied(address.id, "id of the address")],
        metadataFact(address.metadata)
      ])
    )
  }
}

const madeOnChain = async (visit: Visit): Promise<Elsewhere> => {
  const { address } = await visit.api.call("POST /v1/bitcoin/deposit/on-chain", {
    once: text(visit, "once"),
    body: {}
  })
  return { redirect: `addresses/on-chain/${address.id}` }
}

const showOnChain = async (visit: Visit): Promise<Shown> => {
  const { api, say, id } = visit
  const address = await api.call("GET /v1/bitcoin/deposit/on-chain/{id}", { params: { id } })
  const { hits } = await api.search(address.address)
  const found = await api.payments(
    hits.flatMap(({ kind, id }) => (kind === "deposits" ? [{ type: "deposit" as const, id }] : []))
  )
  // The search also finds payments whose metadata mentions the address.
  const payments = found.filter(({ recipient }) => recipient === address.address)
  return {
    title: "Bitcoin address",
    crumbs: [
      ["Addresses", "addresses"],
      ["On-chain", "addresses/on-chain"]
    ],
    body: sides(
      stack(
        code("Code for the payer", "bitcoin address", address.address),
        paymentsPanel(visit, "Newest payments to this address", payments)
      ),
      factPanel("Details", [
        ["Address", copied(address.address, "address")],
        ["Type", address.bitcoin_address_type.replaceAll("_", " ")],
        ["Created", date(say, address.created_at)],
        ["Id", copied(address.id, "id of the address")],
        metadataFact(address.metadata)
      ])
    )
  }
}

const domainColumns = ({ say }: Visit): ReadonlyArray<Column<OwnDomain>> => [
  { title: "Domain", place: "c1", cell: ({ domain }) => h("span", { class: "strong" }, domain) },
  {
    title: "Status",
    place: "c2",
    cell: ({ lost_at }) =>
      status(
        lost_at === null ? { tone: "good", text: "Verified" } : { tone: "warn", text: "TXT record missing" }
      )
  },
  { title: "Verified", place: "c3", kind: "faint", cell: ({ verified_at }) => date(say, verified_at) },
  {
    title: "TXT record",
    place: "all",
    cell: ({ txt_name, txt_value }) => h("code", null, `${txt_name} ${txt_value}`)
  }
]

const domains = async (visit: Visit): Promise<Shown> => {
  const { api, to, once } = visit
  const rows = await api.call("GET /v1/domains", { query: {} })
  return {
    title: "Domains",
    lead: "Your own domain for Lightning addresses, such as shop@example.com.",
    body: [
      tabs(visit, "addresses/domains"),
      rows.length > 0 &&
        plain(
          "Domains",
          table("Domains of this company", { columns: domainColumns(visit), groups: [{ rows }] })
        ),
      may(visit, "receive") &&
        form(
          to("addresses/domains"),
          { once, class: "form-side" },
          panel(
            "Claim a domain",
            {},
            fields(
              entry(visit, {
                label: "Domain",
                name: "domain",
                required: true,
                hint: "Its TXT record must name this company. If the record is missing, the error shows the one to add"
              })
            ),
            submit("Claim domain")
          )
        )
    ]
  }
}

const claimed = async (visit: Visit): Promise<Elsewhere> => {
  await visit.api.call("POST /v1/domains", {
    once: text(visit, "once"),
    body: { domain: text(visit, "domain") }
  })
  return { redirect: "addresses/domains" }
}

export const addresses: ReadonlyArray<Page> = [
  ...pagesOf(lightning),
  ...pagesOf(onChain),
  { path: "addresses/new", nav, needs: "receive", get: create, post: made },
  { path: "addresses/domains", nav, get: domains, post: claimed },
  { path: "addresses/on-chain/new", nav, get: () => ({ redirect: "addresses/on-chain" }), post: madeOnChain },
  { path: "addresses/on-chain/:id", nav, get: showOnChain },
  { path: "addresses/:id", nav, get: show }
]
