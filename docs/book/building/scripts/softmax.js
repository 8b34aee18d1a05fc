// The softmax of a row of scores, of which some may be hidden.

/** Return the weights of a row: softmax of the scores that are seen, zero elsewhere. @param {number[]} scores @param {boolean[]} [seen] all, unless told */
export function softmax(scores, seen) {
  const highest = Math.max(...scores);
  const powers = scores.map((score, i) => (!seen || seen[i] ? Math.exp(score - highest) : 0));
  const sum = powers.reduce((one, other) => one + other, 0);
  return powers.map((power) => (sum ? power / sum : 0));
}
