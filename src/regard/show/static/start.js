// Where a self-contained page begins.

import { drawPage, tellHeight } from "./page.js";

drawPage(document);
tellHeight(document);
