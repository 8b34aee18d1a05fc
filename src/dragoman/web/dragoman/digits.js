// Digits of any script.

/** Return the digits of a text, of any script, as those of ASCII. @param {string} text */
export function ascii(text) {
  return (text.match(/\p{Nd}/gu) ?? []).map(digitOf).join("");
}

/** Digits of a script come in rows of ten. @param {string} digit */
function digitOf(digit) {
  const code = /** @type {number} */ (digit.codePointAt(0));
  if (code < 128) return digit;
  let zero = code;
  while (code - zero < 9 && /\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero--;
  return String(code - zero);
}
