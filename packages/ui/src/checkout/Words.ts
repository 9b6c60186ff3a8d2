import type { Locale } from "./State.ts"

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
  readonly wayAll: string
  readonly ways: string
  readonly chain: string
  readonly amount: string
  readonly copyInvoice: string
  readonly copyAddress: string
  readonly copyAmount: string
  readonly copied: string
  readonly left: string
  readonly confirmations: string
  readonly partial: string
  readonly overpaid: string
  readonly reference: string
  readonly paidAt: string
  readonly receipt: string
  readonly print: string
  readonly lost: string
  readonly webln: string
  readonly sandbox: string
  readonly noMoney: string
  readonly close: string
  readonly waiting: string
  readonly unknown: string
  readonly away: string
  readonly to: string
  readonly inSats: string
  readonly range: string
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
    again: "Look again",
    wayAll: "One code",
    ways: "Ways to pay",
    chain: "On-chain",
    amount: "Amount",
    copyInvoice: "Copy the invoice",
    copyAddress: "Copy the address",
    copyAmount: "Copy the amount",
    copied: "Copied",
    left: "Time left: {1}",
    confirmations: "Confirmations: {1} of {2}",
    partial: "{1} were received, which is less than was asked for. Ask the seller to pay it back, and name the reference.",
    overpaid: "Ask the seller to pay back the rest, and name the reference.",
    reference: "Reference",
    paidAt: "Paid at",
    receipt: "Receipt",
    print: "Print the receipt",
    lost: "The connection is lost. Trying again…",
    webln: "Pay with the browser’s wallet",
    sandbox: "Pay it from the sandbox",
    noMoney: "This is a test. No real money moves.",
    close: "Close",
    waiting: "A moment, please. This page follows by itself.",
    unknown: "There is no such payment",
    away: "This page is away for a moment",
    to: "To {1}",
    inSats: "Amount in sats",
    range: "A whole number from {1} to {2}"
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
    again: "Erneut prüfen",
    wayAll: "Ein Code",
    ways: "Zahlungswege",
    chain: "On-Chain",
    amount: "Betrag",
    copyInvoice: "Rechnung kopieren",
    copyAddress: "Adresse kopieren",
    copyAmount: "Betrag kopieren",
    copied: "Kopiert",
    left: "Verbleibende Zeit: {1}",
    confirmations: "Bestätigungen: {1} von {2}",
    partial: "{1} sind angekommen, weniger als verlangt. Bitten Sie den Verkäufer um Rückzahlung, und nennen Sie die Referenz.",
    overpaid: "Bitten Sie den Verkäufer, den Rest zurückzuzahlen, und nennen Sie die Referenz.",
    reference: "Referenz",
    paidAt: "Bezahlt am",
    receipt: "Beleg",
    print: "Beleg drucken",
    lost: "Die Verbindung ist unterbrochen. Neuer Versuch …",
    webln: "Mit der Wallet des Browsers bezahlen",
    sandbox: "Aus der Sandbox bezahlen",
    noMoney: "Dies ist ein Test. Es fließt kein echtes Geld.",
    close: "Schließen",
    waiting: "Einen Moment bitte. Diese Seite geht von selbst weiter.",
    unknown: "Diese Zahlung gibt es nicht",
    away: "Diese Seite ist gerade nicht da",
    to: "An {1}",
    inSats: "Betrag in Sats",
    range: "Eine ganze Zahl von {1} bis {2}"
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
    again: "Volver a mirar",
    wayAll: "Un código",
    ways: "Formas de pago",
    chain: "En la cadena",
    amount: "Importe",
    copyInvoice: "Copiar la factura",
    copyAddress: "Copiar la dirección",
    copyAmount: "Copiar el importe",
    copied: "Copiado",
    left: "Tiempo restante: {1}",
    confirmations: "Confirmaciones: {1} de {2}",
    partial: "Se han recibido {1}, menos de lo pedido. Pida al vendedor que lo devuelva e indique la referencia.",
    overpaid: "Pida al vendedor que devuelva el resto e indique la referencia.",
    reference: "Referencia",
    paidAt: "Pagado el",
    receipt: "Recibo",
    print: "Imprimir el recibo",
    lost: "Se ha perdido la conexión. Reintentando…",
    webln: "Pagar con el monedero del navegador",
    sandbox: "Pagar desde la zona de pruebas",
    noMoney: "Esto es una prueba. No se mueve dinero real.",
    close: "Cerrar",
    waiting: "Un momento, por favor. Esta página sigue sola.",
    unknown: "No existe ese pago",
    away: "Esta página no está disponible por un momento",
    to: "Para {1}",
    inSats: "Importe en sats",
    range: "Un número entero de {1} a {2}"
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
    again: "Vérifier à nouveau",
    wayAll: "Un code",
    ways: "Moyens de paiement",
    chain: "On-chain",
    amount: "Montant",
    copyInvoice: "Copier la facture",
    copyAddress: "Copier l’adresse",
    copyAmount: "Copier le montant",
    copied: "Copié",
    left: "Temps restant : {1}",
    confirmations: "Confirmations : {1} sur {2}",
    partial: "{1} ont été reçus, moins que demandé. Demandez au vendeur de vous rembourser, en citant la référence.",
    overpaid: "Demandez au vendeur de rembourser le reste, en citant la référence.",
    reference: "Référence",
    paidAt: "Payé le",
    receipt: "Reçu",
    print: "Imprimer le reçu",
    lost: "La connexion est perdue. Nouvelle tentative…",
    webln: "Payer avec le portefeuille du navigateur",
    sandbox: "Payer depuis le bac à sable",
    noMoney: "Ceci est un test. Aucun argent réel ne circule.",
    close: "Fermer",
    waiting: "Un instant. Cette page se met à jour d’elle-même.",
    unknown: "Ce paiement n’existe pas",
    away: "Cette page est indisponible pour un instant",
    to: "À {1}",
    inSats: "Montant en sats",
    range: "Un nombre entier de {1} à {2}"
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
    again: "Verificar de novo",
    wayAll: "Um código",
    ways: "Formas de pagamento",
    chain: "Na cadeia",
    amount: "Valor",
    copyInvoice: "Copiar a fatura",
    copyAddress: "Copiar o endereço",
    copyAmount: "Copiar o valor",
    copied: "Copiado",
    left: "Tempo restante: {1}",
    confirmations: "Confirmações: {1} de {2}",
    partial: "Foram recebidos {1}, menos do que foi pedido. Peça ao vendedor que os devolva e indique a referência.",
    overpaid: "Peça ao vendedor que devolva o resto e indique a referência.",
    reference: "Referência",
    paidAt: "Pago em",
    receipt: "Recibo",
    print: "Imprimir o recibo",
    lost: "A ligação perdeu-se. A tentar de novo…",
    webln: "Pagar com a carteira do navegador",
    sandbox: "Pagar a partir da área de testes",
    noMoney: "Isto é um teste. Não se move dinheiro real.",
    close: "Fechar",
    waiting: "Um momento, por favor. Esta página atualiza-se sozinha.",
    unknown: "Esse pagamento não existe",
    away: "Esta página está indisponível por um momento",
    to: "Para {1}",
    inSats: "Valor em sats",
    range: "Um número inteiro de {1} a {2}"
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
    again: "تحقق مرة أخرى",
    wayAll: "رمز واحد",
    ways: "طرق الدفع",
    chain: "على السلسلة",
    amount: "المبلغ",
    copyInvoice: "نسخ الفاتورة",
    copyAddress: "نسخ العنوان",
    copyAmount: "نسخ المبلغ",
    copied: "تم النسخ",
    left: "الوقت المتبقي: {1}",
    confirmations: "التأكيدات: {1} من {2}",
    partial: "تم استلام {1}، وهو أقل من المطلوب. اطلب من البائع إعادته واذكر المرجع.",
    overpaid: "اطلب من البائع إعادة الباقي واذكر المرجع.",
    reference: "المرجع",
    paidAt: "وقت الدفع",
    receipt: "إيصال",
    print: "طباعة الإيصال",
    lost: "انقطع الاتصال. تجري المحاولة مرة أخرى…",
    webln: "ادفع بمحفظة المتصفح",
    sandbox: "ادفع من بيئة الاختبار",
    noMoney: "هذا اختبار. لا تُنقل أموال حقيقية.",
    close: "إغلاق",
    waiting: "لحظة من فضلك. تتحدث هذه الصفحة تلقائيًا.",
    unknown: "لا توجد دفعة كهذه",
    away: "هذه الصفحة غير متاحة للحظة",
    to: "إلى {1}",
    inSats: "المبلغ بالساتوشي",
    range: "عدد صحيح من {1} إلى {2}"
  }
}

