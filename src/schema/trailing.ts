/**
 * The text without these characters at its end. An expression such as `/[/]+$/` costs the square of a run of them
 * that stands elsewhere.
 *
 * @example withoutTrailing('https://host/', '/') // 'https://host'
 */
export function withoutTrailing(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}
