// A value that others may follow. Each figure has its own: nothing here is shared by all pages.

/**
 * @template T
 * @typedef {{get: () => T, set: (change: Partial<T>) => void, follow: (hear: (value: T) => void) => () => void}} Store
 */

/**
 * A store of named values. Followers hear of a change, and of nothing that leaves the values as they were.
 * @template {object} T
 * @param {T} start
 * @returns {Store<T>}
 */
export function createStore(start) {
  let value = Object.assign({}, start);
  const followers = new Set();
  return {
    get: () => value,
    set(change) {
      if (Object.keys(change).every((key) => value[key] === change[key])) return;
      value = Object.assign({}, value, change);
      for (const hear of [...followers]) hear(value);
    },
    follow(hear) {
      followers.add(hear);
      return () => followers.delete(hear);
    },
  };
}

/**
 * The cell that a reader points at: the row who looks, the column looked at; none is row -1, column -1.
 * A held cell stays until it is let go, whatever the pointer passes over.
 * @typedef {{row: number, column: number, held: boolean}} Cell
 */

/**
 * Which cell of a figure is pointed at.
 * @returns {Store<Cell> & {point: Function, move: Function, hold: Function, leave: Function, release: Function}}
 */
export function createFocus() {
  const store = createStore({ row: -1, column: -1, held: false });
  return {
    ...store,
    /** The pointer passes over a cell. */
    point(row, column) {
      if (!store.get().held) store.set({ row, column });
    },
    /** A reader moves by keyboard: a held cell goes along. */
    move(row, column) {
      store.set({ row, column });
    },
    /** Hold a cell; holding the held cell again lets it go. */
    hold(row, column) {
      const now = store.get();
      store.set({ row, column, held: !(now.held && now.row === row && now.column === column) });
    },
    /** The pointer is gone. */
    leave() {
      if (!store.get().held) store.set({ row: -1, column: -1 });
    },
    /** Let go of a held cell. */
    release() {
      store.set({ row: -1, column: -1, held: false });
    },
  };
}
