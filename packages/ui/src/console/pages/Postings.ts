import { h } from "preact"
import type { Posting } from "../Api.ts"
import * as Formats from "../Format.ts"
import type { AnyVisit } from "../Page.ts"
import { panel } from "../Parts.ts"

const accounts: Readonly<Record<string, readonly [name: string, more: string]>> = {
  available: ["Your account", "available"],
  held: ["Your account", "held"],
  node: ["Lightning node", "of the service"],
  chain: ["On-chain wallet", "of the service"],
  service_fees: ["Service fees", "of the service"],
  network_fees: ["Network fees", "of the service"],
  internal: ["Another account", "of the service"],
  transfers: ["Another account", "of the service"],
  suspense: ["Suspense", "payments without an owner"],
  adjustments: ["Adjustments", "by the operator"],
  loss: ["Losses", "borne by the operator"]
}

interface Side {
  readonly account: string
  readonly debit: number | null
  readonly credit: number | null
}

/** Both sides of each posting: the account it debits and the account it credits. */
export const book = (postings: ReadonlyArray<Posting>, { say, user }: Pick<AnyVisit, "say" | "user">) => {
  const [first] = postings
  if (first === undefined) return null
  const lines = postings.flatMap(({ from, to, sats }): ReadonlyArray<Side> => [
    { account: from, debit: sats, credit: null },
    { account: to, debit: null, credit: sats }
  ])
  const exact = (sats: number) => Formats.exact(sats, 3)
  const total = exact(postings.reduce((sum, { sats }) => sum + sats, 0))
  const amount = (sats: number | null) => (sats === null ? "" : exact(sats))
  return panel(
    "Postings",
    { isRuled: true, beside: h("span", { class: "faint" }, say.when(first.atMillis)) },
    h(
      "div",
      { class: "scroll", tabIndex: 0, role: "group", "aria-label": "Postings" },
      h(
        "table",
        { class: "book", "aria-label": "Postings" },
        h(
          "thead",
          null,
          h(
            "tr",
            null,
            h("th", { scope: "col" }, "Account"),
            h("th", { scope: "col", class: "amount" }, "Debit"),
            h("th", { scope: "col", class: "amount" }, "Credit")
          )
        ),
        h(
          "tbody",
          null,
          lines.map(({ account, debit, credit }) => {
            const [known, more] = accounts[account] ?? [account, ""]
            const name = user.kind === "operator" ? known.replace("Your", "The company’s") : known
            return h(
              "tr",
              null,
              h("td", null, name, " ", h("span", { class: "soft" }, more)),
              h("td", { class: "amount" }, amount(debit)),
              h("td", { class: "amount" }, amount(credit))
            )
          })
        ),
        h(
          "tfoot",
          null,
          h(
            "tr",
            null,
            h("th", { scope: "row" }, "Total, sats"),
            h("td", { class: "amount" }, total),
            h("td", { class: "amount" }, total)
          )
        )
      )
    )
  )
}
