import { Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import {
  action,
  call,
  company,
  ending,
  example,
  json,
  key,
  list,
  listed,
  name,
  of,
  ofKey,
  paging
} from "@satrail/http/commands/CommandParts"

// Commands that manage a company's API keys.

const ranges = "IPv4 and IPv6 addresses and ranges, separated by commas, such as 203.0.113.0/24,2001:db8::/32"

/** Which operations are restricted to the allowed addresses. */
const confined = Flag.Literals("allowed-for", ["everything", "sending"]).pipe(
  Flag.withDescription("What to reject from other addresses: everything (default) or sending"),
  Flag.withDefault("everything" as const)
)

export const keys = Command.make("keys").pipe(
  Command.withDescription("List, issue, approve, restrict, connect, rotate and revoke API keys"),
  Command.withSubcommands([
    Command.make("list", { ...paging, company, json }, ({ after: cursor, company, json, limit }) =>
      list({ json, query: { limit, cursor } }, `${of(company)}/api-keys`, [
        "id",
        "name",
        "scopes",
        "approval",
        "created_at",
        "revoked_at",
        "last_used_at"
      ])
    ).pipe(Command.withDescription("List a company's keys, including revoked ones")),
    Command.make(
      "issue",
      {
        company,
        json,
        name,
        scopes: Flag.String("scopes").pipe(
          Flag.withDescription(
            "read, receive, send, approve, webhooks, admin: separated by commas; admin by default"
          ),
          Flag.withDefault("admin")
        ),
        expiresAt: Flag.String("expires-at").pipe(
          Flag.withDescription("When the key expires, such as 2027-01-31T12:00:00.000Z; never by default"),
          Flag.optional
        ),
        allowedFrom: Flag.String("allowed-from").pipe(
          Flag.withDescription(ranges),
          Flag.map(listed),
          Flag.optional
        ),
        confined
      },
      ({ allowedFrom, company, confined, expiresAt, json, name, scopes }) =>
        call({ json, approve: "keys approve" }, "POST", `${of(company)}/api-keys`, {
          name,
          scopes: listed(scopes),
          expires_at: expiresAt,
          allowed_from: Option.map(allowedFrom, (ranges) => ({ for: confined, ranges }))
        })
    ).pipe(
      Command.withDescription(
        "Issue a key. It is shown once. If `approval` is `pending`, a second operator must run `keys approve` before the key works"
      ),
      example(
        "keys issue 01a1f768-1c70-748e-8579-81b7373e8599 --name shop --scopes read,receive",
        "A key that cannot send"
      )
    ),
    Command.make(
      "allow",
      {
        key,
        json,
        from: Argument.String("from").pipe(
          Argument.withDescription(`${ranges}; \`anywhere\` removes the restriction`)
        ),
        confined
      },
      ({ confined, from, json, key }) =>
        call({ json }, "PUT", `${ofKey(key)}/allowed-from`, {
          allowed_from: from === "anywhere" ? null : { for: confined, ranges: listed(from) }
        })
    ).pipe(
      Command.withDescription(
        "Set the IP addresses from which a key can be used. They apply in every process when the command returns"
      ),
      example(
        "keys allow 7Kq2mVx9TbZc 203.0.113.0/24,2001:db8::/32",
        "Reject this key from any other address"
      )
    ),
    Command.make(
      "rotate",
      {
        json,
        key,
        overlap: Flag.Int("overlap-seconds").pipe(
          Flag.withDescription("How long the old key stays valid alongside the new one; 0 by default"),
          Flag.withDefault(0)
        )
      },
      ({ json, key, overlap }) =>
        call({ json, approve: "keys approve" }, "POST", `${ofKey(key)}/rotate`, { overlap_seconds: overlap })
    ).pipe(
      Command.withDescription(
        "Replace a key. The new one is shown once. If `approval` is `pending`, a second operator must run `keys approve` before the key works"
      )
    ),
    action(
      "approve",
      key,
      "POST",
      (key) => `${ofKey(key)}/approve`,
      "Approve a key that another operator issued or rotated. To reject it, revoke it"
    ).pipe(example("keys approve 7Kq2mVx9TbZc", "The key is now valid")),
    action(
      "connect",
      key,
      "POST",
      (key) => `${ofKey(key)}/connect`,
      "Connect an app to a key with Nostr Wallet Connect. The connection string is shown once"
    ).pipe(
      example(
        "keys connect 7Kq2mVx9TbZc",
        "The app can spend within the key's limits until the key is revoked"
      )
    ),
    action(
      "connection",
      key,
      "GET",
      (key) => `${ofKey(key)}/wallet-connection`,
      "Show a key's connected app"
    ),
    ending("revoke", key, ofKey, "Revoke a key immediately").pipe(
      example(
        "keys revoke 7Kq2mVx9TbZc --void-links",
        "Revoke a stolen key, and cancel its vouchers and refund links"
      )
    )
  ])
)
