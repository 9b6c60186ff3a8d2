import { Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import {
  action,
  call,
  ending,
  example,
  json,
  list,
  listed,
  name,
  paging
} from "@satrail/http/commands/CommandParts"
import * as Feature from "@satrail/http/commands/Feature"

const path = "/operator/platform-keys"
const id = Argument.String("id").pipe(Argument.withDescription("The platform key's id"))
const at = (id: string) => `${path}/${encodeURIComponent(id)}`

const commands = Command.make("platform-keys").pipe(
  Command.withDescription("List, issue, approve and revoke keys that act for any company"),
  Command.withSubcommands([
    Command.make("list", { ...paging, json }, ({ after: cursor, json, limit }) =>
      list({ json, query: { limit, cursor } }, path, [
        "id",
        "name",
        "scopes",
        "approval",
        "created_at",
        "expires_at",
        "revoked_at"
      ])
    ).pipe(Command.withDescription("List platform keys, newest first, including revoked ones")),
    Command.make(
      "issue",
      {
        json,
        name,
        scopes: Flag.String("scopes").pipe(
          Flag.withDescription("read, receive, send, approve, webhooks, admin: separated by commas; required")
        ),
        expiresAt: Flag.String("expires-at").pipe(
          Flag.withDescription("When the key expires, such as 2027-01-31T12:00:00.000Z; never by default"),
          Flag.optional
        ),
        daySats: Flag.Int("day-sats").pipe(
          Flag.withDescription("Most that the key may send in a day from each company, in sats, with fees"),
          Flag.optional
        ),
        allowedFrom: Flag.String("allowed-from").pipe(
          Flag.withDescription("IP addresses and ranges from which the key can be used, separated by commas"),
          Flag.map(listed),
          Flag.optional
        )
      },
      ({ allowedFrom, daySats, expiresAt, json, name, scopes }) =>
        call({ json, approve: "platform-keys approve" }, "POST", path, {
          name,
          scopes: listed(scopes),
          expires_at: expiresAt,
          limits: Option.map(daySats, (sats) => ({ day_sats: sats })),
          allowed_from: Option.map(allowedFrom, (ranges) => ({ for: "everything", ranges }))
        })
    ).pipe(
      Command.withDescription(
        "Issue a platform key. It is shown once. If `approval` is `pending`, a second operator must run `platform-keys approve` before it works"
      ),
      example("platform-keys issue --name marketplace --scopes read,receive", "A key that cannot send")
    ),
    action(
      "approve",
      id,
      "POST",
      (id) => `${at(id)}/approve`,
      "Approve a key that another operator requested"
    ),
    ending("revoke", id, at, "Revoke a platform key, in every process")
  ])
)

export const platform = Feature.make({
  commands: { Companies: [commands] },
  collections: { [path]: { noun: "platform key" } }
})