/** A sentence with its gaps filled. */
export const filled = (text: string, ...values: ReadonlyArray<string>): string =>
  text.replaceAll(/\{(\d)\}/g, (_, n) => values[Number(n) - 1] ?? "")

/** Digits are Latin everywhere: payers compare them with their wallet's. */
export const number = (value: number, locale: Locale): string => new Intl.NumberFormat(locale, { numberingSystem: "latn" }).format(value)

/** `21,000 sats`, as the payer's language groups digits. */
export const sats = (amount: number, locale: Locale): string => {
  const text = `${number(amount, locale)} sats`
  // Among words from right to left the number would be put behind its unit.
  return locale === "ar" ? `\u2066${text}\u2069` : text
}

/** To the minute, the same for everybody. */
export const instant = (millis: number): string => `${new Date(millis).toISOString().slice(0, 16).replace("T", " ")} UTC`

/** `4:09`, `1:00:00` */
export const duration = (millis: number): string => {
  const seconds = Math.max(0, Math.ceil(millis / 1000))
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60]
  const two = (part: number) => String(part).padStart(2, "0")
  return hours === 0 ? `${minutes}:${two(seconds % 60)}` : `${hours}:${two(minutes)}:${two(seconds % 60)}`
}

const locales: ReadonlyArray<Locale> = ["en", "de", "es", "fr", "pt", "ar"]

/** The language of a page that has none of its own, by `Accept-Language`: the first that there is. */
export const accepted = (header = ""): Locale => {
  for (const one of header.split(",")) {
    const wanted = one.trim().slice(0, 2).toLowerCase()
    const found = locales.find((locale) => locale === wanted)
    if (found !== undefined) return found
  }
  return "en"
}
