import * as Feature from "@satrail/http/api/Feature"
import * as Offers from "./Offers.ts"

export const offers = Feature.make({ receive: Offers.operations, views: { offer: Offers.view } })
