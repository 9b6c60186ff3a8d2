import { type Made, type Shown, WalletConnections } from "../core/WalletConnections.ts"
import * as CompanyId from "@satrail/core/base/CompanyId"
import { Effect, Redacted, Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { OperatorCaller, OperatorScopes } from "@satrail/http/api/Authentication"
import * as Envelope from "@satrail/http/wire/Envelope"
import * as Errors from "@satrail/http/wire/Errors"
import { Example, type World } from "@satrail/http/wire/Examples"
import * as Idempotency from "@satrail/http/wire/Idempotency"
import { Seal } from "@satrail/http/wire/Seal"
import * as Section from "@satrail/http/api/Section"
import * as Member from "@satrail/http/wire/Member"
import * as View from "@satrail/http/wire/View"

const path = "/operator/api-keys/:id/wallet-connection"
const connectPath = "/operator/api-keys/:id/connect"
const params = { id: Schema.String }
const key = Schema.String.annotate({ description: "Nostr public key, x-only in hex" })

const view = View.make<Shown>()(
  {
    identifier: "WalletConnection",
    description: "An app that uses an API key over Nostr Wallet Connect (NIP-47)"
  },
  {
    id: Member.uuid((row) => row.id),
    company_id: Member.uuid((row) => row.companyId),
    api_key_id: Member.text((row) => row.apiKeyId),
    app_key: [key, (row) => row.appKey],
    wallet_key: [key, (row) => row.walletKey],
    relays: [Schema.Array(Schema.String), (row) => row.relays],
    created_at: Member.instant((row) => row.createdAtMillis)
  }
)

const Connected = Schema.Struct({
  ...view.schema.fields,
  connection: Schema.String.annotate({
    description:
      "Connection link for the app, `nostr+walletconnect://…`. It contains the app's secret key. Only this response contains it"
  })
}).annotate({ identifier: "NewWalletConnection" })

const connected = ({ connection, text }: Made): typeof Connected.Type => ({
  ...view.of(connection),
  connection: Redacted.value(text)
})

const example = ({ apiKey, companyId, at, wallet }: World): typeof view.schema.Type => ({
  id: wallet.id,
  company_id: companyId,
  api_key_id: apiKey.id,
  app_key: wallet.appKey,
  wallet_key: wallet.walletKey,
  relays: ["wss://relay.example.com"],
  created_at: at()
})

export const create = Section.operator(
  HttpApiEndpoint.post("connectWallet", connectPath, {
    params,
    headers: Idempotency.headers,
    success: Envelope.success(201, Connected),
    error: Errors.of("malformed", ...Idempotency.sealedErrors, "not_found", "store_unavailable")
  })
    .annotate(OperatorScopes, ["companies"])
    .annotate(OpenApi.Summary, "Connect an app to an API key")
    .annotate(
      OpenApi.Description,
      "Connects an app to an API key over Nostr Wallet Connect (NIP-47), through the relays in `SATRAIL_NWC_RELAYS`. The app can use the key's scopes within the key's limits until the key expires or is revoked. If the key needs a second operator's approval, connect the app before that approval. A key can have one app. The key must not have `allowed_from`, because a relay hides the app's IP address."
    )
    .annotate(Example, (world) => ({
      params: { id: world.apiKey.id },
      message: "App connected",
      data: { ...example(world), connection: world.wallet.connection }
    })),
  Effect.all([WalletConnections, Seal]),
  ([connections, sealer]) => {
    const creation = Idempotency.sealedCreation(connectPath, "App connected", connected, sealer)
    return Effect.fnUntraced(function* ({ params: { id }, headers, request }) {
      const once = yield* creation.once(
        request,
        headers["idempotency-key"],
        {},
        CompanyId.operator,
        connectPath.replace(":id", id)
      )
      return yield* creation.answer(
        yield* Errors.answered(connections.create(id, once.request, yield* OperatorCaller)),
        CompanyId.operator
      )
    })
  }
)

export const get = Section.operator(
  HttpApiEndpoint.get("getWalletConnection", path, {
    params,
    success: Envelope.success(200, view.schema),
    error: Errors.of("not_found", "store_unavailable")
  })
    .annotate(OpenApi.Summary, "Get the app of an API key")
    .annotate(
      OpenApi.Description,
      "Returns the connected app. Only the app has its secret key. To disconnect the app, revoke the API key."
    )
    .annotate(Example, (world) => ({
      params: { id: world.apiKey.id },
      message: "Connected app",
      data: example(world)
    })),
  WalletConnections,
  (connections) =>
    Effect.fnUntraced(function* ({ params: { id } }) {
      return Envelope.ok("Connected app", view.of(yield* Errors.answered(connections.get(id))))
    })
)
