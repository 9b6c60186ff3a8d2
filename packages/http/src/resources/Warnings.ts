import type { Warning } from "@satrail/core/nodes/Channels"
import { Schema } from "effect"
import * as Member from "../wire/Member.ts"
import * as View from "../wire/View.ts"

/** Warnings are public, so they contain no amounts. */
export const view = View.make<Warning>()(
  { identifier: "ChannelWarning" },
  {
    code: [
      Schema.String.annotate({
        description:
          "Code: `no_active_channel`, `inbound_low`, `outbound_low`, `channels_inactive`, `channels_force_closing`, or in `/readyz` `sender_not_ready`",
        examples: ["inbound_low"]
      }),
      ({ code }) => code
    ],
    message: Member.text(({ reason }) => reason, "Human-readable text. May change")
  }
)
