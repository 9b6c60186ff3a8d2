// app/actions.ts
"use server"

import { checkout } from "../../shop.ts"

export const buy = async (_previous: string | null, form: FormData) => checkout(String(form.get("order")))
