import { call } from "../api.ts"
import { Facts, Loaded, Page, Sats, useLoaded, When } from "../parts.tsx"

const Known = ({ sats }: { readonly sats: number | null }) => (sats === null ? <span class="soft">unknown</span> : <Sats amount={sats} />)

const counted = (channels: object) => {
  const some = Object.entries(channels).filter(([, count]) => count > 0)
  return some.length === 0 ? "none" : some.map(([state, count]) => `${count} ${state.replace("_", "-")}`).join(", ")
}

/** The node that pays and is paid, and the hot wallet: what can go out, what can come in, and for how long it lasts. */
export const Nodes = () => {
  const loaded = useLoaded(() => Promise.all([call("GET /operator/liquidity"), call("GET /operator/status")]))
  return (
    <Page title="Nodes and liquidity">
      <Loaded of={loaded}>
        {([{ data: liquidity }, { data: status }]) => {
          const [out, into] = [liquidity.outgoing_sats ?? 0, liquidity.incoming_sats ?? 0]
          return (
            <>
              <h2>Lightning node</h2>
              <Facts
                of={[
                  ["Node", status.node ?? "unknown"],
                  ["Public key", <code>{liquidity.node_id}</code>],
                  ["Can be sent now", <Known sats={liquidity.outgoing_sats} />],
                  ["Can be received now", <Known sats={liquidity.incoming_sats} />],
                  ["Channels", liquidity.channels === null ? <span class="soft">unknown</span> : counted(liquidity.channels)]
                ]}
              />
              {status.warnings.map(({ code, message }) => (
                <p key={code} class="problem" role="status">
                  {message}
                </p>
              ))}
              {out + into > 0 && (
                <label class="field">
                  <span>Of what its channels hold, this much is on our side</span>
                  <meter min={0} max={out + into} value={out} />
                </label>
              )}
              <h2>Hot wallet</h2>
              <Facts
                of={[
                  ["Chain", status.chain ?? "unknown"],
                  ["It owns", <Known sats={liquidity.wallet_sats} />],
                  ["As of", <When at={liquidity.wallet_at} />],
                  ["Left it", <Known sats={liquidity.spent_sats} />],
                  ["Since", <When at={liquidity.spent_since} />],
                  ["It lasts, in days", liquidity.days_left ?? "unknown"]
                ]}
              />
              <h2>Rates</h2>
              <Facts
                of={[
                  ["From", status.rates ?? "unknown"],
                  ["The oldest in use", <When at={status.rates_at} />]
                ]}
              />
            </>
          )
        }}
      </Loaded>
    </Page>
  )
}
