import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import {
  action,
  call,
  callFor,
  company,
  companyIdOf,
  ending,
  example,
  json,
  list,
  name,
  paging
} from "@satrail/http/commands/CommandParts"
import * as Feature from "@satrail/http/commands/Feature"

const person = Argument.String("id").pipe(Argument.withDescription("The person's id"))
const at = (id: string) => `/operator/people/${encodeURIComponent(id)}`
const approve = "people approve"
const ofCompany = company.pipe(Argument.optional)

const role = Flag.Literals("role", ["viewer", "bookkeeper", "operator", "admin"]).pipe(
  Flag.withDescription("The person's role; admin by default"),
  Flag.withDefault("admin" as const)
)

const commands = Command.make("people").pipe(
  Command.withDescription("Invite, recover and remove users who sign in to the console with a passkey"),
  Command.withSubcommands([
    Command.make("list", { ...paging, company: ofCompany, json }, ({ after: cursor, company, json, limit }) =>
      Effect.flatMap(companyIdOf(company), (company_id) =>
        list({ json, query: { limit, cursor, company_id } }, "/operator/people", [
          "id",
          "name",
          "role",
          "status",
          "invited_until",
          "approval",
          "created_at"
        ])
      )
    ).pipe(Command.withDescription("List a company's people. Without a company, list the operators")),
    Command.make("invite", { company: ofCompany, json, name, role }, ({ company, json, name, role }) =>
      company._tag === "Some"
        ? callFor(company.value, { json, approve }, "POST", "/operator/people", { name, role })
        : call({ json, approve }, "POST", "/operator/people", { name, role })
    ).pipe(
      Command.withDescription(
        "Invite a person, and print a single-use link that adds a passkey. Without a company, the person becomes an operator. If `approval` is `pending`, a second operator must approve the invitation"
      ),
      example("people invite --name Ada", "Invite the first operator"),
      example(
        "people invite 01a1f768-1c70-748e-8579-81b7373e8599 --name Mara --role bookkeeper",
        "Invite a person to a company"
      )
    ),
    action(
      "approve",
      person,
      "POST",
      (id) => `${at(id)}/approve`,
      "Approve another operator's invitation or recovery"
    ),
    Command.make("recover", { id: person, json }, ({ id, json }) =>
      call({ json, approve }, "POST", `${at(id)}/recover`)
    ).pipe(Command.withDescription("Revoke a person's passkeys, and print a link for a new one")),
    ending("remove", person, at, "Remove a person immediately")
  ])
)

export const people = Feature.make({ commands: { Companies: [commands] } })
