import type { Locale } from "@satrail/core/receiving/Checkout"

/** What the page of a checkout says. `{1}` and `{2}` are filled in. */
export interface Words {
  readonly pay: string
  readonly anyAmount: string
  readonly scan: string
  readonly open: string
  readonly lightning: string
  readonly address: string
  readonly until: string
  readonly seen: string
  readonly paid: string
  readonly late: string
  readonly received: string
  readonly more: string
  readonly missing: string
  readonly expired: string
  readonly canceled: string
  readonly order: string
  readonly goOn: string
  readonly back: string
  readonly again: string
}

export const words: { readonly [locale in Locale]: Words } = {
  en: {
    pay: "Pay with bitcoin",
    anyAmount: "Any amount",
    scan: "Scan this code with a bitcoin wallet",
    open: "Open in a wallet",
    lightning: "Lightning invoice",
    address: "Bitcoin address",
    until: "Pay before {1}",
    seen: "Your payment of {1} was seen. It is being confirmed.",
    paid: "Paid",
    late: "The payment came late, and was received.",
    received: "Received: {1}",
    more: "That is {1} more than was asked for.",
    missing: "{1} were received. {2} are still missing.",
    expired: "The time to pay is over. Do not pay any more.",
    canceled: "This payment was canceled. Do not pay any more.",
    order: "Order {1}",
    goOn: "Go on",
    back: "Cancel and go back",
    again: "Look again"
  },
  de: {
    pay: "Mit Bitcoin bezahlen",
    anyAmount: "Beliebiger Betrag",
    scan: "Diesen Code mit einer Bitcoin-Wallet scannen",
    open: "In einer Wallet öffnen",
    lightning: "Lightning-Rechnung",
    address: "Bitcoin-Adresse",
    until: "Bezahlen bis {1}",
    seen: "Ihre Zahlung von {1} ist eingegangen. Sie wird bestätigt.",
    paid: "Bezahlt",
    late: "Die Zahlung kam spät und ist angekommen.",
    received: "Erhalten: {1}",
    more: "Das sind {1} mehr als verlangt.",
    missing: "{1} sind angekommen. {2} fehlen noch.",
    expired: "Die Zeit zum Bezahlen ist vorbei. Bitte nicht mehr bezahlen.",
    canceled: "Diese Zahlung wurde storniert. Bitte nicht mehr bezahlen.",
    order: "Bestellung {1}",
    goOn: "Weiter",
    back: "Abbrechen und zurück",
    again: "Erneut prüfen"
  },
  es: {
    pay: "Pagar con bitcoin",
    anyAmount: "Cualquier importe",
    scan: "Escanee este código con un monedero de bitcoin",
    open: "Abrir en un monedero",
    lightning: "Factura Lightning",
    address: "Dirección de bitcoin",
    until: "Pague antes de {1}",
    seen: "Se ha visto su pago de {1}. Se está confirmando.",
    paid: "Pagado",
    late: "El pago llegó tarde y se ha recibido.",
    received: "Recibido: {1}",
    more: "Son {1} más de lo pedido.",
    missing: "Se han recibido {1}. Faltan {2}.",
    expired: "El plazo de pago ha terminado. No pague ya.",
    canceled: "Este pago se ha cancelado. No pague ya.",
    order: "Pedido {1}",
    goOn: "Continuar",
    back: "Cancelar y volver",
    again: "Volver a mirar"
  },
  fr: {
    pay: "Payer en bitcoin",
    anyAmount: "Montant libre",
    scan: "Scannez ce code avec un portefeuille bitcoin",
    open: "Ouvrir dans un portefeuille",
    lightning: "Facture Lightning",
    address: "Adresse bitcoin",
    until: "À payer avant {1}",
    seen: "Votre paiement de {1} a été vu. Il est en cours de confirmation.",
    paid: "Payé",
    late: "Le paiement est arrivé en retard, et a été reçu.",
    received: "Reçu : {1}",
    more: "C’est {1} de plus que demandé.",
    missing: "{1} ont été reçus. Il manque encore {2}.",
    expired: "Le délai de paiement est écoulé. Ne payez plus.",
    canceled: "Ce paiement a été annulé. Ne payez plus.",
    order: "Commande {1}",
    goOn: "Continuer",
    back: "Annuler et revenir",
    again: "Vérifier à nouveau"
  },
  pt: {
    pay: "Pagar com bitcoin",
    anyAmount: "Qualquer valor",
    scan: "Leia este código com uma carteira de bitcoin",
    open: "Abrir numa carteira",
    lightning: "Fatura Lightning",
    address: "Endereço de bitcoin",
    until: "Pague antes de {1}",
    seen: "O seu pagamento de {1} foi visto. Está a ser confirmado.",
    paid: "Pago",
    late: "O pagamento chegou tarde e foi recebido.",
    received: "Recebido: {1}",
    more: "São {1} a mais do que foi pedido.",
    missing: "Foram recebidos {1}. Ainda faltam {2}.",
    expired: "O prazo de pagamento terminou. Não pague mais.",
    canceled: "Este pagamento foi cancelado. Não pague mais.",
    order: "Encomenda {1}",
    goOn: "Continuar",
    back: "Cancelar e voltar",
    again: "Verificar de novo"
  },
  ar: {
    pay: "ادفع بالبيتكوين",
    anyAmount: "أي مبلغ",
    scan: "امسح هذا الرمز بمحفظة بيتكوين",
    open: "افتح في محفظة",
    lightning: "فاتورة لايتنينغ",
    address: "عنوان بيتكوين",
    until: "ادفع قبل {1}",
    seen: "وصلت دفعتك بمبلغ {1} ويجري تأكيدها.",
    paid: "تم الدفع",
    late: "وصلت الدفعة متأخرة وتم استلامها.",
    received: "المبلغ المستلم: {1}",
    more: "هذا أكثر من المطلوب بمقدار {1}.",
    missing: "تم استلام {1}. ما زال ينقص {2}.",
    expired: "انتهى وقت الدفع. لا تدفع الآن.",
    canceled: "أُلغيت هذه الدفعة. لا تدفع الآن.",
    order: "الطلب {1}",
    goOn: "متابعة",
    back: "إلغاء والعودة",
    again: "تحقق مرة أخرى"
  }
}
