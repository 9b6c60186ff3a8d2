import type { Words } from "./en.ts"

export const fr: Words = {
  refundOpen: "Vous avez un remboursement de {1}",
  refundTake: "Récupérer le remboursement",
  refundCode: "Code de remboursement",
  refundLink: "Lien de remboursement",
  refundSecret: "Toute personne qui voit ce code peut encaisser l’argent.",
  refundUntil: "Valable jusqu’au {1}.",
  refundPending: "Votre remboursement de {1} est en route.",
  refundDone: "Votre remboursement de {1} est effectué.",
  refundAsk: "Le vendeur vous rembourse {1}. Demandez-lui le lien en indiquant la référence.",
  partialRefund: "Reçu : {1}, moins que le prix."
}
