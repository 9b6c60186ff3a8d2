import { useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import { stepUp, urlOf } from "./api.ts"
import { failed, Field, Form, Problem } from "./parts.tsx"
import { confirm, notice, session, signIn } from "./session.ts"

/** A key is typed or pasted here, sent once, and kept nowhere: the field is emptied, and what comes back is a cookie that no script can read. */
const KeyField = ({ label }: { readonly label: string }) => (
  <Field label={label} name="credential" type="password" required maxLength={256} />
)

export const SignIn = () => {
  useEffect(() => {
    document.title = "Sign in · satrail"
  }, [])
  return (
    <main class="entrance">
      <h1>satrail</h1>
      {notice.value !== "" && <p role="status">{notice.value}</p>}
      <Form button="Sign in" act={(text) => signIn({ credential: text("credential") })}>
        <KeyField label="An API key, or an operator's token" />
      </Form>
      <p class="soft">
        <a href={urlOf("/docs").href}>Documentation</a>
      </p>
    </main>
  )
}

/** Asks for the key again, whenever the service wants it. */
export const StepUp = () => {
  const dialog = useRef<HTMLDialogElement>(null)
  const decide = useRef<(isShown: boolean) => void>(() => undefined)
  const round = useSignal(0)
  const problem = useSignal("")
  useEffect(() => {
    stepUp.ask = () =>
      new Promise((resolve) => {
        round.value++
        problem.value = ""
        decide.current = resolve
      })
  }, [])
  // Once its form is drawn, so that the keyboard is in the field that is there, and not in the one before.
  useEffect(() => {
    if (round.value > 0) dialog.current?.showModal()
  }, [round.value])
  const close = (isShown: boolean) => {
    decide.current(isShown)
    decide.current = () => undefined
    if (dialog.current?.open) dialog.current.close()
  }
  const show = async (text: (name: string) => string) => {
    try {
      await confirm(text("credential"))
      close(true)
    } catch (error) {
      // A wrong key here ends no session.
      problem.value = error instanceof Error ? error.message : failed(error)
    }
  }
  return (
    <dialog ref={dialog} aria-labelledby="step-up" onClose={() => close(false)}>
      <h2 id="step-up">Show your key again</h2>
      <p>Before money moves, or something is changed for everybody: {session.value?.name}. That is good for 5 minutes.</p>
      <Form key={round.value} button="Go on" act={show}>
        <KeyField label="The key that you signed in with" />
        <Problem text={problem.value} />
      </Form>
      <button type="button" onClick={() => close(false)}>
        Not now
      </button>
    </dialog>
  )
}
