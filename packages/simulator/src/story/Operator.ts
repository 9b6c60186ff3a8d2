import * as Domain from "@satrail/core/accounts/Domain"
import * as CompanyId from "@satrail/core/base/CompanyId"
import { operatorToken } from "../world/Front.ts"
import type { World } from "../world/World.ts"
import type { Customers } from "./Customers.ts"
import { member, text } from "./Json.ts"
import { type Acts, latest, type Made } from "./Made.ts"
import { paths } from "./Requests.ts"

const operator = { method: "POST", bearer: operatorToken } as const

/** The operator's operations, and a company's operations on its addresses. */
export const make = (world: World, customers: Customers, made: Made): Acts<"OpenCompany" | "Administer"> => ({
  OpenCompany: ({ slot, plan }) =>
    customers.ask(
      { ...operator, slot, path: "/operator/companies", body: JSON.stringify({ name: "Acme", plan }) },
      (data) => {
        const id = text(data, "id")
        const issue = (scopes: ReadonlyArray<string>, issued: (key: string) => void) => {
          const body = JSON.stringify({ name: "key", scopes })
          customers.ask({ ...operator, slot, path: `/operator/companies/${id}/api-keys`, body }, (data) => {
            // If the request was repeated late, the key awaits approval by a second operator and cannot be used.
            if (member(data, "approval") !== "pending") issued(text(data, "key"))
          })
        }
        issue(["admin"], (bearer) =>
          issue(
            ["read", "approve"],
            (another) => void customers.companies.push({ id: CompanyId.make(id), bearer, another })
          )
        )
      }
    ),
  Administer: ({ company, slot, what, which }) => {
    const one = latest(customers.companies, company)
    if (one === undefined) return
    const domain = `d${which}.example`
    const path = `/operator/companies/${one.id}`
    const address = latest(made.addressIds, which)
    switch (what) {
      case "plan":
        return customers.ask({
          ...operator,
          slot,
          method: "PATCH",
          path,
          body: JSON.stringify({ plan: which % 2 === 0 ? "paid" : "free" })
        })
      case "vouch":
        return customers.ask({
          ...operator,
          slot,
          path: `${path}/domains`,
          body: JSON.stringify({ domain: `v${domain}` })
        })
      case "domain": {
        const { name, value } = Domain.record({ domain, companyId: one.id })
        world.now(world.names.set(name, [value]))
        return customers.ask({
          slot,
          method: "POST",
          bearer: one.bearer,
          path: "/v1/domains",
          body: JSON.stringify({ domain })
        })
      }
      case "address": {
        if (address === undefined) return
        const body = JSON.stringify({ min_sats: 1, max_sats: 1000, success_message: "thanks" })
        return customers.ask({
          slot,
          method: "PUT",
          bearer: address.bearer,
          path: `${paths.address}/${address.id}`,
          body
        })
      }
      case "delete":
        if (address === undefined) return
        return customers.ask({
          slot,
          method: "DELETE",
          bearer: address.bearer,
          path: `${paths.address}/${address.id}`
        })
      case "revoke": {
        const body = JSON.stringify({ name: "another", scopes: ["admin"] })
        return customers.ask({ ...operator, slot, path: `${path}/api-keys`, body }, (data) => {
          const [id, key] = [text(data, "id"), text(data, "key")]
          customers.ask(
            { slot, method: "DELETE", bearer: operatorToken, path: `/operator/api-keys/${id}` },
            () => customers.isClosed(key, slot)
          )
        })
      }
    }
  }
})
