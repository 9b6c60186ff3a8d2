import { WebhookReads } from "../core/records/WebhookReads.ts"
import * as Feature from "@satrail/postgres/client/Feature"
import { make } from "./Reads.ts"
import { deletes, migrations, readable, tables } from "./Tables.ts"

export const webhooks = Feature.make({
  tables,
  migrations,
  readable,
  deletes,
  reads: Feature.reads(WebhookReads, make)
})
