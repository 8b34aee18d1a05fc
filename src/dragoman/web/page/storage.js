// What the page keeps in this browser, for itself alone. A browser may refuse to keep anything.

const OWNER = `dragoman ${location.pathname} `;

/** Return what was kept; null if nothing was, or if the browser keeps nothing. @param {string} name */
export function kept(name) {
  try {
    return localStorage.getItem(OWNER + name);
  } catch {
    return null;
  }
}

/** Keep a text; null forgets it. Return true if the browser did. @param {string} name @param {string | null} value */
export function keep(name, value) {
  try {
    if (value === null) localStorage.removeItem(OWNER + name);
    else localStorage.setItem(OWNER + name, value);
    return true;
  } catch {
    return false;
  }
}
