import { over } from "./Client.ts"
import type { OperatorClient } from "./Client.ts"
import { allRoutes } from "./OperatorRoutes.ts"
import type { Metadata } from "./Plain.ts"
import type { WithSchemas } from "./Schemas.ts"
import { type Options, world } from "./Transport.ts"

export type { OperatorClient } from "./Client.ts"

/**
 * Creates a client with the operators' methods, too.
 *
 * @example
 * const pay = client({ url: "https://pay.example.com", operatorToken: process.env.SATRAIL_OPERATOR_TOKEN })
 * await pay.stops.pause({ what: "withdrawals" })
 */
export const client = <M = Metadata>(options: Options & WithSchemas<M>): OperatorClient<M> =>
  over<M, OperatorClient<M>>(options, world, undefined, allRoutes)
