/** Sentences about refunds. */
export const en = {
  refundOpen: "You have a refund of {1}",
  refundTake: "Get the refund",
  refundCode: "Refund code",
  refundLink: "Refund link",
  refundSecret: "Anyone who sees this code can collect the money.",
  refundUntil: "Valid until {1}.",
  refundPending: "Your refund of {1} is on its way.",
  refundDone: "Your refund of {1} is complete.",
  refundAsk: "The seller is returning {1}. Ask the seller for the refund link, and quote the reference.",
  partialRefund: "Received {1}, less than the price."
}

/** The same sentences in another language. */
export type Words = Readonly<Record<keyof typeof en, string>>
