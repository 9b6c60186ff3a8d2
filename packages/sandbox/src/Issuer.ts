import * as Bolt12 from "@satrail/bitcoin/Bolt12"
import { NodeUnavailable } from "@satrail/core/nodes/LightningReceiver"
import { OfferIssuer } from "@satrail/core/nodes/OfferIssuer"
import { Effect, Result } from "effect"
import * as Network from "./Network.ts"
import * as World from "./World.ts"

/** Our id for an offer without its dashes, as stored in the offer's metadata. */
const packed = (id: string): string => id.replaceAll("-", "")

const unpacked = (metadata: string): string =>
  metadata.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5")

/**
 * Returns the service's node that issued an offer and our id for the offer, or undefined if no service issued
 * the offer.
 */
export const issued = (world: World.World, { issuerId, metadata = "" }: Bolt12.Bolt12) => {
  const node = Network.services.find((one) => world.keys.node(one).publicKey === issuerId)
  return node === undefined ? undefined : { node, id: unpacked(metadata) }
}

/**
 * The offers of a service's node. Defaults to our node. It stores nothing about an offer, because the offer
 * contains everything.
 */
export const make = (world: World.World, node = Network.us): OfferIssuer["Service"] =>
  OfferIssuer.of({
    createOffer: ({ id, description, amount }) =>
      World.reachable(
        world,
        "node",
        () =>
          new NodeUnavailable({ operation: "createOffer", cause: new Error("The sandbox node is paused") }),
        Effect.sync(() =>
          Result.getOrThrow(
            Bolt12.encode({
              networks: [world.network],
              description,
              metadata: packed(id),
              issuerId: world.keys.node(node).publicKey,
              ...(amount !== null && { amount })
            })
          )
        )
      )
  })
