// Where a self-contained page begins.

import { drawPage } from "./page.js";

drawPage(document);
