import type { Words } from "./en.ts"

export const pt: Words = {
  refundOpen: "Você tem um reembolso de {1}",
  refundTake: "Receber o reembolso",
  refundCode: "Código de reembolso",
  refundLink: "Link de reembolso",
  refundSecret: "Quem vir este código pode resgatar o dinheiro.",
  refundUntil: "Válido até {1}.",
  refundPending: "O seu reembolso de {1} está a caminho.",
  refundDone: "O seu reembolso de {1} foi concluído.",
  refundAsk: "O vendedor está devolvendo {1}. Peça o link de reembolso e informe a referência.",
  partialRefund: "Recebido: {1}, menos que o preço."
}
