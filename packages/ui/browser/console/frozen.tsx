import { call } from "./api.ts"
import { Loaded, useLoaded } from "./parts.tsx"

/** Tells a frozen company that it cannot send. */
export const Frozen = () => {
  const loaded = useLoaded(() => call("GET /v1/account"))
  return (
    <Loaded of={loaded}>
      {({ data }) =>
        data.frozen && (
          <p role="status">
            <strong>Sending is frozen.</strong> The operator of this service has frozen this company. You can receive, but not send. Contact
            the operator.
          </p>
        )
      }
    </Loaded>
  )
}
