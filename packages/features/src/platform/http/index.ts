import * as Feature from "@satrail/http/api/Feature"
import { credential } from "./Account.ts"

export const platform = Feature.make({ credentials: [credential] })
