import { webhooks as core } from "@satrail/core/features/webhooks/records/index"
import * as Feature from "../Feature.ts"

export const webhooks = Feature.make(core)({
  changes: {
    EndpointCreated: "happens",
    EndpointChanged: { never: "endpoints here want the same from first to last" },
    EndpointRotated: "happens",
    EndpointEnabled: "happens",
    EndpointDisabled: "happens",
    EndpointDeleted: "happens",
    EndpointProgressed: "happens",
    EndpointTested: "happens",
    DeliveryMade: "happens",
    DeliveryTried: "happens",
    DeliveryResent: "happens"
  },
  transitions: ["webhook: arrives", "webhook: is tried again", "webhook: arrives again"]
})
