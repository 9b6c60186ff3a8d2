/**
 * A page for browsing the screenshots. Each screen has a section with all its variants and links to the
 * previous and next screens. Pure markup without scripts.
 */
export const page = (screens: ReadonlyMap<string, ReadonlyArray<string>>): string => {
  const names = [...screens.keys()]
  const link = (name: string | undefined, words: string) =>
    name === undefined ? `<span>${words}</span>` : `<a href="#${name}">${words}</a>`
  const leaves = names.map((name, at) => {
    const figures = (screens.get(name) ?? []).map(
      (file) =>
        `<figure><figcaption>${file.slice(name.length + 1, -".png".length)}</figcaption><a href="${file}"><img src="${file}" alt="${file}" loading="lazy"></a></figure>`
    )
    return `<section id="${name}">
<h2>${name} <small>${at + 1} of ${names.length}</small></h2>
<p>${link(names[at - 1], "← before")} · <a href="#all">all</a> · ${link(names[at + 1], "next →")}</p>
<div>${figures.join("\n")}</div>
</section>`
  })
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Screens</title>
<style>
:root { color-scheme: light dark; font: 1rem system-ui }
ol { columns: 16rem }
section { min-height: 100vh; scroll-margin-top: 1rem }
div { display: flex; gap: 1rem; overflow-x: auto; align-items: start }
figure { margin: 0; flex: none }
img { max-height: 80vh; max-width: 45rem; border: 1px solid #8888 }
</style>
<h1 id="all">Screens</h1>
<ol>
${names.map((name) => `<li><a href="#${name}">${name}</a></li>`).join("\n")}
</ol>
${leaves.join("\n")}
</html>
`
}
