// Fewer numbers from many: the mean over heads, and weights between pieces as weights between words.

/**
 * The mean of some heads of a layer, in double precision as sums are.
 * @param {Float32Array} weights heads x rows x columns
 * @param {[number, number, number]} shape
 * @param {number[]} heads
 * @returns {Float64Array} rows x columns
 */
export function meanOfHeads(weights, shape, heads) {
  const size = shape[1] * shape[2];
  const mean = new Float64Array(size);
  for (const head of heads) {
    for (let index = 0; index < size; index++) mean[index] += weights[head * size + index] / heads.length;
  }
  return mean;
}

/**
 * Sum over the pieces of a column's word, mean over the pieces of a row's word.
 * @param {Float64Array} weights between pieces, row after row
 * @param {number[]} rowWord the word of each row
 * @param {number[]} columnWord the word of each column
 * @param {number} rows how many words look
 * @param {number} columns how many words are looked at
 * @returns {Float64Array} rows x columns
 */
export function mergePieces(weights, rowWord, columnWord, rows, columns) {
  const pieces = new Array(rows).fill(0);
  for (const word of rowWord) pieces[word] += 1;
  const merged = new Float64Array(rows * columns);
  rowWord.forEach((row, r) => {
    columnWord.forEach((column, c) => {
      merged[row * columns + column] += weights[r * columnWord.length + c] / pieces[row];
    });
  });
  return merged;
}
