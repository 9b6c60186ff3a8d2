import type { Words } from "./en.ts"

export const es: Words = {
  refundOpen: "Tiene un reembolso de {1}",
  refundTake: "Obtener el reembolso",
  refundCode: "Código de reembolso",
  refundLink: "Enlace de reembolso",
  refundSecret: "Cualquiera que vea este código puede cobrar el dinero.",
  refundUntil: "Válido hasta el {1}.",
  refundPending: "Su reembolso de {1} está en camino.",
  refundDone: "Su reembolso de {1} se ha completado.",
  refundAsk: "El vendedor le devuelve {1}. Pídale el enlace de reembolso e indique la referencia.",
  partialRefund: "Importe recibido: {1}, menos que el precio."
}
