import { WebhookReads } from "@satrail/core/features/webhooks/records/WebhookReads"
import * as Feature from "../Feature.ts"
import { make } from "./Reads.ts"
import { deletes, readable, tables } from "./Tables.ts"

export const webhooks = Feature.make({ tables, readable, deletes, reads: Feature.reads(WebhookReads, make) })
