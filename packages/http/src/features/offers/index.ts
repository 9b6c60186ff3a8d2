import * as Feature from "../Feature.ts"
import * as Offers from "./Offers.ts"

export const offers = Feature.make({ receive: Offers.operations, views: { offer: Offers.view } })
