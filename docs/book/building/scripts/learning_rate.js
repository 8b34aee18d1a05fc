// The learning rate of `transformer.py`: up in a straight line, then down along a cosine.

/** Return the rate of a step. @param {number} step @param {number} steps @param {number} highest @param {number} warmup */
export function cosineRate(step, steps, highest, warmup) {
  if (step < warmup) return (highest * step) / warmup;
  return (highest * (1 + Math.cos((Math.PI * (step - warmup)) / (steps - warmup)))) / 2;
}
