import { signal } from "@preact/signals"
import { Refused, send } from "./api.ts"
import { route } from "./route.ts"

/** Who signed in. */
export interface Session {
  readonly kind: "company" | "operator"
  readonly id: string
  readonly name: string
  readonly scopes: ReadonlyArray<string>
  readonly company_id: string | null
  readonly expires_at: string
  readonly stepped_up_until: string | null
}

/** Undefined: not known yet. Null: nobody. */
export const session = signal<Session | null | undefined>(undefined)
/** What pretends to be real here; nothing where everything is. */
export const pretended = signal<ReadonlyArray<string>>([])
/** What the sign-in page says first. */
export const notice = signal("")

const path = "/console/session"
interface Told {
  readonly data: Session
}

const ask = async (method: string, at: string, body?: unknown): Promise<void> => {
  const { answer } = await send(method, at, body)
  // oxlint-disable-next-line typescript/consistent-type-assertions -- what our own routes answer
  session.value = (answer as Told).data
}

export const signIn = (body: { readonly credential: string } | { readonly link: string }) => ask("POST", path, body)
export const confirm = (credential: string) => ask("POST", `${path}/step-up`, { credential })

export const signOut = async (): Promise<void> => {
  await send("DELETE", path)
  session.value = null
}

/** Nobody is signed in any more: the session has ended, or its key was revoked. */
export const lost = (): void => {
  if (session.value) notice.value = "You were signed out: the session has ended, or its key was revoked."
  session.value = null
}

const link = (): string | undefined => /^#link=([\w-]+)$/.exec(location.hash)?.[1]

/** A printed link signs in, once; it is taken out of the address before anything else. Otherwise whoever signed in before still is. */
export const begin = async (): Promise<void> => {
  const found = link()
  if (found !== undefined) {
    history.replaceState(null, "", location.pathname)
    route.value = ""
  }
  try {
    await (found === undefined ? ask("GET", path) : signIn({ link: found }))
  } catch (error) {
    session.value = null
    if (found !== undefined && error instanceof Refused) notice.value = error.message
  }
  try {
    const { answer } = await send("GET", "/")
    // oxlint-disable-next-line typescript/consistent-type-assertions -- as above
    pretended.value = (answer as { readonly data: { readonly pretended: ReadonlyArray<string> } }).data.pretended
  } catch {
    pretended.value = [] // the page is complete without it
  }
}
