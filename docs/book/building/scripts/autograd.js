// A small autograd: matrices that know what they were computed from, so that gradients find their way back.
//
// Each operation does two things. It computes a new matrix, and it leaves a note, `passBack`, how the gradient of that
// matrix becomes gradients of its inputs: one step of the chain rule. `backward` follows the notes from the last to the
// first. An input may be used several times, so each use adds to its gradient.

/** True if row i may look at row j. @typedef {(i: number, j: number) => boolean} Mask */

export class Matrix {
  /**
   * Make a matrix of zeros.
   *
   * @param {number} height @param {number} width
   * @param {Matrix[]} inputs the matrices that it is computed from; a weight has none
   */
  constructor(height, width, inputs = []) {
    this.height = height;
    this.width = width;
    this.inputs = inputs;
    /** Row after row. */
    this.numbers = new Float64Array(height * width);
    /** For each number, how fast the loss changes with it. It is zero until `backward` adds to it. */
    this.gradient = new Float64Array(height * width);
    /** Add to the gradients of the inputs what follows from this matrix's own. */
    this.passBack = () => {};
  }

  /** Return a matrix of these rows. @param {number[][]} rows */
  static of(rows) {
    const made = new Matrix(rows.length, rows[0].length);
    made.numbers.set(rows.flat());
    return made;
  }

  /** Return the numbers of row i. @param {number} i */
  row(i) {
    return this.numbers.subarray(i * this.width, (i + 1) * this.width);
  }

  // -- Sums ----------------------------------------------------------------------------------------------------------

  /** Return this + other, both (n, m). @param {Matrix} other */
  plus(other) {
    const sum = new Matrix(this.height, this.width, [this, other]);
    for (let at = 0; at < sum.numbers.length; at++) sum.numbers[at] = this.numbers[at] + other.numbers[at];
    sum.passBack = () => {
      for (let at = 0; at < sum.numbers.length; at++) {
        this.gradient[at] += sum.gradient[at];
        other.gradient[at] += sum.gradient[at];
      }
    };
    return sum;
  }

  /** Return the sum with one row, which is added to every row: (n, m) + (1, m). @param {Matrix} bias */
  plusRow(bias) {
    const sum = new Matrix(this.height, this.width, [this, bias]);
    for (let at = 0; at < sum.numbers.length; at++) sum.numbers[at] = this.numbers[at] + bias.numbers[at % this.width];
    sum.passBack = () => {
      for (let at = 0; at < sum.numbers.length; at++) {
        this.gradient[at] += sum.gradient[at];
        bias.gradient[at % this.width] += sum.gradient[at];
      }
    };
    return sum;
  }

  // -- Products ------------------------------------------------------------------------------------------------------

  /** Return this times a number. @param {number} factor */
  timesNumber(factor) {
    const product = new Matrix(this.height, this.width, [this]);
    addTimes(product.numbers, 0, factor, this.numbers, 0, product.numbers.length);
    product.passBack = () => addTimes(this.gradient, 0, factor, product.gradient, 0, product.numbers.length);
    return product;
  }

  /** Return each column times a number of its own: (n, m) and (1, m). @param {Matrix} gain */
  timesRow(gain) {
    const product = new Matrix(this.height, this.width, [this, gain]);
    for (let at = 0; at < product.numbers.length; at++) product.numbers[at] = this.numbers[at] * gain.numbers[at % this.width];
    product.passBack = () => {
      for (let at = 0; at < product.numbers.length; at++) {
        this.gradient[at] += product.gradient[at] * gain.numbers[at % this.width];
        gain.gradient[at % this.width] += product.gradient[at] * this.numbers[at];
      }
    };
    return product;
  }

