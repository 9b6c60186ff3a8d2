import { webhooks } from "./features/webhooks/index.ts"

/** Features that follow what others publish, in the order of the documents. They use bodies of events, which fold over the list of features, so they cannot be in that list. */
export const following = [webhooks] as const
