import { useSignal } from "@preact/signals"
import { call, Refused, here } from "../api.ts"
import { Act, Form, Loaded, useLoaded } from "../parts.tsx"

const types = ["image/png", "image/jpeg", "image/webp"] as const

const base64Of = (file: File): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.addEventListener("load", () => resolve(String(reader.result).replace(/^[^,]*,/, "")))
    reader.addEventListener("error", () => reject(new Error("The file cannot be read")))
    reader.readAsDataURL(file)
  })

const logo = () =>
  call("GET /v1/logo").catch((error: unknown) => {
    if (error instanceof Refused && error.status === 404) return null
    throw error
  })

/** The picture on the pages of the company's checkouts. */
export const Logo = () => {
  const file = useSignal<File | undefined>(undefined)
  const loaded = useLoaded(logo)
  const act = async () => {
    const content_type = types.find((type) => type === file.value?.type)
    if (file.value === undefined || content_type === undefined) throw new Error("Choose a PNG, JPEG or WebP picture")
    await call("PUT /v1/logo", { body: { content_type, data: await base64Of(file.value) } })
    loaded.again()
  }
  return (
    <section>
      <h2>Logo</h2>
      <Loaded of={loaded}>
        {(now) =>
          now === null ? (
            <p class="soft">The pages of checkouts have none.</p>
          ) : (
            <p>
              <img class="logo" src={here(now.data.url).href} alt="The logo" width={now.data.width} height={now.data.height} />
              <Act label="Remove the logo" act={() => call("DELETE /v1/logo").then(loaded.again)} />
            </p>
          )
        }
      </Loaded>
      <Form button="Set the logo" act={act}>
        <label class="field">
          <span>Picture</span>
          <input type="file" accept={types.join()} onChange={(event) => void (file.value = event.currentTarget.files?.[0])} />
          <small>PNG, JPEG or WebP that stands still: at most 48 kB, and 1024 pixels each way</small>
        </label>
      </Form>
    </section>
  )
}
