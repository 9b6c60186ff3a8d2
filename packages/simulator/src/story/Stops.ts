import { operatorToken } from "../world/Front.ts"
import type { Customers } from "./Customers.ts"
import { text } from "./Json.ts"
import { type Acts, latest } from "./Made.ts"

const operator = { bearer: operatorToken } as const
const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

/** The id of an API key is its middle part. */
const keyIdOf = (bearer: string): string => bearer.split("_")[2] ?? ""

/** Limits, pauses and assignments by the operator. */
export interface Stops {
  readonly acts: Acts<"Limit" | "Stop" | "Assign">
  /** Resumes everything that was paused. */
  readonly resume: () => void
}

export const make = (customers: Customers): Stops => {
  const of = (id: string) => `/operator/companies/${id}`
  const turn = (slot: number, does: "pause" | "resume", what: string) =>
    customers.ask({
      ...operator,
      slot,
      method: "POST",
      path: `/operator/${does}`,
      body: JSON.stringify({ what })
    })
  const unfreeze = (slot: number, id: string) =>
    customers.ask({ ...operator, slot, method: "POST", path: `${of(id)}/unfreeze` })
  return {
    acts: {
      Limit: ({ slot, company, whose, window, sats, count, others }) => {
        const one = latest(customers.companies, company)
        if (one === undefined) return
        const path = whose === "company" ? of(one.id) : `/operator/api-keys/${keyIdOf(one.bearer)}`
        const body = JSON.stringify({
          ...(sats !== null && { [window]: sats }),
          ...(count !== null && { day_count: count }),
          ...others
        })
        customers.ask({ ...operator, slot, method: "PUT", path: `${path}/limits`, body })
      },
      Stop: ({ slot, company, what }) => {
        const one = latest(customers.companies, company)
        if (one === undefined) return
        switch (what) {
          case "freeze": {
            const body = JSON.stringify({ reason: "a stolen key", pending: slot === 0 ? "wait" : "go_on" })
            return customers.ask({ ...operator, slot, method: "POST", path: `${of(one.id)}/freeze`, body })
          }
          case "unfreeze":
            return unfreeze(slot, one.id)
          case "pause sending":
          case "pause receiving":
            return turn(slot, "pause", what.slice("pause ".length))
          case "resume sending":
          case "resume receiving":
            return turn(slot, "resume", what.slice("resume ".length))
        }
      },
      Assign: ({ slot, company, which }) => {
        const one = latest(customers.companies, company)
        if (one === undefined) return
        customers.ask({ ...operator, slot, method: "GET", path: "/operator/suspense?limit=5" }, (data) => {
          const id = text(latest(listOf(data), which), "id")
          const body = JSON.stringify({ company_id: one.id })
          if (id === "") return
          const assign = (bearer: string) =>
            customers.ask({ bearer, slot, method: "POST", path: `/operator/suspense/${id}/assign`, body })
          assign(operatorToken)
          const second = JSON.stringify({ name: "Bob", scopes: ["mend"] })
          customers.ask(
            { ...operator, slot, method: "POST", path: "/operator/tokens", body: second },
            (data) => assign(text(data, "token"))
          )
        })
      }
    },
    resume: () => {
      for (const what of ["sending", "receiving"]) turn(0, "resume", what)
      for (const { id } of customers.companies) unfreeze(0, id)
    }
  }
}
