import type { Words } from "./en.ts"

export const fr: Words = {
  refundOpen: "Vous avez un remboursement de {1}",
  refundTake: "Récupérer le remboursement",
  refundCode: "Code de remboursement",
  refundLink: "Lien de remboursement",
  refundSecret: "Toute personne qui voit ce code peut encaisser l’argent.",
  refundUntil: "Valable jusqu’au {1}.",
  refundPending: "Votre remboursement de {1} est en route.",
  refundDone: "Votre remboursement de {1} a été effectué.",
  refundAsk:
    "Le vendeur vous rembourse {1}. Demandez-lui le lien de remboursement en indiquant la référence.",
  partialRefund: "Montant reçu\u00a0: {1}, inférieur au prix."
}
