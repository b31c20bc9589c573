// Moving through a grid by keyboard, as the ARIA practices describe it.

const PAGE = 10;

/**
 * The cell that a key leads to, held within the grid; nothing for a key that does not move.
 * @param {KeyboardEvent} event
 * @param {{row: number, column: number}} at
 * @param {number} rows
 * @param {number} columns
 * @param {boolean} [leftward] does the text run from right to left?
 * @returns {{row: number, column: number} | null}
 */
export function moved(event, at, rows, columns, leftward = false) {
  const whole = event.ctrlKey || event.metaKey;
  const right = leftward ? -1 : 1;
  const steps = {
    ArrowUp: [at.row - 1, at.column],
    ArrowDown: [at.row + 1, at.column],
    ArrowLeft: [at.row, at.column - right],
    ArrowRight: [at.row, at.column + right],
    Home: [whole ? 0 : at.row, 0],
    End: [whole ? rows - 1 : at.row, columns - 1],
    PageUp: [at.row - PAGE, at.column],
    PageDown: [at.row + PAGE, at.column],
  };
  if (!Object.hasOwn(steps, event.key)) return null;
  const [row, column] = steps[event.key];
  const within = (value, count) => Math.min(count - 1, Math.max(0, value));
  return { row: within(row, rows), column: within(column, columns) };
}

/**
 * Let keys move, hold and let go: arrows, Home, End, Page Up, Page Down; Enter or Space; Escape.
 * @param {HTMLElement} element where keys are pressed
 * @param {{at: () => {row: number, column: number}, rows: number, columns: number, go: Function, hold: Function,
 *   release: Function, leftward?: () => boolean}} ways
 */
export function listenToKeys(element, ways) {
  element.addEventListener("keydown", (event) => {
    const at = ways.at();
    const next = moved(event, at, ways.rows, ways.columns, ways.leftward?.());
    if (next) ways.go(next.row, next.column);
    else if (event.key === "Enter" || event.key === " ") ways.hold(at.row, at.column);
    else if (event.key === "Escape") ways.release();
    else return;
    event.preventDefault();
  });
}
