import { by, named, request, text } from "../Fields.ts"

const apiKeyId = named("apiKeyId", text)
export const parameters = { walletConnections: { create: [apiKeyId, request, by], get: [apiKeyId] } } as const
