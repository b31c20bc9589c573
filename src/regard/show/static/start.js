// Where a self-contained page begins.

import { drawPage } from "./page.js";

drawPage(document.getElementById("regard"), JSON.parse(document.getElementById("document").textContent));
