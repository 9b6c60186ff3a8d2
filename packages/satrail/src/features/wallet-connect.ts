export const options = { walletConnections: { create: [undefined, "idempotencyKey", "*"] } } as const
