// app/page.tsx
"use client"

import { Checkout } from "@satrail/react"
import { useActionState } from "react"
import { buy } from "./actions.ts"

const Page = () => {
  const [url, action] = useActionState(buy, null)
  if (url !== null) return <Checkout id={url} onPaid={() => location.assign("/thanks")} />
  return (
    <form action={action}>
      <button name="order" value="1042">
        Two coffees, 4.50 €
      </button>
    </form>
  )
}

export default Page
