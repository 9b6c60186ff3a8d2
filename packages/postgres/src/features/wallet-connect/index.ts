import * as Feature from "../Feature.ts"
import { tables } from "./Tables.ts"

export const walletConnect = Feature.make({ tables })
