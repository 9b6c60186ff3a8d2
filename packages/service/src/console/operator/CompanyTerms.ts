import { h } from "preact"
import { Refused } from "@satrail/ui/console/Api"
import * as Formats from "@satrail/ui/console/Format"
import {
  type AnyVisit,
  type Elsewhere,
  type OperatorVisit,
  type Page,
  type Shown,
  numberIn,
  text
} from "@satrail/ui/console/Page"
import {
  body,
  checks,
  choice,
  entry,
  fields,
  form,
  formPanel,
  link,
  note,
  panel,
  stack,
  todo,
  two
} from "@satrail/ui/console/Parts"
import type { CompanyFees, GivenLimits, Limits } from "@satrail/ui/console/wire"
import { amounts } from "../pages/Limits.ts"
import { plans } from "./Companies.ts"
import { companyCrumbs, confirming, count, partOf } from "@satrail/ui/console/operator/Common"

// The settings of a company that operators change: freeze, plan, fees and limits.

const recipientTypes = [
  ["lightning_address", "Lightning addresses"],
  ["lightning_invoice", "Lightning invoices"],
  ["chain_address", "On-chain addresses"],
  ["lnurl", "LNURLs"],
  ["bolt12_offer", "Offers"]
] as const

const partsPerPercent = 10_000

/** The fields of all limits of a company or key. An empty field means no limit. */
export const limitFields = (visit: Pick<AnyVisit, "form">, now: Limits | null) => [
  h("p", { class: "soft" }, "Saving replaces all limits. Leave a field empty for no limit."),
  amounts.map(([name, label]) =>
    entry(visit, { label, name, inputMode: "numeric", value: now?.[name]?.toString() })
  ),
  checks(
    "Only to these kinds of payees",
    "checkbox",
    "recipient_types",
    recipientTypes,
    visit.form.has("recipients") ? visit.form.getAll("recipient_types") : (now?.recipient_types ?? [])
  ),
  entry(visit, {
    label: "Only to these payees",
    name: "recipients",
    hint: "Lightning addresses, LNURLs, offers and bitcoin addresses, separated by spaces. Leave empty for all",
    value: now?.recipients?.join(" ")
  })
]

export const limitsIn = (visit: Pick<AnyVisit, "form">): GivenLimits => {
  const kinds = visit.form.getAll("recipient_types")
  const types = recipientTypes.flatMap(([type]) => (kinds.includes(type) ? [type] : []))
  const recipients = text(visit, "recipients")
    .split(/[\s,]+/)
    .filter((one) => one !== "")
  return {
    ...Object.fromEntries(
      amounts.flatMap(([name]) => {
        const amount = numberIn(visit, name)
        return amount === undefined ? [] : [[name, amount] as const]
      })
    ),
    ...(types.length > 0 && { recipient_types: types }),
    ...(recipients.length > 0 && { recipients })
  }
}

const ways = [
  ["lightning", "Lightning"],
  ["on_chain", "On-chain"],
  ["internal", "Internal"]
] as const

const feeFields = (visit: OperatorVisit, { fees, own }: CompanyFees) => [
  h("p", { class: "soft" }, "Saving replaces all custom fees. Leave both fields empty for the plan’s fee."),
  ways.map(([way, label]) =>
    h(
      "fieldset",
      { class: "fields" },
      h(
        "legend",
        { class: "label" },
        `${label}, now ${Formats.exactSats(fees[way].base_sats)} + ${fees[way].parts_per_million / partsPerPercent}%`
      ),
      entry(visit, {
        label: `${label}: fixed, sats`,
        name: `${way}_base`,
        inputMode: "decimal",
        value: own[way]?.base_sats.toString()
      }),
      entry(visit, {
        label: `${label}: % of the amount`,
        name: `${way}_rate`,
        inputMode: "decimal",
        value: own[way] === null ? undefined : String(own[way].parts_per_million / partsPerPercent)
      })
    )
  )
]

/** The parts per million in this percentage. Refuses a finer one, which the API could not store. */
const partsOf = (percent: number): number => {
  const parts = Math.round(percent * partsPerPercent)
  if (Math.abs(percent * partsPerPercent - parts) < 1e-6) return parts
  throw new Refused(400, "malformed", `Enter a percentage with at most 4 decimals (got ${percent})`)
}

const feesIn = (visit: OperatorVisit) =>
  Object.fromEntries(
    ways.flatMap(([way]) => {
      const [base, rate] = [numberIn(visit, `${way}_base`), numberIn(visit, `${way}_rate`)]
      return base === undefined && rate === undefined
        ? []
        : [[way, { base_sats: base ?? 0, parts_per_million: partsOf(rate ?? 0) }] as const]
    })
  )

const find = ({ api, id }: OperatorVisit) => api.call("GET /operator/companies/{id}", { params: { id } })

