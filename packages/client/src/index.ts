import { verify } from "./Webhooks.ts"

export { client, type Client } from "./Client.ts"
export type { CallOptions, CompanyRef, CreateOptions, List, Page } from "./Calls.ts"
export type { Consumer, OnOptions } from "./Consumers.ts"
export { errors, SatrailError, type Errors, type Issue } from "./Errors.ts"
export type { Amount, EventOf, Metadata, Money, Sats } from "./Plain.ts"
export type { MetadataNoun, Schemas, StandardSchema } from "./Schemas.ts"
export type { EventsQuery } from "./Stream.ts"
export type { Cursors, Options } from "./Transport.ts"
export { WebhookRefused, type Received } from "./Webhooks.ts"
export type * from "./Records.ts"

/** Verifies webhooks without a client. */
export const webhooks: { readonly verify: typeof verify } = { verify }
