// Passkeys in the browser (WebAuthn). The service verifies everything.

export const own = { "x-satrail-console": "1", "content-type": "application/json" }
const patienceMillis = 5 * 60_000

/** Returns the URL of a path of the service, wherever it is mounted. */
export const urlOf = (path: string): string => {
  const [before = ""] = location.pathname.split(/(?:\/operator)?\/console/)
  return before + path
}

const bytesOf = (text: string) =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0))
const textOf = (bytes: ArrayBuffer): string =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/=+$/, "")

interface Answer<A> {
  readonly message: string
  readonly data: A
}

export const ask = async <A>(method: string, path: string, body?: unknown): Promise<A> => {
  const response = await fetch(urlOf(path), {
    method,
    headers: own,
    ...(body !== undefined && { body: JSON.stringify(body) })
  })
  const answer: Answer<A> = await response.json()
  if (!response.ok) throw new Error(answer.message)
  return answer.data
}

interface Challenge {
  readonly challenge: string
  readonly rp_id: string
  readonly user: { readonly id: string; readonly name: string }
  readonly exclude: ReadonlyArray<string>
  readonly algorithms: ReadonlyArray<number>
}
const challengeOf = (body: object): Promise<Challenge> => ask("POST", "/console/passkeys/challenge", body)

const unavailable = "No passkey was used. Try again, or use another browser."

const signed = async (purpose: "sign-in" | "step-up") => {
  const { challenge, rp_id: rpId } = await challengeOf({ for: purpose })
  const publicKey = {
    challenge: bytesOf(challenge),
    rpId,
    userVerification: "required" as const,
    timeout: patienceMillis
  }
  const found = await navigator.credentials.get({ publicKey })
  if (!(found instanceof PublicKeyCredential) || !(found.response instanceof AuthenticatorAssertionResponse))
    throw new Error(unavailable)
  const { clientDataJSON, authenticatorData, signature, userHandle } = found.response
  if (userHandle === null) throw new Error(unavailable)
  const passkey = {
    id: found.id,
    clientDataJSON: textOf(clientDataJSON),
    authenticatorData: textOf(authenticatorData),
    signature: textOf(signature),
    userHandle: textOf(userHandle)
  }
  return ask("POST", `/console/passkeys/${purpose}`, { passkey })
}

const created = async (asked: object) => {
  const { challenge, rp_id: id, user, exclude, algorithms } = await challengeOf(asked)
  const made = await navigator.credentials.create({
    publicKey: {
      challenge: bytesOf(challenge),
      rp: { id, name: "satrail" },
      user: { id: bytesOf(user.id), name: user.name, displayName: user.name },
      pubKeyCredParams: algorithms.map((alg) => ({ type: "public-key", alg })),
      excludeCredentials: exclude.map((one) => ({ type: "public-key", id: bytesOf(one) })),
      authenticatorSelection: { residentKey: "required", userVerification: "required" },
      timeout: patienceMillis
    }
  })
  if (!(made instanceof PublicKeyCredential) || !(made.response instanceof AuthenticatorAttestationResponse))
    throw new Error(unavailable)
  const { clientDataJSON, attestationObject } = made.response
  return { id: made.id, clientDataJSON: textOf(clientDataJSON), attestationObject: textOf(attestationObject) }
}

const stepUp = () => signed("step-up")

/** Confirms the person's identity, unless they just did. Called before a new passkey exists, so that the browser does not offer it. */
const confirmed = async (): Promise<void> => {
  const { stepped_up_until: until } = await ask<{ readonly stepped_up_until: string | null }>(
    "GET",
    "/console/session"
  )
  if (until === null) await stepUp()
}

/** Accepts an invitation with a new passkey, which signs in. */
const join = async (invitation: string, name: string) =>
  ask("POST", "/console/passkeys/join", {
    invitation,
    name,
    passkey: await created({ for: "join", invitation })
  })

const add = async (name: string) => {
  await confirmed()
  return ask("POST", "/console/passkeys", { name, passkey: await created({ for: "add" }) })
}

const revoke = async (id: string) => {
  await confirmed()
  return ask("DELETE", `/console/passkeys/${encodeURIComponent(id)}`)
}

/** Shows an error below the page's title. */
export const complain = (error: unknown): void => {
  document.querySelector("#complaint")?.remove()
  const textContent =
    error instanceof DOMException ? unavailable : error instanceof Error ? error.message : String(error)
  const note = Object.assign(document.createElement("section"), {
    id: "complaint",
    className: "note bad",
    role: "alert",
    textContent
  })
  document.querySelector("main .head, main h1")?.after(note)
}

const nameOf = (button: HTMLElement): string =>
  button.closest("form")?.querySelector<HTMLInputElement>("[name=device]")?.value.trim() ?? ""

/** Each returns true if the page must not be loaded again. */
const acts: Readonly<Record<string, (button: HTMLButtonElement, invitation: string) => Promise<unknown>>> = {
  // Not loaded again, because the page may be the result of a form with a wrong key.
  "sign-in": async () => {
    await signed("sign-in")
    const kept = document.querySelector<HTMLFormElement>("#kept")
    if (kept !== null) kept.submit()
    else location.assign(urlOf(document.querySelector<HTMLInputElement>("[name=back]")?.value ?? "/console"))
    return true
  },
  join: (button, invitation) => join(invitation, nameOf(button)),
  add: (button) => add(nameOf(button)),
  revoke: (button) => revoke(button.value),
  // The button of a form that requires a confirmation: confirm, then send the form.
  "step-up": async (button) => {
    await stepUp()
    delete button.dataset["passkey"]
    button.form?.requestSubmit(button)
    return true
  }
}

/** Makes the passkey buttons of a page work. */
export const listen = (): void => {
  const [, invitation = ""] = /^#join=(inv_[\w-]+)$/.exec(location.hash) ?? []
  const panel = document.querySelector<HTMLElement>("#join")
  if (invitation !== "" && panel !== null) {
    history.replaceState(null, "", location.pathname)
    panel.hidden = false
  }
  document.addEventListener("click", (event) => {
    const button =
      event.target instanceof Element ? event.target.closest<HTMLButtonElement>("button[data-passkey]") : null
    const act = acts[button?.dataset["passkey"] ?? ""]
    if (button === null || act === undefined) return
    event.preventDefault()
    if (button.form?.reportValidity() === false) return
    button.disabled = true
    act(button, invitation)
      .then((isSent) => isSent === true || location.reload())
      .catch(complain)
      .finally(() => {
        button.disabled = false
      })
  })
}
