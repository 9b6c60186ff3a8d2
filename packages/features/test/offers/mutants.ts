import { type Canary, core, feature, featureTest, inMemory } from "../../../../test/defences/Canary.ts"

export const offers: ReadonlyArray<Canary> = [
  {
    name: "paid-offers-are-nobodys",
    rows: [60],
    bug: "a payment of our offer has no invoice and is credited to no company",
    file: core("receiving/Credits"),
    in: "make",
    find: "Option.isSome(known) || offerId === undefined ||",
    replace: "Option.isSome(known) || offerId !== undefined ||",
    test: "packages/features/test/offers/http/offers.test.ts",
    titles: "C60: offer"
  },
  {
    name: "own-offers-not-looked-up",
    bug: "the node is called to pay its own offer, which no node can",
    file: core("sending/Recipients"),
    in: "make",
    find: "return yield* findOffer(destination.bolt12)",
    replace: `return { _tag: "Bolt12", bolt12: destination.bolt12 }`,
    test: featureTest("offers/core/OwnOffers"),
    titles: "own offers: a payment is settled internally"
  },
  {
    name: "own-offers-need-the-node",
    bug: "our own offer is refused if the node cannot pay offers, although the node is not needed",
    file: core("sending/PaymentChecks"),
    in: "make",
    find: `recipient._tag === "Bolt12" && !paysOffers`,
    replace: `"bolt12" in recipient && !paysOffers`,
    test: featureTest("offers/core/OwnOffers"),
    titles: "own offers: a payment is settled internally even if the node cannot"
  },
  {
    name: "offers-nobody-can-pay",
    bug: "an external offer is accepted, and money held for it, although the node cannot pay offers",
    file: core("sending/PaymentChecks"),
    in: "make",
    find: `recipient._tag === "Bolt12" && !paysOffers`,
    replace: `recipient._tag === "Bolt12" && amount < 0n`,
    test: featureTest("offers/core/OwnOffers"),
    titles: "own offers: if the node cannot pay offers, external offers"
  },
  {
    name: "own-offer-pays-its-payer",
    bug: "a payment of our own offer is returned to its payer",
    file: core("sending/Transfers"),
    in: "make",
    find: "{ companyId: issued.companyId, ...own }",
    replace: "{ companyId: withdrawal.companyId, ...own }",
    test: featureTest("offers/core/OwnOffers"),
    titles: "own offers: a payment is settled internally"
  },
  {
    name: "own-offer-of-a-deleted-address",
    bug: "an offer settles internally although its Lightning address was deleted",
    file: core("sending/Recipients"),
    in: "offersIn",
    find: "if (Option.exists(address, ({ deletedAtMillis }) => deletedAtMillis !== null))",
    replace: "if (Option.exists(address, ({ deletedAtMillis }) => deletedAtMillis === undefined))",
    test: featureTest("offers/core/OwnOffers"),
    titles: "own offers: a deleted Lightning address's offer"
  },
  {
    name: "own-offers-by-their-beginning",
    bug: "an offer with the same beginning as ours is treated as ours",
    file: feature("offers/memory"),
    in: "make",
    find: "one.offer === offer",
    replace: "one.offer.startsWith(offer.slice(0, 40))",
    test: inMemory,
    titles: "an offer that we issued is found"
  }
]
