import { webhooks } from "../features/webhooks/index.ts"

/**
 * Features that consume other features' events, in documentation order. They need the schemas of event bodies,
 * which are made from the list of features, so they cannot be in that list.
 */
export const following = [webhooks] as const
