import { highlighted } from './match.ts';

/** A text with the matches of the search highlighted. */
export const Marked = ({ text, tokens }: { text: string; tokens: readonly string[] }) => {
  let at = 0;
  return highlighted(text, tokens).map((part) => {
    at += part.text.length;
    return part.hit ? <mark key={at}>{part.text}</mark> : <span key={at}>{part.text}</span>;
  });
};