  /**
   * Return this @ other, (n, k) @ (k, m): each row is a mixture of the other's rows.
   *
   * @param {Matrix} other
   * @param {number} parts of which both consist, one below the other; each is multiplied with the other's part alone
   */
  times(other, parts = 1) {
    const [n, k, m] = [this.height, this.width, other.width];
    const mixture = new Matrix(n, m, [this, other]);
    /** The rows that row i mixes begin here. */
    const from = (/** @type {number} */ i) => Math.floor((i * parts) / n) * k * m;
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < k; j++) addTimes(mixture.numbers, i * m, this.numbers[i * k + j], other.numbers, from(i) + j * m, m);
    }
    mixture.passBack = () => {
      for (let i = 0; i < n; i++) {
        for (let j = 0; j < k; j++) {
          this.gradient[i * k + j] += dot(mixture.gradient, i * m, other.numbers, from(i) + j * m, m);
          addTimes(other.gradient, from(i) + j * m, this.numbers[i * k + j], mixture.gradient, i * m, m);
        }
      }
    };
    return mixture;
  }

  /**
   * Return this @ other.T, (n, k) @ (k, m): each number is the dot product of two rows.
   *
   * @param {Matrix} other (m, k)
   * @param {number} parts of which both consist, as in `times`
   */
  timesTransposed(other, parts = 1) {
    const [n, k, m] = [this.height, this.width, other.height / parts];
    const products = new Matrix(n, m, [this, other]);
    const from = (/** @type {number} */ i) => Math.floor((i * parts) / n) * m * k;
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < m; j++) products.numbers[i * m + j] = dot(this.numbers, i * k, other.numbers, from(i) + j * k, k);
    }
    products.passBack = () => {
      for (let i = 0; i < n; i++) {
        for (let j = 0; j < m; j++) {
          addTimes(this.gradient, i * k, products.gradient[i * m + j], other.numbers, from(i) + j * k, k);
          addTimes(other.gradient, from(i) + j * k, products.gradient[i * m + j], this.numbers, i * k, k);
        }
      }
    };
    return products;
  }

  // -- Functions -----------------------------------------------------------------------------------------------------

  /** Return this with zeros in place of negative numbers. */
  relu() {
    const bent = new Matrix(this.height, this.width, [this]);
    for (let at = 0; at < bent.numbers.length; at++) bent.numbers[at] = Math.max(0, this.numbers[at]);
    bent.passBack = () => {
      for (let at = 0; at < bent.numbers.length; at++) if (this.numbers[at] > 0) this.gradient[at] += bent.gradient[at];
    };
    return bent;
  }

  /** Return the softmax of each row over what the mask lets it see, and zero elsewhere. @param {Mask} mask */
  softmaxOfRows(mask) {
    const m = this.width;
    const weights = new Matrix(this.height, m, [this]);
    for (let i = 0; i < this.height; i++) {
      const row = weights.row(i);
      for (let j = 0; j < m; j++) row[j] = mask(i, j) ? this.numbers[i * m + j] : -Infinity;
      const highest = Math.max(...row); // taken off, or a power might be too large for a number
      for (let j = 0; j < m; j++) row[j] = Math.exp(row[j] - highest);
      const sum = sumOf(row);
      for (let j = 0; j < m; j++) row[j] /= sum;
    }
    weights.passBack = () => {
      for (let start = 0; start < weights.numbers.length; start += m) {
        // A score that rises takes weight from its whole row, so a slope counts by its distance from the row's mean.
        const mean = dot(weights.numbers, start, weights.gradient, start, m);
        for (let at = start; at < start + m; at++) this.gradient[at] += weights.numbers[at] * (weights.gradient[at] - mean);
      }
    };
    return weights;
  }

  /** Return this with mean 0 and variance 1 in each row: layer norm without its gain and bias. */
  normalized() {
    const m = this.width;
    const normed = new Matrix(this.height, m, [this]);
    const deviations = new Float64Array(this.height);
    for (let i = 0; i < this.height; i++) {
      const row = normed.row(i);
      const mean = sumOf(this.row(i)) / m;
      for (let j = 0; j < m; j++) row[j] = this.numbers[i * m + j] - mean;
      deviations[i] = Math.sqrt(dot(row, 0, row, 0, m) / m + 1e-5);
      for (let j = 0; j < m; j++) row[j] /= deviations[i];
    }
    normed.passBack = () => {
      for (let i = 0; i < this.height; i++) {
        // To shift or to stretch the whole row of the input changes nothing, so both parts are taken out of the slopes.
        const [row, slopes] = [normed.row(i), normed.gradient.subarray(i * m, (i + 1) * m)];
        const [shift, stretch] = [sumOf(slopes) / m, dot(slopes, 0, row, 0, m) / m];
        for (let j = 0; j < m; j++) this.gradient[i * m + j] += (slopes[j] - shift - stretch * row[j]) / deviations[i];
      }
    };
    return normed;
  }

  // -- The two ends of a model ---------------------------------------------------------------------------------------

  /** Return the row of each id: as embeddings are looked up. @param {number[]} ids */
  rowsOf(ids) {
    const found = new Matrix(ids.length, this.width, [this]);
    ids.forEach((id, i) => found.row(i).set(this.row(id)));
    found.passBack = () => ids.forEach((id, i) => addTimes(this.gradient, id * this.width, 1, found.gradient, i * this.width, this.width));
    return found;
  }

  /** Return the mean surprise at the right id of each row of scores, the cross-entropy: (n, m) -> (1, 1). @param {number[]} ids */
  crossEntropy(ids) {
    const probabilities = this.softmaxOfRows(() => true);
    const loss = new Matrix(1, 1, [this]);
    loss.numbers[0] = sumOf(ids.map((id, i) => -Math.log(probabilities.row(i)[id]))) / ids.length;
    loss.passBack = () => {
      // Softmax and logarithm together have the simplest of all slopes: the probability, less 1 at the right id.
      const share = loss.gradient[0] / ids.length;
      addTimes(this.gradient, 0, share, probabilities.numbers, 0, this.numbers.length);
      ids.forEach((id, i) => (this.gradient[i * this.width + id] -= share));
    };
    return loss;
  }
}

/** Compute the gradients of all that a loss was computed from. @param {Matrix} loss (1, 1) */
export function backward(loss) {
  loss.gradient[0] = 1;
  // A matrix may pass back only when its own gradient is complete: after all that used it.
  for (const matrix of inOrder(loss).reverse()) matrix.passBack();
}

/** Return a matrix and all that it was computed from, each one after its inputs. @param {Matrix} last */
function inOrder(last) {
  /** @type {Set<Matrix>} */
  const seen = new Set();
  /** @type {Matrix[]} */
  const order = [];
  const visit = (/** @type {Matrix} */ matrix) => {
    if (seen.has(matrix)) return;
    seen.add(matrix);
    matrix.inputs.forEach(visit);
    order.push(matrix);
  };
  visit(last);
  return order;
}

/** Return the dot product of n numbers of each of two arrays, from some place on. @param {Float64Array} one @param {number} i @param {Float64Array} other @param {number} j @param {number} n */
function dot(one, i, other, j, n) {
  let sum = 0;
  for (let k = 0; k < n; k++) sum += one[i + k] * other[j + k];
  return sum;
}

/** Add a multiple of n numbers to n others. @param {Float64Array} to @param {number} i @param {number} factor @param {Float64Array} from @param {number} j @param {number} n */
function addTimes(to, i, factor, from, j, n) {
  if (factor === 0) return; // as everywhere behind a mask
  for (let k = 0; k < n; k++) to[i + k] += factor * from[j + k];
}

/** Return the sum of numbers. @param {ArrayLike<number>} numbers */
function sumOf(numbers) {
  let sum = 0;
  for (let k = 0; k < numbers.length; k++) sum += numbers[k];
  return sum;
}
