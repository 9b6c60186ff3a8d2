import { companyPanel } from "./CompanyPeople.ts"
import { people as operatorPages } from "./OperatorPeople.ts"
import { people as pages } from "./People.ts"
import { may } from "@satrail/ui/console/Page"
import type { Feature } from "@satrail/ui/console/Feature"

export const people: Feature = {
  name: "people",
  records: { company: "Person" },
  pages,
  operatorPages,
  ofCompany: { panel: companyPanel },
  rights: { path: "people", text: "People" },
  overview: {
    setup: async (visit) => {
      if (!may(visit, "admin")) return undefined
      const people = (await visit.api.call("GET /v1/people", { query: { limit: 10 } })).filter(
        ({ status }) => status !== "removed"
      )
      return {
        text: people.length === 0 ? "Invite a person" : "Invite a second person",
        why: "Each person signs in with a passkey. Ask the operator to invite a person who can approve what you send.",
        href: visit.to("people/new"),
        isDone: people.length > 1
      }
    }
  },
  entry: { section: "Company", rank: 10, name: "people", path: "people", text: "People", glyph: "people" },
  operatorEntry: {
    section: "Installation",
    rank: 10,
    name: "people",
    path: "people",
    text: "People",
    glyph: "people"
  }
}
