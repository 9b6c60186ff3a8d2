import type { Words } from "./en.ts"

export const ar: Words = {
  refundOpen: "يمكنك استرداد {1}",
  refundTake: "استرداد المبلغ",
  refundCode: "رمز الاسترداد",
  refundLink: "رابط الاسترداد",
  refundSecret: "كل من يرى هذا الرمز يستطيع أخذ المال.",
  refundUntil: "صالح حتى {1}.",
  refundPending: "المبلغ المسترد {1} في طريقه إليك.",
  refundDone: "تمت إعادة {1} إليك.",
  refundAsk: "يعيد البائع إليك {1}. اطلب منه رابط الاسترداد واذكر المرجع.",
  partialRefund: "تم استلام {1}، وهو أقل من السعر."
}
