import type { Words } from "./en.ts"

export const de: Words = {
  refundOpen: "Für Sie liegt eine Erstattung von {1} bereit",
  refundTake: "Erstattung abholen",
  refundCode: "Erstattungscode",
  refundLink: "Erstattungslink",
  refundSecret: "Wer diesen Code sieht, kann das Geld abholen.",
  refundUntil: "Gültig bis zum {1}.",
  refundPending: "Ihre Erstattung von {1} ist unterwegs.",
  refundDone: "Ihre Erstattung von {1} ist abgeschlossen.",
  refundAsk:
    "Der Verkäufer zahlt {1} zurück. Bitten Sie ihn um den Erstattungslink und nennen Sie die Zahlungsreferenz.",
  partialRefund: "{1} erhalten, weniger als der Preis."
}
