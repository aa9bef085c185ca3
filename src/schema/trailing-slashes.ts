/** Removes all slashes at the end of an address or a path. An expression for it would take quadratic time. */
export const withoutTrailingSlashes = (text: string): string => {
  let end = text.length;
  while (text[end - 1] === '/') end -= 1;
  return text.slice(0, end);
};
