import type { Warning } from "@satrail/core/nodes/Channels"
import { Schema } from "effect"
import * as View from "../wire/View.ts"

/** Warnings are public, so they contain no amounts. */
export const view = View.make<Warning>()(
  { identifier: "ChannelWarning" },
  {
    code: [
      Schema.String.annotate({
        description: "Code: `no_active_channel`, `inbound_low`, `outbound_low`, `channels_inactive` or `channels_force_closing`",
        examples: ["inbound_low"]
      }),
      ({ code }) => code
    ],
    message: [Schema.String.annotate({ description: "Human-readable text. May change" }), ({ reason }) => reason]
  }
)
