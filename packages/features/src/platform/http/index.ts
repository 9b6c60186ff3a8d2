import * as Feature from "@satrail/http/api/Feature"
import { credential } from "./Account.ts"
import * as PlatformKeys from "./PlatformKeys.ts"

export const platform = Feature.make({ operatorSections: [PlatformKeys.section], credentials: [credential] })
