import { type Canary, core, coreTest, inMemory, memory } from "../Canary.ts"

export const offers: ReadonlyArray<Canary> = [
  {
    name: "paid-offers-are-nobodys",
    rows: [60],
    bug: "what is paid for an offer of ours has no invoice of ours, and is credited to nobody",
    file: core("receiving/Credits"),
    find: "Option.isSome(known) || offerId === undefined ||",
    replace: "Option.isSome(known) || offerId !== undefined ||",
    test: "packages/http/test/offers.test.ts",
    titles: "C60: offer"
  },
  {
    name: "own-offers-not-looked-up",
    rows: [],
    bug: "the node is asked to pay an offer of its own, which no node can",
    file: core("sending/Recipients"),
    find: "return yield* findOffer(destination.bolt12)",
    replace: `return { _tag: "Bolt12", bolt12: destination.bolt12 }`,
    test: coreTest("OwnOffers"),
    titles: "own offers: it is paid inside"
  },
  {
    name: "own-offers-need-the-node",
    rows: [],
    bug: "an offer of ours is refused where the node cannot pay offers, though none is asked to pay it",
    file: core("sending/PayableOffers"),
    find: "Option.isSome(yield* issued.byText(bolt12.offer))",
    replace: "false",
    test: coreTest("OwnOffers"),
    titles: "own offers: it is paid inside where the node cannot"
  },
  {
    name: "offers-nobody-can-pay",
    rows: [],
    bug: "an offer of somebody else's is taken, and money held for it, though the node cannot pay offers",
    file: core("sending/PayableOffers"),
    find: "Option.isSome(yield* issued.byText(bolt12.offer))",
    replace: "true",
    test: coreTest("OwnOffers"),
    titles: "own offers: where the node cannot pay offers, nobody else's"
  },
  {
    name: "own-offer-pays-its-payer",
    rows: [],
    bug: "what is paid for an offer of ours goes back to whoever pays it",
    file: core("sending/Transfers"),
    find: "{ companyId: offer.companyId, metadata }",
    replace: "{ companyId: withdrawal.companyId, metadata }",
    test: coreTest("OwnOffers"),
    titles: "own offers: it is paid inside"
  },
  {
    name: "own-offer-of-a-deleted-address",
    rows: [],
    bug: "an offer is paid inside though the Lightning address that it belongs to was deleted",
    file: core("sending/Recipients"),
    find: "if (Option.exists(address, ({ deletedAtMillis }) => deletedAtMillis !== null))",
    replace: "if (Option.exists(address, ({ deletedAtMillis }) => deletedAtMillis === undefined))",
    test: coreTest("OwnOffers"),
    titles: "own offers: one of a deleted"
  },
  {
    name: "own-offers-by-their-beginning",
    rows: [],
    bug: "what begins like an offer of ours is taken for it",
    file: memory("features/Offers"),
    find: "one.offer === offer",
    replace: "one.offer.startsWith(offer.slice(0, 40))",
    test: inMemory,
    titles: "an offer of ours is found"
  }
]
