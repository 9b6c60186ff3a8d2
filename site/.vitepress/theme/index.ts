// Without the fonts that the theme would bring: the reader's own are there at once.
import Theme from "vitepress/theme-without-fonts"
import "./style.css"

export default Theme
