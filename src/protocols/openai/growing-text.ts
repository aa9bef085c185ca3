/**
 * A text that grows by short parts. `+=` would keep one node of 32 bytes for each part until something reads the text;
 * here, parts are joined in groups. Cost: one element of an array for each part.
 */
export type GrowingText = { readonly joined: string[]; parts: string[] };

const PARTS = 64;

export const growingText = (first: string): GrowingText => ({ joined: [], parts: [first] });

export const grow = (text: GrowingText, part: string): void => {
  if (text.parts.push(part) < PARTS) return;
  text.joined.push(text.parts.join(''));
  text.parts = [];
};

export const grownText = ({ joined, parts }: GrowingText): string => joined.join('') + parts.join('');
