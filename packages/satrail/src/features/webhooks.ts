import { wireTypes } from "@satrail/client/Plain"
import { verify } from "@satrail/client/Webhooks"
import { Invalid } from "@satrail/core/base/Invalid"
import { placeOf } from "@satrail/core/events/Events"
import * as Notice from "@satrail/core/events/Notice"
import type { Delivery } from "@satrail/features/webhooks/core/records/Delivery"
import type { Settings } from "@satrail/features/webhooks/core/records/Endpoint"
import { overlapSeconds, Webhooks } from "@satrail/features/webhooks/core/Webhooks"
import type * as Page from "@satrail/core/ledger/Page"
import * as Deliveries from "@satrail/features/webhooks/http/WebhookDeliveries"
import * as Endpoints from "@satrail/features/webhooks/http/WebhookEndpoints"
import * as View from "@satrail/features/webhooks/http/records/WebhookView"
import * as WebhookTest from "@satrail/features/webhooks/http/WebhookTest"
import * as EventIds from "@satrail/http/wire/EventIds"
import { Effect, Schema } from "effect"
import type { Changes, First, Id, Of } from "../Sharing.ts"
import { classes } from "../Errors.ts"
import { page } from "../Pages.ts"
import { company, fields, idempotencyKey, ids, listed, maybe, number, text, texts } from "../Fields.ts"

export const { EndpointNotEnabled, TooManyEndpoints } = classes
export const defaults = {
  webhooks: {
    create: [{ description: "", signatureHeader: null, types: [] }],
    deliveries: [undefined, undefined, page],
    enable: [undefined, undefined, { replayFrom: null }],
    rotateSecret: [undefined, undefined, { overlapSeconds: overlapSeconds.default }],
    update: [undefined, undefined, {}]
  }
} as const
export const parameters = {
  webhooks: {
    create: [
      fields({
        company,
        url: text,
        idempotencyKey,
        ...maybe({ description: text, signatureHeader: text, types: texts })
      })
    ],
    list: [company],
    get: ids,
    update: [
      ...ids,
      Schema.optional(fields(maybe({ description: text, signatureHeader: text, types: texts, url: text })))
    ],
    delete: ids,
    enable: [...ids, Schema.optional(fields(maybe({ replayFrom: text })))],
    disable: ids,
    replay: [...ids, fields({ replayFrom: text })],
    rotateSecret: [...ids, Schema.optional(fields(maybe({ overlapSeconds: number })))],
    test: ids,
    deliveries: [...ids, listed],
    resend: ids
  }
} as const

/** Functions that need no service. */
export const unwrapped = {
  webhooks: {
    /** Verifies a webhook, as the client does. */
    verify
  }
} as const

export const hidden = { webhooks: ["change", "remove", "rotate", "updateSettings"] } as const

type EndpointAsk = First<Webhooks["Service"]["create"]>

const settingsOf = (given: Changes<Settings>, now: Settings) => {
  const types = given.types === undefined ? now.types : (given.types ?? []).flatMap(wireTypes)
  return Effect.succeed({
    url: given.url ?? now.url,
    description: given.description === undefined ? now.description : (given.description ?? ""),
    signatureHeader: given.signatureHeader === undefined ? now.signatureHeader : given.signatureHeader,
    types
  })
}

const noSettings: Settings = { url: "", description: "", types: [], signatureHeader: null }

export const shared = (of: Of) => {
  const [webhooks, ids] = [of(Webhooks), of(EventIds.Ids)]
  const placeFrom = (companyId: Id, event: string) => {
    const place = ids.read(event, companyId)
    return place === undefined
      ? Effect.fail(
          new Invalid({ path: "replayFrom", message: "must be the id of an event of this company" })
        )
      : Effect.succeed(place)
  }
  const withEvent = (row: Delivery) => ({
    ...row,
    eventId: ids.write(placeOf(row.place) ?? Notice.first, row.eventCompanyId)
  })
  return {
    webhooks: {
      create: Effect.fnUntraced(function* ({
        companyId,
        request,
        ...settings
      }: Omit<EndpointAsk, "settings"> & Settings) {
        return yield* webhooks.create({
          companyId,
          settings: yield* settingsOf(settings, noSettings),
          ...(request && { request })
        })
      }),
      /** Changes the given settings of an endpoint. */
      update: Effect.fnUntraced(function* (companyId: Id, id: string, given: Changes<Settings>) {
        return yield* webhooks.updateSettings(companyId, id, (current) => settingsOf(given, current))
      }),
      delete: webhooks.remove,
      /** Replaces the secret. The previous one also signs for `overlapSeconds`. */
      rotateSecret: (companyId: Id, id: string, { overlapSeconds }: { readonly overlapSeconds: number }) =>
        webhooks.rotate(companyId, id, overlapSeconds),
      /** Enables the endpoint. Events are sent after the event `replayFrom`, or from where sending stopped. */
      enable: Effect.fnUntraced(function* (
        companyId: Id,
        id: string,
        { replayFrom }: { readonly replayFrom: string | null }
      ) {
        return yield* webhooks.enable(
          companyId,
          id,
          replayFrom === null ? undefined : yield* placeFrom(companyId, replayFrom)
        )
      }),
      /** Sends every event after `replayFrom` again, including events already delivered. */
      replay: Effect.fnUntraced(function* (
        companyId: Id,
        id: string,
        { replayFrom }: { readonly replayFrom: string }
      ) {
        return yield* webhooks.replay(companyId, id, yield* placeFrom(companyId, replayFrom))
      }),
      deliveries: (companyId: Id, id: string, query: Page.Asked) =>
        Effect.map(webhooks.deliveries(companyId, id, query), ({ rows, next }) => ({
          rows: rows.map(withEvent),
          next
        })),
      /** Sends a test event, waits for its first attempt, and returns the endpoint. */
      test: Effect.fnUntraced(function* (companyId: Id, id: string) {
        return (yield* WebhookTest.sent(webhooks, yield* WebhookTest.WaitMillis, companyId, id)).endpoint
      }),
      resend: (companyId: Id, id: string) => Effect.map(webhooks.resend(companyId, id), withEvent)
    }
  }
}

const endpoint = View.view.of
export const views = {
  webhooks: {
    create: Endpoints.issued.of,
    get: endpoint,
    list: endpoint,
    update: endpoint,
    delete: endpoint,
    enable: endpoint,
    disable: endpoint,
    replay: endpoint,
    test: endpoint,
    rotateSecret: Endpoints.issued.of,
    deliveries: Deliveries.view.of,
    resend: Deliveries.view.of
  }
} as const
