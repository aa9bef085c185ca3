/** Parses a text. Undefined for text that is not JSON: the error of `JSON.parse` would quote it. */
export const jsonOrUndefined = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
