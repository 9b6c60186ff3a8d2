import * as Feature from "@satrail/postgres/client/Feature"
import { tables } from "./Tables.ts"

export const walletConnect = Feature.make({ tables })
