import { webhooks as core } from "@satrail/features/webhooks/core"
import { behaviours } from "../../world/Receivers.ts"
import * as Feature from "../Feature.ts"
import { acts } from "./Acts.ts"
import { watch } from "./Deliveries.ts"
import { stories } from "./Stories.ts"

export const webhooks = Feature.make(core)({
  acts,
  watch,
  stories,
  reading: ["knownDeliveries", "pendingDeliveries", "deliveriesTo"],
  changes: {
    EndpointCreated: "happens",
    EndpointChanged: { never: "the simulation never changes an endpoint's settings" },
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
  faults: [
    ...["dies before", "dies after", "unanswered after", "stray", "frozen after", "repeated"].map(
      (fate) => `web: ${fate}`
    ),
    ...behaviours.map((behaviour) => `receiver: ${behaviour}`)
  ],
  transitions: ["webhook: arrives", "webhook: is tried again", "webhook: arrives again"]
})
