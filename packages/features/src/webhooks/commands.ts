import { Argument, Command, Flag } from "effect/cli"
import { action, call, example, json, list, listed, paging } from "@satrail/http/commands/CommandParts"
import * as Feature from "@satrail/http/commands/Feature"
import * as Listing from "@satrail/http/commands/Listing"

// Commands for the operator's webhook endpoints, which receive the events of all companies.

const root = "/operator/webhook-endpoints"
const endpoint = Argument.String("endpoint").pipe(Argument.withDescription("The endpoint's id"))
const at = (endpoint: string) => `${root}/${encodeURIComponent(endpoint)}`

const url = Flag.String("url")
const urlIs = "The URL to which events are posted: https, on a public host"

/** An endpoint's settings in addition to its URL, named like the API's fields. */
const settings = {
  description: Flag.String("description").pipe(Flag.withDescription("For operators"), Flag.optional),
  types: Flag.String("types").pipe(
    Flag.withDescription(
      "Only these types, or prefixes such as deposit.*, separated by commas; all by default"
    ),
    Flag.map(listed),
    Flag.optional
  ),
  signature_header: Flag.String("signature-header").pipe(
    Flag.withDescription("The name of an additional header with a plain HMAC signature"),
    Flag.optional
  )
}

const ofDelivery = ["id", "event_type", "subject", "status", "attempts", "response_status", "next_attempt_at"]

const replayFrom = "The id of an event. All events after it are sent, even if they were sent before"

const commands = Command.make("webhooks").pipe(
  Command.withDescription(
    "Manage the operator's webhook endpoints, which receive the events of all companies"
  ),
  Command.withSubcommands([
    Command.make("list", { json }, ({ json }) =>
      list({ json, query: {} }, root, ["id", "url", "types", "status", "failing_since"])
    ).pipe(Command.withDescription("List endpoints")),
    action("show", endpoint, "GET", at, "Show an endpoint"),
    Command.make(
      "create",
      { url: url.pipe(Flag.withDescription(`${urlIs}; required`)), ...settings, json },
      ({ json, ...given }) => call({ json }, "POST", root, given)
    ).pipe(
      Command.withDescription("Create an endpoint. Its secret is shown once"),
      example(
        "webhooks create --url https://ops.example/events --types payment.*,adjustment.*",
        "Receive events that need an operator's attention"
      )
    ),
    Command.make(
      "change",
      { url: url.pipe(Flag.withDescription(urlIs), Flag.optional), ...settings, endpoint, json },
      ({ endpoint, json, ...given }) => call({ json }, "PATCH", at(endpoint), given)
    ).pipe(Command.withDescription("Change an endpoint's settings. Options you leave out stay as they are")),
    action("delete", endpoint, "DELETE", at, "Delete an endpoint. No more events are sent to it"),
    action(
      "disable",
      endpoint,
      "POST",
      (id) => `${at(id)}/disable`,
      "Disable an endpoint. No events are sent until it is enabled"
    ),
    Command.make(
      "enable",
      {
        endpoint,
        json,
        from: Flag.String("replay-from").pipe(Flag.withDescription(replayFrom), Flag.optional)
      },
      ({ endpoint, from, json }) => call({ json }, "POST", `${at(endpoint)}/enable`, { replay_from: from })
    ).pipe(Command.withDescription("Enable an endpoint. Deliveries resume from where they stopped")),
    action("test", endpoint, "POST", (id) => `${at(id)}/test`, "Send a test event to an endpoint"),
    Command.make(
      "replay",
      { endpoint, from: Argument.String("from").pipe(Argument.withDescription(replayFrom)), json },
      ({ endpoint, from, json }) => call({ json }, "POST", `${at(endpoint)}/replay`, { replay_from: from })
    ).pipe(Command.withDescription("Resend all events after a given one")),
    Command.make(
      "rotate-secret",
      {
        endpoint,
        json,
        overlap: Flag.Int("overlap-seconds").pipe(
          Flag.withDescription("How long deliveries are also signed with the old secret"),
          Flag.optional
        )
      },
      ({ endpoint, json, overlap }) =>
        call({ json }, "POST", `${at(endpoint)}/rotate-secret`, { overlap_seconds: overlap })
    ).pipe(Command.withDescription("Replace an endpoint's secret. The new one is shown once")),
    Command.make("deliveries", { ...paging, endpoint, json }, ({ after: cursor, endpoint, json, limit }) =>
      list({ json, query: { limit, cursor } }, `${at(endpoint)}/deliveries`, ofDelivery)
    ).pipe(Command.withDescription("List deliveries to an endpoint, newest first")),
    Command.make(
      "resend",
      { delivery: Argument.String("delivery").pipe(Argument.withDescription("The delivery's id")), json },
      ({ delivery, json }) =>
        call({ json }, "POST", `/operator/webhook-deliveries/${encodeURIComponent(delivery)}/resend`)
    ).pipe(Command.withDescription("Resend a delivery immediately"))
  ])
)

export const webhooks = Feature.make({
  commands: { Notifications: [commands] },
  collections: { [root]: { noun: "endpoint", isUnpaged: true } },
  listings: {
    webhooks: Listing.listed("webhook-endpoints", "id", "url", "status", "failing_since"),
    deliveries: { one: (id) => `webhook-endpoints/${id}/deliveries`, columns: ofDelivery }
  }
})