const terms = async (visit: OperatorVisit): Promise<Shown> => {
  const { api, to, id } = visit
  const [company, fees, { limits }] = await Promise.all([
    find(visit),
    api.call("GET /operator/companies/{id}/fees", { params: { id } }),
    api.call("GET /operator/companies/{id}/limits", { params: { id } })
  ])
  const part = partOf(to(`companies/${id}/terms`))
  return {
    title: "Plan, fees and limits",
    crumbs: companyCrumbs(company),
    body: two(
      part(
        "Limits",
        "limits",
        "Save limits",
        limitFields(visit, limits),
        "main",
        "They apply immediately, to all keys combined. Raising a limit may need a second operator."
      ),
      stack(
        part(
          "Plan",
          "plan",
          "Change plan",
          choice("Plan", "plan", plans, visit.form.get("plan") ?? company.plan),
          "main"
        ),
        part(
          "Fees",
          "fees",
          "Save fees",
          feeFields(visit, fees),
          "main",
          "Confirmed withdrawals keep their fees."
        )
      )
    )
  }
}

const changeTerms = async (visit: OperatorVisit): Promise<Elsewhere> => {
  const { api, id } = visit
  switch (text(visit, "do")) {
    case "plan":
      await api.call("PATCH /operator/companies/{id}", {
        params: { id },
        body: { plan: text(visit, "plan") === "paid" ? "paid" : "free" }
      })
      break
    case "fees":
      await api.call("PUT /operator/companies/{id}/fees", { params: { id }, body: feesIn(visit) })
      break
    default:
      await api.call("PUT /operator/companies/{id}/limits", { params: { id }, body: limitsIn(visit) })
  }
  return { redirect: `companies/${id}` }
}

const freezePage = async (visit: OperatorVisit): Promise<Shown> => {
  const company = await find(visit)
  const { id, name } = company
  return {
    title: `Freeze ${name}`,
    crumbs: companyCrumbs(company),
    body: formPanel({ action: visit.to(`companies/${id}/freeze`), label: "Freeze" }, [
      fields(
        h(
          "p",
          null,
          "It can read and receive, but not send. Payments already sent to the node will complete."
        ),
        entry(visit, {
          label: "Reason",
          name: "reason",
          required: true,
          maxLength: 500,
          hint: "The company sees it on its pages",
          value: company.frozen?.reason
        }),
        checks(
          "Confirmed withdrawals that have not been sent",
          "radio",
          "pending",
          [
            ["wait", "Wait", "They will be sent when you unfreeze the company."],
            ["go_on", "Continue", "Only new ones are refused."]
          ],
          [visit.form.get("pending") ?? company.frozen?.pending ?? "wait"]
        )
      ),
      confirming(visit, `Freeze ${name}`, { kind: "danger" })
    ])
  }
}

const freeze = async (visit: OperatorVisit): Promise<Elsewhere> => {
  const { id } = visit
  const body = {
    reason: text(visit, "reason"),
    pending: text(visit, "pending") === "go_on" ? ("go_on" as const) : ("wait" as const)
  }
  await visit.api.call("POST /operator/companies/{id}/freeze", { params: { id }, body })
  return { redirect: `companies/${id}` }
}

const unfreezePage = async (visit: OperatorVisit): Promise<Shown> => {
  const company = await find(visit)
  const { id, name, frozen, held_sats } = company
  const isPaused = visit.stops.sendingMillis !== null
  if (frozen === null)
    return {
      title: `Unfreeze ${name}`,
      crumbs: companyCrumbs(company),
      body: note("info", `${name} is not frozen.`)
    }
  return {
    title: `Unfreeze ${name}`,
    lead: `Frozen since ${visit.say.since(Date.parse(frozen.since))}: “${frozen.reason}”`,
    crumbs: companyCrumbs(company),
    body: form(
      visit.to(`companies/${id}/unfreeze`),
      { class: "form-side" },
      panel(
        "What happens",
        {},
        body(
          todo(
            [
              isPaused
                ? [
                    "Sending is also paused for everyone. Nothing is sent until you ",
                    link(visit.to("resume"), "resume it"),
                    "."
                  ]
                : "It can send again immediately.",
              ...(held_sats === 0
                ? ["No withdrawal is waiting."]
                : [
                    `${count(held_sats, "sat is", "sats are")} held. Pending withdrawals are sent ${isPaused ? "after that" : "within seconds"}. Those that need approval still need it.`,
                    "Withdrawals with expired invoices fail, and the money is returned."
                  ])
            ],
            "plain"
          )
        ),
        confirming(visit, `Unfreeze ${name}`, {
          why: "If the company’s balance is above the configured threshold, a second operator must do the same within 24 hours."
        })
      )
    )
  }
}

const unfreeze = async (visit: OperatorVisit): Promise<Elsewhere> => {
  const { id } = visit
  await visit.api.call("POST /operator/companies/{id}/unfreeze", { params: { id } })
  return { redirect: `companies/${id}` }
}

export const companyTerms: ReadonlyArray<Page<OperatorVisit>> = [
  { path: "companies/:id/freeze", nav: "companies", get: freezePage, post: freeze },
  { path: "companies/:id/unfreeze", nav: "companies", get: unfreezePage, post: unfreeze },
  { path: "companies/:id/terms", nav: "companies", get: terms, post: changeTerms }
]
