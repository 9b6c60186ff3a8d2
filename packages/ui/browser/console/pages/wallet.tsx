import { useSignal } from "@preact/signals"
import { Qr } from "../../../src/checkout/Qr.ts"
import { call, Refused } from "../api.ts"
import { Act, Facts, Loaded, Secret, useLoaded, When } from "../parts.tsx"

const isNone = (error: unknown): boolean => error instanceof Refused && error.code === "not_found"

/** The app that uses a key over Nostr Wallet Connect: one at most, for as long as the key is open. */
export const WalletApp = ({ id, isRevoked, again }: { readonly id: string; readonly isRevoked: boolean; readonly again: () => void }) => {
  const params = { id }
  const made = useSignal("")
  const once = useSignal(crypto.randomUUID())
  const load = async () => {
    try {
      return (await call("GET /operator/api-keys/{id}/wallet-connection", { params })).data
    } catch (error) {
      if (isNone(error)) return null
      throw error
    }
  }
  const loaded = useLoaded(load, id)
  const connect = async () => {
    made.value = (await call("POST /operator/api-keys/{id}/connect", { params, once: once.value })).data.connection
    once.value = crypto.randomUUID()
    loaded.again()
  }
  const revoke = async () => {
    await call("DELETE /operator/api-keys/{id}", { params })
    made.value = ""
    again()
  }
  return (
    <>
      <h2>App</h2>
      <p class="soft">
        An app that speaks Nostr Wallet Connect may do what the key may, within its limits, for as long as the key is open.
      </p>
      <Secret title="The app's connection" text={made.value} />
      {made.value !== "" && <Qr text={made.value} label="The connection as a QR code" />}
      <Loaded of={loaded}>
        {(app) =>
          app === null ? (
            isRevoked ? (
              <p>None was connected.</p>
            ) : (
              <Act label="Connect an app" sure="Connect an app to this key" act={connect} />
            )
          ) : (
            <>
              <Facts
                of={[
                  ["Its public key", <code>{app.app_key}</code>],
                  ["Relays", app.relays.join(", ")],
                  ["Connected", <When at={app.created_at} />]
                ]}
              />
              {!isRevoked && <Act label="Disconnect" sure="Revoke the key, and its app with it" act={revoke} />}
            </>
          )
        }
      </Loaded>
    </>
  )
}
