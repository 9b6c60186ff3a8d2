const shownMillis = 3000

/** Shows beside a button that its text was copied, and announces it. Screen readers announce only an element that already existed. */
export const copied = (button: HTMLElement): void => {
  const said = document.querySelector<HTMLElement>("#said")
  if (!said) return
  button.dataset["copied"] = said.textContent = said.dataset["copied"] ?? ""
  setTimeout(() => {
    delete button.dataset["copied"]
    said.textContent = ""
  }, shownMillis)
}
