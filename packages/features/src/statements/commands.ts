import { Argument, Command, Flag } from "effect/cli"
import { call, company, example, json, of, print } from "@satrail/http/commands/CommandParts"
import * as Feature from "@satrail/http/commands/Feature"

const statement = Command.make(
  "statement",
  {
    company,
    html: Flag.Boolean("html").pipe(
      Flag.withDescription("Write an HTML page, for printing or archiving"),
      Flag.withDefault(false)
    ),
    json,
    month: Argument.String("month").pipe(Argument.withDescription("The month in UTC, such as 2026-01"))
  },
  ({ company, html, json, month }) => {
    const route = `${of(company)}/statements/${encodeURIComponent(month)}`
    if (!html) return call({ json }, "GET", `${route}?format=json`)
    return print(`${route}?format=html`)
  }
).pipe(
  Command.withDescription(
    "Show a company's monthly statement: opening balance, in, out, fees, closing balance"
  ),
  example("statement 018f3b1e-7c00-7a3b-9c1d-2f5e6a7b8c9d 2026-01 --html > january.html", "As a page")
)

export const statements = Feature.make({ commands: { Ledger: [statement] } })
