import { webhooks } from "./webhooks/Process.ts"

/** Parts that features add to a process: references, and workers that call customers' servers. */
export const processes = [webhooks] as const
